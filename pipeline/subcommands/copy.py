"""The subcommand `beam-bleu copy`: it copies one file, between any filesystems.

Scripts publish results with it, on this machine and on object stores alike: readers see the former
file or the whole new one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from beam_bleu.pipeline.result.saved_result import read
from beam_bleu.pipeline.subcommands.saved_results import run
from beam_bleu.transforms.definition.flags import Flag
from beam_bleu.transforms.errors import InputError, UsageError

_DESCRIPTION = (
    "Copies a file, such as a scores.json or a metrics.prom. It replaces an existing file in one "
    "step, so that readers never see half of the new one. Paths are those of this machine, or of "
    "any filesystem that beam-bleu can read and write."
)

_STREAM = "-"
"""The word for stdin and stdout."""


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    files = [
        Flag("source", "the file; - for stdin", "FILE"),
        Flag("target", "where to write it; - for stdout", "TO"),
    ]
    return run("copy", _DESCRIPTION, {"files": files}, argv, _copy)


def _copy(flags: argparse.Namespace) -> bytes:
    # This loads Beam, so stderr must be set up before.
    from beam_bleu.pipeline.command_line.paths import checked_path
    from beam_bleu.pipeline.output import storage
    from beam_bleu.transforms.wiring.filesystems import is_local

    source, target = (
        word if word == _STREAM else checked_path("copy", word, False)
        for word in (flags.source, flags.target)
    )
    if target.endswith("/") or (is_local(target) and os.path.isdir(target)):
        raise UsageError(f"{target} is a folder", "name the new file")
    if source == _STREAM and sys.stdin is None:
        raise InputError("stdin is closed", "name a file, or redirect stdin")
    data = sys.stdin.buffer.read() if source == _STREAM else read(source)
    if target == _STREAM:
        return data
    storage.write_atomically(target, data)
    return b""
