"""The flags for the input: the texts, and what must be true of them."""

from __future__ import annotations

import argparse

from beam_bleu.pipeline.command_line.parser import (
    positive,
    shown_only,
    unknown_value,
    whole_number,
)
from beam_bleu.pipeline.command_line.sacrebleu_flags import add_encoding_flag
from beam_bleu.transforms.definition.allowed import ALLOWED, AllowedName
from beam_bleu.transforms.pairing.lines.correspondence import CUTS
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES
from beam_bleu.transforms.pairing.lines.ranges import SMALL_RANGE, SMALLEST_RANGE, USUAL_RANGE

_LARGEST_RANGE = 1 << 40
_LONGEST_LINE = 1 << 30
"""The texts of one segment may have twice as many bytes in all."""


def add_text_flags(parser: argparse._ArgumentGroup) -> None:
    """The flags that name the texts, and the references as words."""
    add = parser.add_argument
    shown_only(  # they are what is left of the words
        parser,
        "refs",
        nargs="*",
        metavar="REF",
        help="a file with a reference for each segment, one per line, or a pattern of such files "
        "in quotes; more words are more references",
    )
    add(
        "-i",
        dest="systems",
        action="extend",
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="the output of a system, one segment per line; more words are more systems. A pattern "
        "in quotes makes each of its files a system; with NAME= all its files are one system. "
        "Without -i, the system is stdin",
    )
    add(
        "--candidates",
        action="append",
        default=[],
        metavar="[NAME=]PATTERN",
        help="the output of a system, one segment per line; repeat the flag for more systems",
    )
    add(
        "--references",
        action="append",
        default=[],
        metavar="PATTERN",
        help="a reference for each segment, one per line; repeat the flag for more references",
    )
    add(
        "-nr",
        "--num_refs",
        type=positive,
        metavar="N",
        help="each line of references has N references, with tabs between them; "
        "default 1: tabs are text",
    )
    add_encoding_flag(parser)


def add_checking_flags(parser: argparse._ActionsContainer) -> None:
    """The flags that say what must be true of the texts."""
    add = parser.add_argument
    add(
        "--cuts",
        choices=CUTS,
        metavar="RULE",
        help="same (default): streams of several shards must have the same shards, with the same "
        "numbers of lines; any: only the total numbers of lines are compared",
    )
    add(
        "--expect_segments",
        type=positive,
        metavar="N",
        help="fail unless the corpus has exactly N segments",
    )
    add(
        "--max_line_bytes",
        type=whole_number(1, _LONGEST_LINE),
        default=MAX_LINE_BYTES,
        metavar="N",
        help=f"fail if a line has more than N bytes; default {MAX_LINE_BYTES}",
    )
    kinds = "; ".join(f"{name}: {description}" for name, description in ALLOWED.items())
    add(
        "--allow",
        action="extend",
        type=_allowed,
        default=[],
        metavar="KIND,...",
        help="what is meant, although it is probably a mistake: what would end the run is a "
        f"warning. {kinds}",
    )


def _allowed(text: str) -> list[AllowedName]:
    """The type of --allow.

    Raises:
      UsageError: a kind is unknown.
    """
    by_name = {str(name): name for name in ALLOWED}
    for name in text.split(","):
        if name not in by_name:
            raise unknown_value("--allow", name, by_name)
    return [by_name[name] for name in text.split(",")]


def add_reading_flags(parser: argparse._ActionsContainer) -> None:
    """The flags that say how texts are read."""
    parser.add_argument(
        "--range_bytes",
        type=whole_number(SMALLEST_RANGE, _LARGEST_RANGE),
        metavar="N",
        help=f"how many bytes are read at a time; default {SMALL_RANGE} to {USUAL_RANGE}, "
        "more above 4 TB",
    )
