"""Counts the lines of files on a thread, before the job has begun.

The command needs half a second to import Beam and to build a job, and one core is idle meanwhile.
The lines of large files can be counted in this time. Only counts of parts of files are kept, with
the version that the file had before. The step that counts lines asks for them with the version
that the file has then. What is not there it counts itself, so nothing that is missing here can
change a result, or the message of an error.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from typing import Any

from beam_bleu.transforms.pairing.files.listing import NO_WAITING, local_version
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard
from beam_bleu.transforms.pairing.lines.file_counting import (
    CountedParts,
    count_parts,
    load_compiled_code,
)
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, cut, range_bytes_for

THREAD = "beam-bleu counting ahead"
"""The name of the thread."""

_Place = tuple[FoundFile, int, int, int]
"""A range without the place of its file in a stream."""


class CountedAhead:
    """What was counted ahead in this process. It changes, and can be used on any thread."""

    def __init__(self) -> None:
        self._found: dict[_Place, tuple[str, CountedParts]] = {}
        self._ended = threading.Event()

    def begin(self, files: Sequence[FoundFile]) -> None:
        """Begins to count the lines of files on a thread. An error is left to the job.

        The thread takes the interpreter's lock as rarely as possible, because each time the thread
        that imports Beam must wait, and for long if other programs use the cores.
        """
        self.end()
        try:
            load_compiled_code()  # here, because two threads should not import numba
            versions = [local_version(file.path) for file in files]
        except Exception:
            return
        arguments = files, versions, self._found, self._ended
        thread = threading.Thread(target=_count_quietly, args=arguments, name=THREAD, daemon=True)
        thread.start()

    def end(self) -> None:
        """Ends counting, and forgets what was counted."""
        self._ended.set()
        self._found, self._ended = {}, threading.Event()

    def take(self, part: ByteRange, version: str | None) -> CountedParts | None:
        """What was counted of a range, if its file has this version; otherwise None.

        Counting ahead ends with the first call, because now the job itself counts what is missing.
        """
        self._ended.set()
        of_version, found = self._found.get(_place(part), (None, None))
        return found if of_version == version else None


def _place(part: ByteRange) -> _Place:
    return part.shard.file, part.start, part.stop, part.range_bytes


def _count_quietly(*arguments: Any) -> None:
    """Counts, and ends at the first error, without a message: the job meets the error again."""
    with contextlib.suppress(Exception):
        _count(*arguments)


def _count(
    files: Sequence[FoundFile],
    versions: Sequence[str],
    found: dict[_Place, tuple[str, CountedParts]],
    ended: threading.Event,
) -> None:
    """Counts until it has ended, or until something is not as usual."""
    range_bytes = range_bytes_for(sum(file.size for file in files))
    for file, version in zip(files, versions, strict=True):
        descriptor = os.open(file.path, os.O_RDONLY | NO_WAITING)
        try:
            for part in cut(Shard(0, 0, file), range_bytes):
                parts = count_parts(descriptor, part, lambda _: not ended.is_set())
                if parts is None:
                    return
                found[_place(part)] = version, parts
        finally:
            os.close(descriptor)


COUNTED_AHEAD = CountedAhead()
"""What was counted ahead in this process. Beam pickles steps, so they find it by this name."""
