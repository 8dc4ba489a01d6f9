"""Wires the pairing of line-parallel text to Beam.

Only counts and plans cross a shuffle, a few hundred bytes each; text goes
straight from the file into the batch that is scored.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.errors import BleuError, unreadable
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.line_parallel.corpus import CorpusFacts, Expected
from beam_bleu.transforms.pairing.line_parallel.correspondence import require_same_shards
from beam_bleu.transforms.pairing.line_parallel.counting import count_lines
from beam_bleu.transforms.pairing.line_parallel.file_versions import version_of
from beam_bleu.transforms.pairing.line_parallel.lines import LineReader
from beam_bleu.transforms.pairing.line_parallel.listing import local_files, open_file
from beam_bleu.transforms.pairing.line_parallel.nul_bytes import nul_warnings
from beam_bleu.transforms.pairing.line_parallel.plan import WorkUnit, make_plan
from beam_bleu.transforms.pairing.line_parallel.ranges import ByteRange, LineCounts, cut_corpus
from beam_bleu.transforms.pairing.line_parallel.shard_notes import notes_of
from beam_bleu.transforms.pairing.line_parallel.shards import shards_in_order
from beam_bleu.transforms.pairing.line_parallel.streams import FoundFile, Stream, changed
from beam_bleu.transforms.wiring import coders
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["ReadLineParallel"]

_LOG = logging.getLogger(__name__)

_BATCH_ROWS = 4096
_BATCH_TEXTS = 16384
"""Fewer rows of more streams, so that a batch of many systems needs no more memory."""


@dataclasses.dataclass(frozen=True)
class LineParallel:
    """What `ReadLineParallel` gives.

    Attributes:
      batches: PCollection of `SegmentBatch`.
      facts: PCollection of one `CorpusFacts`.
    """

    batches: PCollection[SegmentBatch]
    facts: PCollection[CorpusFacts]


class ReadLineParallel(beam.PTransform):
    """Reads segments whose texts are the lines of the same number of several streams.

    Args:
      candidates: one stream per system.
      references: one or more streams.
      range_bytes: how many bytes a worker counts, and about how many (of all
        streams together) it scores, at a time; if None, what suits the corpus.
      threads: how many threads count lines.
      expected: what must be true of the corpus; None for the default.
      step: what makes a step of each DoFn.

    Expands a pipeline root to `LineParallel`. The pipeline fails with an
    `InputError` if a file is missing, unreadable, truncated or not UTF-8, if it
    changes while the pipeline runs, if the streams do not have the same shards and
    lines, or if the corpus is not what was expected.
    """

    def __init__(
        self,
        candidates: Sequence[Stream],
        references: Sequence[Stream],
        range_bytes: int | None,
        threads: int,
        expected: Expected | None = None,
        step: Step = unchanged,
    ) -> None:
        super().__init__()
        self._streams = (*references, *candidates)
        self._references = len(references)
        self._range_bytes = range_bytes
        self._threads = threads
        self._expected = expected or Expected()
        self._step = step

    def expand(self, root: beam.Pipeline) -> LineParallel:
        coders.register()
        counts = (
            root
            | "Name the streams" >> beam.Create([self._streams], reshuffle=False)
            | "List their files"
            >> beam.ParDo(self._step(_ListRanges(self._range_bytes, self._expected.cuts)))
            | "Spread the ranges" >> beam.Reshuffle()
            | "Count lines"
            >> beam.ParDo(
                self._step(_CountLines(self._streams, self._expected.max_line_bytes, self._threads))
            )
        )
        planned = (
            counts
            | "Gather the counts" >> beam.GroupByKey()
            | "Plan work units"
            >> beam.ParDo(self._step(_Plan(self._streams, self._expected))).with_outputs(
                _Plan.FACTS, main="units"
            )
        )
        batches = (
            planned.units
            | "Spread the work units" >> beam.Reshuffle()
            | "Read in lockstep"
            >> beam.ParDo(
                self._step(
                    _ReadUnit(self._streams, self._references, self._expected.max_line_bytes)
                )
            ).with_output_types(SegmentBatch)
        )
        return LineParallel(batches, planned[_Plan.FACTS])


def _open(path: str) -> Any:
    if isinstance(FileSystems.get_filesystem(path), LocalFileSystem):
        return open_file(path)
    # The suffix alone decides, and decompression.py decompresses: Beam's own
    # decompression takes a truncated file for a complete one.
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


class _ListRanges(beam.DoFn):
    def __init__(self, range_bytes: int | None, cuts: str) -> None:
        self._range_bytes = range_bytes
        self._cuts = cuts

    def process(self, streams: Sequence[Stream]) -> Iterator[ByteRange]:
        # One worker lists all streams: only the whole corpus tells how large its ranges are.
        shards = [
            shards_in_order(number, stream, _found(stream)) for number, stream in enumerate(streams)
        ]
        if self._cuts == "same":
            require_same_shards(streams, shards)
        yield from cut_corpus(list(itertools.chain.from_iterable(shards)), self._range_bytes)


def _found(stream: Stream) -> list[FoundFile]:
    try:
        if isinstance(FileSystems.get_filesystem(stream.pattern), LocalFileSystem):
            return local_files(stream.label, stream.pattern)
        matched = FileSystems.match([stream.pattern])[0].metadata_list
    except BleuError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable(
            f"{stream.label}: cannot list {stream.pattern}",
            error,
            "check the path and the access to its filesystem",
        ) from error
    return [FoundFile(file.path, file.size_in_bytes) for file in matched]


class _CountLines(ThreadedDoFn):
    def __init__(self, streams: Sequence[Stream], max_line_bytes: int, threads: int) -> None:
        super().__init__(threads)
        self._streams = streams
        self._max_line_bytes = max_line_bytes

    def work(self, part: ByteRange) -> Iterable[tuple[int, LineCounts]]:
        stream = self._streams[part.shard.stream]
        version = version_of(stream, part.shard.path)
        return [(0, count_lines(stream, part, _open, version, self._max_line_bytes))]


class _Plan(beam.DoFn):
    FACTS = "facts"

    def __init__(self, streams: Sequence[Stream], expected: Expected) -> None:
        self._streams = streams
        self._expected = expected

    def process(self, gathered: tuple[int, Iterable[LineCounts]]) -> Iterator[Any]:
        counts = list(gathered[1])
        warnings = nul_warnings(self._streams, counts)
        plan = make_plan(self._streams, counts, self._expected.cuts)
        self._expected.require_segments(plan.segments)
        of_names = notes_of(self._streams, plan.shards, self._expected.cuts)
        notes = (*self._expected.notes, *of_names)
        for note in notes:
            _LOG.warning(note)  # for those who only see the log of a worker
        facts = CorpusFacts(plan.segments, warnings, notes)
        yield beam.pvalue.TaggedOutput(self.FACTS, facts)
        yield from plan.units()


class _ReadUnit(beam.DoFn):
    def __init__(self, streams: Sequence[Stream], references: int, max_line_bytes: int) -> None:
        self._streams = streams
        self._references = references
        self._max_line_bytes = max_line_bytes

    def process(self, unit: WorkUnit) -> Iterator[SegmentBatch]:
        readers = [
            LineReader(stream, pieces, _open, self._max_line_bytes)
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
        for stream, reader, pieces in zip(self._streams, readers, unit.pieces, strict=True):
            reader.finish()
            for piece in pieces:
                if version_of(stream, piece.path) != piece.version:
                    raise changed(
                        stream,
                        piece.path,
                        "was changed after its lines were counted",
                    )
