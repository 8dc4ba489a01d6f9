"""The steps of Beam for text that is cut into lines, which several forms of input use."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from beam_bleu.transforms.pairing.files.found_files import open_anywhere, version_of
from beam_bleu.transforms.pairing.files.streams import Shard, Stream, changed
from beam_bleu.transforms.pairing.lines.line_counting import count_lines
from beam_bleu.transforms.pairing.lines.plan import Piece
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, LineCounts
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, LineDigests
from beam_bleu.transforms.pairing.paired import Digests
from beam_bleu.transforms.wiring.steps import AddUp
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["AddUpDigests", "CountLines", "count_range", "require_unchanged", "tell_files"]

_DETAILS = logging.getLogger("beam_bleu")
"""For INFO records only, which the command shows with --verbose."""


def tell_files(stream: Stream, shards: Sequence[Shard]) -> None:
    """Logs the files of a stream, as a detail."""
    size = sum(shard.file.size for shard in shards)
    first = shards[0].file.path
    _DETAILS.info(
        "%s: %s, %s bytes: %s",
        stream.label,
        "1 file" if len(shards) == 1 else f"{len(shards):,} files",
        f"{size:,}",
        first if len(shards) == 1 else f"{first} ... {shards[-1].file.path}",
    )


class CountLines(ThreadedDoFn):
    """Maps each `ByteRange` to (0, its `LineCounts`)."""

    def __init__(self, streams: Sequence[Stream], max_line_bytes: int | None, threads: int) -> None:
        super().__init__(threads)
        self._streams = streams
        self._max_line_bytes = max_line_bytes

    def work(self, part: ByteRange) -> Iterable[tuple[int, LineCounts]]:
        return [(0, count_range(self._streams, part, self._max_line_bytes))]


def count_range(
    streams: Sequence[Stream], part: ByteRange, max_line_bytes: int | None
) -> LineCounts:
    """The counts of a range of one of the streams; see `count_lines`."""
    stream = streams[part.shard.stream]
    version = version_of(stream, part.shard.file.path)
    return count_lines(stream, part, open_anywhere, version, max_line_bytes)


def require_unchanged(stream: Stream, pieces: Iterable[Piece]) -> None:
    """Checks that the files of pieces have the versions that they had when they were counted."""
    for piece in pieces:
        if version_of(stream, piece.file.path) != piece.version:
            raise changed(stream, piece.file.path, "was changed after its lines were counted")


class AddUpDigests(AddUp):
    """Adds up `LineDigests` to the `Digests` of all streams, in the order of their numbers."""

    def __init__(self, method: str = METHOD) -> None:
        super().__init__()
        self._method = method

    def extract_output(self, accumulator: LineDigests) -> Digests:
        return Digests(accumulator.lines, accumulator.texts(self._method))
