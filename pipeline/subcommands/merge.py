"""The subcommand `beam-bleu merge`: adds up saved totals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.history.nights import results_at
from beam_bleu.pipeline.output.file_names import TOTALS
from beam_bleu.pipeline.result.saved_result import exists, is_folder, named
from beam_bleu.pipeline.saved.dates import missing_dates
from beam_bleu.pipeline.saved.saved_totals import last_of_each_partition, merged
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.pipeline.subcommands.saved_results import RESULT_FLAGS, finish, run
from beam_bleu.transforms.definition.flags import Flag, filled

_DESCRIPTION = (
    "Adds up the totals that runs with --save_totals have written. The result is that of one run "
    "over all of their inputs, to the last byte. No text is read."
)


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    files = Flag(
        "files",
        "a totals.json, a folder with one, a folder that contains such folders, or a pattern of "
        "such paths in quotes; on this machine or in an object store",
        "FILE",
        nargs="+",
    )
    shown = "if several files are of the same partition, the last one counts"
    replace = Flag("replace", shown, words=("--replace",), default=False)
    shown = "accepted for scripts that have it; it changes nothing"
    force = Flag("force", shown, words=("--force",), default=False)
    groups = {"input": [files, replace, force], "output": RESULT_FLAGS}
    return run("merge", _DESCRIPTION, groups, argv, _merge)


def _merge(flags: argparse.Namespace) -> bytes:
    shown = filled(DisplayFlags, vars(flags))
    paths = []
    for path in (path for word in flags.files for path in named(word)):
        has_own = not is_folder(path) or exists(f"{path.rstrip('/')}/{TOTALS}")
        paths += [path] if has_own else results_at(path)
    files = [(path, read_totals(path)) for path in paths]
    if flags.replace:
        files = last_of_each_partition(files)
    totals, repeated = merged(files)
    labels = [partition.label for partition in totals.partitions if partition.label is not None]
    for warning in (*repeated, *missing_dates(labels)):
        warn(warning)
    if totals.evidence.documents is not None and len(totals.partitions) > 1:
        # The totals do not have the names of documents, so it is not known whether there are any.
        warn("documents with the same name in several partitions count as different documents")
    return finish(totals, shown, flags.output, [path for path, _ in files])
