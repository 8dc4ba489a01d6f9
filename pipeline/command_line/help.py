"""The text of --help, and the short one that a command line without words gets.

Both fit 80 columns. This file does not import Beam, so that the short one appears at once.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Iterable

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from beam_bleu.pipeline.errors.exit_codes import EXIT_CODES

_WIDTH = 80
_FLAGS_WIDTH = 26
"""Where the descriptions of flags begin."""

_EXAMPLES = (
    ("score two systems, as with sacrebleu", "beam-bleu ref.txt -i base.txt tuned.txt"),
    (
        "score each file of a folder with two references, lower-cased",
        "beam-bleu refs/a.txt refs/b.txt -i 'outputs/*.txt' -lc",
    ),
    (
        "score records that have candidates and references",
        "beam-bleu --input out.jsonl --candidate_columns mt --reference_columns ref",
    ),
    (
        "compare each system with each other one",
        "beam-bleu ref.txt -i 'outputs/*.txt' --compare all",
    ),
    (
        "keep the sums of a day, and add up those of all days",
        "beam-bleu ref.txt -i tuned.txt --output days/21 --partition 21 --save_totals\n"
        "  beam-bleu merge days/*/totals.json",
    ),
    (
        "exit with code 4 if a score is below 30, and score nothing",
        "beam-bleu gate days/21 --fail_under 30",
    ),
    (
        "score a system of many files on a cluster, and write scores.json",
        "beam-bleu --references 's3://corpus/ref/*.gz' \\\n"
        "            --candidates 'tuned=s3://corpus/tuned/*.gz' \\\n"
        "            --output s3://corpus/scores \\\n"
        "            --runner FlinkRunner --flink_master host:8081",
    ),
)

_SYNOPSIS = (
    "beam-bleu REF... -i [NAME=]FILE... [flags] [Beam's flags]",
    "beam-bleu --input PATTERN [flags] [Beam's flags]",
)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of at most 80 columns; a flag's value is named once, after all of its spellings.

    A long word, such as a URL, stays whole so that it can be copied. Only its line is wider.
    """

    def __init__(self, prog: str) -> None:
        width = min(shutil.get_terminal_size((_WIDTH, 24)).columns, _WIDTH)
        super().__init__(prog, max_help_position=_FLAGS_WIDTH, width=width - 1)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(
            " ".join(text.split()), width, break_long_words=False, break_on_hyphens=False
        )

    def _format_action_invocation(self, action: argparse.Action) -> str:
        more = " ..." if action.nargs in ("+", "*") else ""
        if not action.option_strings:
            return f"{action.metavar}{more}"
        value = "" if action.nargs == 0 else f" {action.metavar}"
        return ", ".join(action.option_strings) + value + more


def usage() -> str:
    """The usage lines of --help."""
    return "\n       ".join([*_SYNOPSIS, *(usage_of(name) for name in SUBCOMMANDS)])


def usage_of(subcommand: str) -> str:
    """The usage line of a subcommand."""
    return f"beam-bleu {subcommand} {SUBCOMMANDS[subcommand].words}"


def short_usage() -> str:
    """What a command line without words gets."""
    return f"usage: {usage()}\n\n{_examples(3)}\n\n--help shows all flags."


def epilog() -> str:
    """The end of --help."""
    commands = _rows((f"beam-bleu {name}", row.summary) for name, row in SUBCOMMANDS.items())
    codes = _rows((", ".join(map(str, row.codes)), row.meaning) for row in EXIT_CODES)
    more = textwrap.fill(
        "All other flags are Apache Beam's: see --help_beam. Put flags that only an engine knows "
        "after --. In flags, hyphens and underscores mean the same.",
        _WIDTH - 1,
    )
    return (
        f"other commands:\n{commands}\n\n{_examples(len(_EXAMPLES))}\n\n"
        f"exit codes:\n{codes}\n\n{more}"
    )


def _examples(count: int) -> str:
    shown = (f"  # {what}\n  {command}" for what, command in _EXAMPLES[:count])
    return "examples:\n" + "\n".join(shown)


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    listed = list(rows)
    width = max(len(name) for name, _ in listed)
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in listed)
