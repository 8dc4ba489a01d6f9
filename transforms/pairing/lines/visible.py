"""Checks that the input is there, before a job on an engine reads it.

On the launcher, only what this process sees to be wrong is an error. The workers may run on other
machines and as another user. So they may see folders, and may read files, that this process cannot.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from beam_bleu.transforms.errors import BleuError, InputError, unreadable
from beam_bleu.transforms.pairing.files.found_files import find_files, open_anywhere
from beam_bleu.transforms.pairing.files.listing import local_files
from beam_bleu.transforms.pairing.files.shards import require_files
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream, before_wildcard
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.lines.correspondence import require_equal_line_counts
from beam_bleu.transforms.wiring.filesystems import is_local

__all__ = ["check_readable", "check_visible"]


def check_visible(streams: Sequence[Stream]) -> None:
    """Checks the files that this process sees. It does not open them.

    Raises:
      BleuError: the error that the workers would raise for these files.
    """
    # Names of shards are not compared, because that takes seconds if there are many.
    listed = [(stream, _visible(stream)) for stream in streams]
    for stream, files in listed:
        if files is not None:
            require_files(stream, files)
    empty = [
        stream
        for stream, files in listed
        if files is not None and not any(file.size for file in files)
    ]
    if len(empty) == len(listed):
        require_equal_line_counts(streams, [0] * len(listed))
    for stream in empty:
        raise InputError(
            f"{stream.label} have 0 lines: {stream.pattern}", "check that the files were written"
        )


def check_readable(streams: Sequence[Stream]) -> None:
    """Checks on a worker that it can read the first byte of each stream.

    Raises:
      InputError: a stream has no files, or its first file cannot be read.
    """
    for stream in streams:
        if table_kind(stream.pattern) is None:  # a table's log is read once, by one worker
            _check_first_file(stream)


def _check_first_file(stream: Stream) -> None:
    files = find_files(stream, enough=1)
    require_files(stream, files)
    path = min(file.path for file in files)
    try:
        with open_anywhere(path) as file:
            file.read(1)
    except Exception as error:  # each filesystem has exceptions of its own
        what = f"{stream.label}: cannot be read"
        raise unreadable(what, error, "check the file", stream.shown(path)) from error


def _visible(stream: Stream) -> list[FoundFile] | None:
    """The files of a stream as this process sees them; None if it does not see them."""
    if table_kind(stream.pattern) is not None:
        return None  # the workers read its log once
    if not is_local(stream.pattern):
        try:
            matched = find_files(stream, enough=1)
        except BleuError:
            return None
        return None if matched else []
    if not os.path.isdir(os.path.dirname(before_wildcard(stream.pattern)) or "."):
        return None
    try:
        return local_files(stream.label, stream.pattern)
    except BleuError as error:
        if isinstance(error.__cause__, OSError):
            return None
        raise
