"""Checks on the launcher that the input is there, before an engine gets the job.

Only what this process sees to be wrong is an error. The workers may run on other machines and as
another user. So they may see folders, and may read files, that this process cannot.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from beam_bleu.transforms.errors import BleuError, InputError
from beam_bleu.transforms.pairing.files.listing import local_files
from beam_bleu.transforms.pairing.files.shards import require_files
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream, before_wildcard
from beam_bleu.transforms.pairing.lines.correspondence import require_equal_line_counts
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local

__all__ = ["check_visible"]


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


def _visible(stream: Stream) -> list[FoundFile] | None:
    """The files of a stream as this process sees them; None if it does not see them."""
    if not is_local(stream.pattern):
        try:
            # Listing all files of an object store can take minutes. One file is enough.
            matched = (
                filesystem_of(stream.pattern).match([stream.pattern], limits=[1])[0].metadata_list
            )
        except Exception:  # filesystems raise exceptions of their own types
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
