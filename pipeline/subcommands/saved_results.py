"""What the subcommands about saved totals have in common: flags, files, output, exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence

from beam_bleu.pipeline.command_line.log_flags import LogFlags, logs
from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.command_line.parser import add_flags, parser_of, with_underscores
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
) -> int:
    """Runs a subcommand; returns the exit code."""
    parser = parser_of(name, description)
    for title, flags in groups.items():
        add_flags(parser.add_argument_group(title), flags)
    group = parser.add_argument_group("messages and help")
    add_flags(group, flags_of(LogFlags))
    group.add_argument("-h", "--help", action="help", help="show this help")
    words = with_underscores(argv)
    shown = logs(words)
    try:
        return reported(
            lambda: write_to_stdout(work(parser.parse_args(words))),
            shown.verbose,
            shown.quiet,
            log_format=shown.log_format,
        )
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
        # Importing Beam takes as long as merging a year of files.
        from beam_bleu.pipeline.saved.writing import write_result

        write_result(saved, scores, output, read)
    return display.shown(scores, result)
