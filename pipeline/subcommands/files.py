"""`beam-bleu files` lists and `beam-bleu copy` copies files of any filesystem, for scripts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from beam_bleu.pipeline.folder.paths import checked_path
from beam_bleu.pipeline.saved.saved_result import read
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.pairing.files.listing import local_files
from beam_bleu.transforms.pairing.files.streams import Stream, in_order, require_files
from beam_bleu.transforms.wiring.filesystems import is_local


def files_command(argv: Sequence[str]) -> int:
    description = (
        "Prints the path of each file that the patterns match, one on each line, in the order in "
        "which beam-bleu reads shards. The exit code is 3 if a pattern matches nothing. Paths can "
        "be of this machine, or of any filesystem that beam-bleu can read."
    )
    shown = "a path, or a pattern with *, ? and [...], in quotation marks"
    patterns = Flag("patterns", shown, "PATTERN", nargs="+")
    return run("files", description, {"input": [patterns]}, argv, _files)


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


def copy_command(argv: Sequence[str]) -> int:
    description = (
        "Copies a file, such as a scores.json or a metrics.prom. It replaces an existing file in "
        "one step, so that readers never see half of the new one. Paths can be of this machine, "
        "or of any filesystem that beam-bleu can read and write."
    )
    files = [
        Flag("source", "the file; - for stdin", "FILE"),
        Flag("target", "where to write it; - for stdout", "TO"),
    ]
    return run("copy", description, {"files": files}, argv, _copy)


def _copy(flags: argparse.Namespace) -> bytes:
    from beam_bleu.pipeline.folder import storage  # it loads Beam, so stderr must be set up before

    source, target = (
        word if word == "-" else checked_path("copy", word, False)
        for word in (flags.source, flags.target)
    )
    if target.endswith("/") or (is_local(target) and os.path.isdir(target)):
        raise UsageError(f"{target} is a folder", "name the new file")
    if source == "-" and sys.stdin is None:
        raise InputError("stdin is closed", "name a file, or redirect stdin")
    data = sys.stdin.buffer.read() if source == "-" else read(source)
    if target == "-":
        return data
    storage.write_atomically(target, data)
    return b""
