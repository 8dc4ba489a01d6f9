"""What subcommands have in common: flags, output, exit codes."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from beam_bleu.pipeline.command_line.help import Formatter, usage_of
from beam_bleu.pipeline.command_line.log_flags import LogFlags, logs
from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.command_line.parser import Parser, add_flags, with_underscores
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.pipeline.errors.reporting import reported, warn
from beam_bleu.pipeline.result.document import document_bytes, document_of
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.definition.flags import Flag, flags_of

RESULT_FLAGS = (
    *flags_of(DisplayFlags),
    Flag(
        "output",
        "the folder in which scores.json, totals.json and manifest.json are written",
        "DIR",
        ("--output",),
    ),
)
"""The flags that say where the result goes, of subcommands that make one."""

NEW_TEXTS = Flag(
    "new_texts",
    "the results have segments of their own, even if their --partition does not say so",
    words=("--new_texts",),
    default=False,
)


def run(
    name: str,
    description: str,
    groups: Mapping[str, Iterable[Flag]],
    argv: Sequence[str],
    work: Callable[[argparse.Namespace], bytes],
    *,
    takes_others: bool = False,
) -> int:
    """Runs a subcommand; returns the exit code.

    Args:
      name: the subcommand.
      description: what it does.
      groups: its own flags, by the titles of their groups in its help.
      argv: the words after its name.
      work: does the work; returns what stdout shows.
      takes_others: whether other flags are no error, but left to `work` as `others`.
    """
    parser = Parser(
        f"see beam-bleu {name} --help. To score a file that is called {name}, write ./{name}",
        prog=f"beam-bleu {name}",
        usage=usage_of(name),
        description=textwrap.fill(description, 79),
        formatter_class=Formatter,
        add_help=False,
    )
    for title, flags in groups.items():
        add_flags(parser.add_argument_group(title), flags)
    group = parser.add_argument_group("messages and help")
    add_flags(group, flags_of(LogFlags))
    group.add_argument("-h", "--help", action="help", help="show this help")
    words = argv if takes_others else with_underscores(argv)
    shown = logs(words)

    def shows() -> None:
        flags = argparse.Namespace()
        if takes_others:
            flags, flags.others = parser.parse_known_args(words, flags)
        else:
            parser.parse_args(words, flags)
        write_to_stdout(work(flags))

    try:
        return reported(shows, shown.verbose, shown.quiet, log_format=shown.log_format)
    except SystemExit:  # --help
        return 0


def finish(
    saved: SavedTotals, display: DisplayFlags, output: str | None, read: Sequence[str]
) -> bytes:
    """Writes a result of files that were read, if a folder is named; returns what stdout shows."""
    result = saved.result
    for warning in result.all_warnings:
        warn(warning)
    scores = document_bytes(document_of(result))
    if output is not None:
        from beam_bleu.pipeline.saved.totals_file import write_result

        write_result(saved, scores, output, read)
    return display.shown(scores, result)
