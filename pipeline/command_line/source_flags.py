"""The flags for the input, and the source that is made from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.keep_flag import keep, kept_streams
from beam_bleu.pipeline.command_line.parser import SEE_HELP, positive, shown_only, unknown_value
from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.command_line.record_sources import has_records, record_source
from beam_bleu.pipeline.command_line.sacrebleu_flags import add_encoding_flag
from beam_bleu.pipeline.command_line.slice_flags import label_streams, needed_labels, path_labels
from beam_bleu.pipeline.command_line.systems import check_names, references, systems
from beam_bleu.pipeline.command_line.temporary_files import NAME_SYSTEMS, check_pipes
from beam_bleu.transforms.definition.allowed import ALLOWED, AllowedName
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.lines.correspondence import CUTS, Expected
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES
from beam_bleu.transforms.pairing.lines.ranges import SMALL_RANGE, SMALLEST_RANGE, USUAL_RANGE
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.pairing.paired import Source

_LARGEST_RANGE = 1 << 40
_LONGEST_LINE = 1 << 30
"""The texts of one segment may have twice as many bytes in all."""

_GIVE_THEM = "give the flag one or more times, or write: beam-bleu REF... -i FILE..."


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
        default=1,
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
        default="same",
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
        type=positive,
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
        type=positive,
        metavar="N",
        help=f"how many bytes are read at a time; default {SMALL_RANGE} to {USUAL_RANGE}, "
        "more above 4 TB",
    )


def source(flags: argparse.Namespace, anywhere: bool, needs: Needs = TEXTS) -> Source:
    """The source for a command line.

    Args:
      flags: the parsed flags.
      anywhere: whether the job may run in another folder than this process.
      needs: what the metrics need of the input.

    Raises:
      UsageError: a flag is missing, a value is impossible, a system cannot have its name, or the
        input has no numbers.
      InputError: a pattern of -i matches nothing.
    """
    records = has_records(flags)
    if flags.input is None:
        _check_spelling(flags, needs_references="references" in needs.roles or not records)
    _check_limits(flags)
    if records:
        return record_source(flags, anywhere, needed_labels(flags), needs)
    if needs.values:
        raise UsageError(
            f"--metrics {' '.join(flags.metrics)} needs the column {needs.values[0].column}, and "
            "line-parallel text has no columns",
            "name records that have it: --input PATTERN",
        )
    return _line_parallel(flags, anywhere)


def _check_limits(flags: argparse.Namespace) -> None:
    """Checks the numbers of bytes.

    Raises:
      UsageError: a number is too small or too large.
    """
    range_bytes: int | None = flags.range_bytes
    if range_bytes is not None and not SMALLEST_RANGE <= range_bytes <= _LARGEST_RANGE:
        raise UsageError(
            f"--range_bytes must be {SMALLEST_RANGE} to {_LARGEST_RANGE}, got {range_bytes}",
            SEE_HELP,
        )
    if flags.max_line_bytes > _LONGEST_LINE:
        raise UsageError(
            f"--max_line_bytes must be 1 to {_LONGEST_LINE}, got {flags.max_line_bytes}", SEE_HELP
        )


def _line_parallel(flags: argparse.Namespace, anywhere: bool) -> LineParallel:
    """The source of line-parallel text."""
    of_references = references(flags)
    kept = keep(flags)
    labels = kept_streams(label_streams(flags, anywhere), kept, needed_labels(flags))
    of_labels = [(label.stream.label, label.stream.pattern) for label in labels]
    flag_of_systems, named = systems(flags, [*of_references, *of_labels])
    candidates = [(f"candidates {name}", pattern) for name, pattern in named]
    if anywhere and stdin_by_default(flags):
        raise UsageError(
            "no system is named, and the workers of an engine cannot read stdin", NAME_SYSTEMS
        )
    check_pipes([*of_references, *candidates, *of_labels], anywhere)
    check_names(named, flag_of_systems)  # after the pipes: stdin, given twice, has one name
    return LineParallel(
        tuple(name for name, _ in named),
        _streams(flag_of_systems, candidates, anywhere),
        _streams("--references" if flags.references else "REF", of_references, anywhere),
        flags.range_bytes,
        Expected(flags.cuts, flags.expect_segments, flags.max_line_bytes),
        flags.num_refs,
        labels,
        flags.on_bad_record,
        path_labels(flags, [name for label in labels for name in label.names]),
        kept.columns,
        kept.texts,
    )


def stdin_by_default(flags: argparse.Namespace) -> bool:
    """Whether a command line names no system, so that stdin is the system."""
    return not flags.systems and not flags.candidates and flags.input is None


def _streams(flag: str, named: Sequence[tuple[str, str]], anywhere: bool) -> tuple[Stream, ...]:
    """The streams of a flag, from their labels and patterns."""
    return tuple(Stream(label, checked_path(flag, pattern, anywhere)) for label, pattern in named)


def _check_spelling(flags: argparse.Namespace, *, needs_references: bool) -> None:
    """Checks that the texts are named in one of the two spellings.

    Words without a flag can come from a pattern that lacks its quotes, so they are references
    only where nothing else names references, and where --candidates is not used.
    """
    if flags.candidates and flags.systems:
        raise UsageError("-i and --candidates are given, and both name systems", "use one of them")
    if flags.refs and (flags.candidates or flags.references):
        other = "--references" if flags.references else "--candidates"
        raise UsageError(
            f"unexpected argument {flags.refs[0]!r}: with {other}, it cannot be a reference",
            "name files with --candidates and --references, and put patterns in quotes; "
            "or write: beam-bleu REF... -i FILE...",
        )
    if not flags.refs and not flags.references and needs_references:
        if flags.systems:
            raise UsageError(
                "the references are missing", "name them before -i: beam-bleu REF... -i FILE..."
            )
        missing = "references" if flags.candidates else "candidates"
        raise UsageError(f"--{missing} is missing", _GIVE_THEM)
    if flags.references and not (flags.candidates or flags.systems):
        raise UsageError("--candidates is missing", _GIVE_THEM)
