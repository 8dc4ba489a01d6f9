"""Wires the pairing of line-parallel text to Beam.

Only counts and plans cross a shuffle, a few hundred bytes each; text goes
straight from the file into the batch that is scored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.pvalue import PCollection

from transforms import coders
from transforms.batch import SegmentBatch
from transforms.errors import InputError
from transforms.pairing.lines import LineReader, changed, count_lines
from transforms.pairing.listing import local_files
from transforms.pairing.plan import WorkUnit, make_plan
from transforms.pairing.ranges import ByteRange, LineCounts, cut_corpus
from transforms.pairing.streams import FoundFile, Stream, shards_in_order
from transforms.threads import ThreadedDoFn

__all__ = ["ReadLineParallel"]

_BATCH_ROWS = 4096
_BATCH_TEXTS = 16384
"""Fewer rows of more streams, so that a batch of many systems needs no more memory."""


@dataclasses.dataclass(frozen=True)
class LineParallel:
    """What `ReadLineParallel` gives.

    Attributes:
      batches: PCollection of `SegmentBatch`.
      segments: PCollection of one int, how many segments there are to score.
    """

    batches: PCollection[SegmentBatch]
    segments: PCollection[int]


class ReadLineParallel(beam.PTransform):
    """Reads segments whose texts are the lines of the same number of several streams.

    Args:
      candidates: one stream per system.
      references: one or more streams.
      range_bytes: how many bytes a worker counts, and about how many (of all
        streams together) it scores, at a time; if None, what suits the corpus.
      threads: how many threads count lines.

    Expands a pipeline root to `LineParallel`. The pipeline fails with an
    `InputError` if a file is missing, unreadable, truncated or not UTF-8, or if
    the streams do not have the same number of lines.
    """

    def __init__(
        self,
        candidates: Sequence[Stream],
        references: Sequence[Stream],
        range_bytes: int | None,
        threads: int,
    ) -> None:
        super().__init__()
        self._streams = (*references, *candidates)
        self._references = len(references)
        self._range_bytes = range_bytes
        self._threads = threads

    def expand(self, root: beam.Pipeline) -> LineParallel:
        coders.register()
        counts = (
            root
            | "Name the streams" >> beam.Create([self._streams], reshuffle=False)
            | "List their files" >> beam.FlatMap(_list_ranges, self._range_bytes)
            | "Spread the ranges" >> beam.Reshuffle()
            | "Count lines" >> beam.ParDo(_CountLines(self._streams, self._threads))
        )
        planned = (
            counts
            | "Gather the counts" >> beam.GroupByKey()
            | "Plan work units"
            >> beam.ParDo(_Plan(self._streams)).with_outputs(_Plan.SEGMENTS, main="units")
        )
        batches = (
            planned.units
            | "Spread the work units" >> beam.Reshuffle()
            | "Read in lockstep"
            >> beam.ParDo(_ReadUnit(self._streams, self._references)).with_output_types(
                SegmentBatch
            )
        )
        return LineParallel(batches, planned[_Plan.SEGMENTS])


def _open(path: str) -> Any:
    # The suffix alone decides, and decompression.py decompresses: Beam's own
    # decompression takes a truncated file for a complete one.
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def _list_ranges(streams: Sequence[Stream], range_bytes: int | None) -> Iterator[ByteRange]:
    # One worker lists all streams: only the whole corpus tells how large its ranges are.
    shards = [
        shard
        for number, stream in enumerate(streams)
        for shard in shards_in_order(number, stream, _found(stream))
    ]
    yield from cut_corpus(shards, range_bytes)


def _found(stream: Stream) -> list[FoundFile]:
    if isinstance(FileSystems.get_filesystem(stream.pattern), LocalFileSystem):
        return local_files(stream.label, stream.pattern)
    try:
        matched = FileSystems.match([stream.pattern])[0].metadata_list
    except BeamIOError as error:
        raise InputError(
            f"{stream.label}: cannot list {stream.pattern}: {error}",
            "check the path and the access to its filesystem",
        ) from error
    return [
        FoundFile(file.path, file.size_in_bytes, file.last_updated_in_seconds or 0.0)
        for file in matched
    ]


class _CountLines(ThreadedDoFn):
    def __init__(self, streams: Sequence[Stream], threads: int) -> None:
        super().__init__(threads)
        self._streams = streams

    def work(self, part: ByteRange) -> Iterable[tuple[int, LineCounts]]:
        return [(0, count_lines(self._streams[part.shard.stream], part, _open))]


class _Plan(beam.DoFn):
    SEGMENTS = "segments"

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._streams = streams

    def process(self, gathered: tuple[int, Iterable[LineCounts]]) -> Iterator[Any]:
        plan = make_plan(self._streams, gathered[1])
        yield beam.pvalue.TaggedOutput(self.SEGMENTS, plan.segments)
        yield from plan.units()


class _ReadUnit(beam.DoFn):
    def __init__(self, streams: Sequence[Stream], references: int) -> None:
        self._streams = streams
        self._references = references

    def process(self, unit: WorkUnit) -> Iterator[SegmentBatch]:
        readers = [
            LineReader(stream, pieces, _open)
            for stream, pieces in zip(self._streams, unit.pieces, strict=True)
        ]
        rows = min(_BATCH_ROWS, max(_BATCH_TEXTS // len(readers), 1))
        left = unit.lines
        while left:
            lines = min(reader.available(min(rows, left)) for reader in readers)
            texts = tuple(reader.take(lines) for reader in readers)
            yield SegmentBatch(
                texts[self._references :],
                texts[: self._references],
                unit.first_line + unit.lines - left,
            )
            left -= lines
        for stream, pieces in zip(self._streams, unit.pieces, strict=True):
            for piece in pieces:
                if piece.modified and FileSystems.last_updated(piece.path) != piece.modified:
                    raise changed(stream, piece.path, "was written to after it was listed")
