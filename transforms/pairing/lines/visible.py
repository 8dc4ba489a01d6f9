"""Checks that the input is there, before a job on an engine reads it.

On the launcher, only what this process sees to be wrong is an error. The workers may run on other
machines and as another user. So they may see folders, and may read files, that this process cannot.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from beam_bleu.transforms.errors import BleuError, InputError
from beam_bleu.transforms.pairing.files.chunks import opened
from beam_bleu.transforms.pairing.files.found_files import find_files, open_anywhere
from beam_bleu.transforms.pairing.files.shards import require_files
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream, before_wildcard
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.wiring.filesystems import is_local

__all__ = ["check_readable", "check_visible"]


def check_visible(streams: Sequence[Stream]) -> None:
    """Checks the files that this process sees. It does not open them."""
    # Names of shards are not compared, because that takes seconds if there are many.
    for stream in streams:
        files = _visible(stream)
        if files is None:
            continue
        require_files(stream, files)
        if not any(file.size for file in files):
            raise InputError(
                f"{stream.label} have 0 lines: {stream.pattern}",
                "check that the files were written",
            )


def _visible(stream: Stream) -> list[FoundFile] | None:
    """The files of a stream as this process sees them; None if it does not see them."""
    if table_kind(stream.pattern) is not None:
        return None  # the workers read its log once
    here = is_local(stream.pattern)
    if here and not os.path.isdir(os.path.dirname(before_wildcard(stream.pattern)) or "."):
        return None
    try:
        files = find_files(stream, enough=1)
    except BleuError as error:
        if here and not isinstance(error.__cause__, OSError):
            raise
        return None
    return files if here or not files else None


def check_readable(streams: Sequence[Stream]) -> None:
    """Checks on a worker that it can read the first byte of each stream."""
    for stream in streams:
        if table_kind(stream.pattern) is not None:
            continue  # a table's log is read once, by one worker
        files = find_files(stream, enough=1)
        require_files(stream, files)
        first = min(files, key=lambda file: file.path)
        with opened(stream, first, open_anywhere) as file:
            file.read(1)
