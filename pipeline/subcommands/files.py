"""The subcommand `beam-bleu files`: it lists the files of patterns, on any filesystem.

Scripts ask it whether a file is there, and which files a folder has, on this machine and on object
stores alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.subcommands.saved_results import run
from beam_bleu.transforms.definition.flags import Flag
from beam_bleu.transforms.pairing.files.listing import local_files
from beam_bleu.transforms.pairing.files.shards import in_order, require_files
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.wiring.filesystems import is_local

_DESCRIPTION = (
    "Prints the path of each file that the patterns match, a line each, in the order in which "
    "beam-bleu reads shards. The exit code is 3 if a pattern matches nothing. Paths are those of "
    "this machine, or of any filesystem that beam-bleu can read."
)


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    shown = "a path, or a pattern with *, ? and [...], in quotation marks"
    patterns = Flag("patterns", shown, "PATTERN", nargs="+")
    return run("files", _DESCRIPTION, {"input": [patterns]}, argv, _files)


def _files(flags: argparse.Namespace) -> bytes:
    paths = [f"{path}\n" for pattern in flags.patterns for path in _matched(pattern)]
    return "".join(paths).encode("utf-8", "surrogateescape")


def _matched(pattern: str) -> list[str]:
    stream = Stream("files", pattern.removeprefix("file://"))
    if is_local(stream.pattern):
        found = local_files(stream.label, stream.pattern)
    else:
        from beam_bleu.transforms.pairing.files.found_files import find_files

        checked_path(stream.label, stream.pattern, False)
        found = find_files(stream)
    require_files(stream, found)
    return in_order([file.path for file in found])
