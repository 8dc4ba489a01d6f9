"""The subcommand `beam-bleu merge`: adds up saved totals."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import parser_of
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.output.result_files import is_local
from beam_bleu.pipeline.saved.dates import missing_dates
from beam_bleu.pipeline.saved.merging import merged
from beam_bleu.pipeline.saved.partitions import files_in_several, texts_in_several
from beam_bleu.pipeline.saved.saved_totals import naming_wrong_sums
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.pipeline.subcommands.saved_results import (
    add_result_flags,
    display_of,
    finish,
    run,
)
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.shown_names import natural_order

_DESCRIPTION = (
    "Adds up the totals that runs with --save_totals have written. The result is that of one run "
    "over all of their inputs, to the last byte. No text is read."
)


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    parser = parser_of("merge", _DESCRIPTION)
    files = parser.add_argument_group("input")
    files.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a totals.json, a folder with one, or a pattern of such paths",
    )
    files.add_argument(
        "--replace",
        action="store_true",
        help="if several files are of the same partition, the last one counts",
    )
    files.add_argument(
        "--force",
        action="store_true",
        help="add up candidates of one system even if their files have different names, as those "
        "of two models do",
    )
    add_result_flags(parser)
    return run(parser, argv, _merge)


def _merge(flags: argparse.Namespace) -> bytes:
    shown = display_of(flags)
    paths = [path for word in flags.files for path in _paths(word)]
    files = [(path, read_totals(path)) for path in paths]
    with naming_wrong_sums(files):
        totals = merged(files, replace=flags.replace, force=flags.force)
    labels = [partition.label for partition in totals.partitions if partition.label is not None]
    for warning in (
        *texts_in_several(totals.partitions),
        *files_in_several(totals.partitions),
        *missing_dates(labels),
    ):
        warn(warning)
    if totals.evidence.documents is not None and len(totals.partitions) > 1:
        # The totals do not have the names of documents, so it is not known whether there are any.
        warn("documents with the same name in several partitions count as different documents")
    return finish(totals, shown, flags.output, files)


def _paths(word: str) -> Sequence[str]:
    """The paths that a word names, in natural order if it is a pattern of files on this machine.

    Raises:
      InputError: nothing matches the pattern.
    """
    has_wildcards = glob.escape(word) != word
    if not has_wildcards or not is_local(word) or os.path.exists(word):
        return [word]
    paths = natural_order(glob.glob(word, recursive=True))
    if not paths:
        raise InputError(f"nothing matches {word}", "check the path")
    return paths
