"""Line-parallel text as a source: only counts and plans, and no text, go through a shuffle."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.files.chunks import read_ahead
from beam_bleu.transforms.pairing.files.found_files import (
    find_shards,
    open_anywhere,
    require_unchanged,
    version_of,
)
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.corpus import (
    ENDLESS,
    Corpus,
    PortionReading,
    WholeFiles,
    read_once,
)
from beam_bleu.transforms.pairing.lines.correspondence import Cuts, require_same_shards
from beam_bleu.transforms.pairing.lines.line_counting import (
    ByteRange,
    CountedText,
    LineCounts,
    count_lines,
    cut,
    cut_corpus,
)
from beam_bleu.transforms.pairing.lines.plan import Piece, Portion
from beam_bleu.transforms.pairing.paired import FoundSegments, Paired
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import (
    OfSource,
    Step,
    ThreadedDoFn,
    as_batches,
    starting_with,
    unchanged,
)

__all__ = ["LineParallel", "PairLines"]

_DETAILS = logging.getLogger("beam_bleu")  # for INFO records only, which --verbose shows


class LineParallel(Corpus):
    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairLines:
        return PairLines(self, threads, step, describe)


class PairLines(OfSource):
    LABEL = "Pair lines"

    def expand(self, root: beam.Pipeline) -> Paired:
        streams, expected = self._source.inputs, self._source.expected
        listing = ListRanges(self._source.range_bytes, expected.cuts)
        counting = CountRanges(self._source, self._threads)
        reading = self._step(_ReadPortion(self._source, self._threads, self._describe))
        planning = self._step(PlanPortions(self._source, self._describe))
        counts = (
            root
            | "Name the streams" >> starting_with(streams, root)
            | "List their files" >> beam.ParDo(self._step(listing))
            | "Spread the ranges" >> beam.Reshuffle()
            | "Count lines" >> beam.ParDo(self._step(counting))
        )
        planned = (
            counts
            | "Gather the counts" >> beam.GroupByKey()
            | "Plan portions" >> beam.ParDo(planning)
        )
        portions = planned | "Spread the portions" >> beam.Reshuffle()
        given = [_ReadPortion.SEGMENTS, *([_ReadPortion.DIGESTS] if self._describe else [])]
        given += [_ReadPortion.TALLIES, _ReadPortion.REJECTED] if self._source.rejects else []
        texts = portions | "Read in lockstep" >> beam.ParDo(reading).with_outputs(
            *given, main="batches"
        )
        batches = as_batches(texts.batches, SegmentBatch)
        # Their names are those of the fields of `Paired`.
        return Paired(batches, **{name: texts[name] for name in given})


class _ReadPortion(ThreadedDoFn):
    SEGMENTS = "segments"
    DIGESTS = "digests"
    TALLIES = "tallies"
    REJECTED = "rejected"

    def __init__(self, corpus: Corpus, threads: int, describe: bool) -> None:
        # Each portion that is begun has memory for a batch of every stream.
        super().__init__(threads, begun=threads)
        self._corpus = corpus
        self._threads = threads
        self._describe = describe

    def weight(self, output: Any) -> int:
        if isinstance(output, SegmentBatch):
            return output.nbytes
        return len(output.value.raw) if output.tag == self.REJECTED else 0

    def work(self, element: tuple[Portion, FoundSegments | None] | WholeFiles) -> Iterator[Any]:
        if isinstance(element, WholeFiles):
            yield from self._read_once(element)
            return
        portion, segments = element
        if segments is not None:
            yield beam.pvalue.TaggedOutput(self.SEGMENTS, segments)
        yield from self._read(portion)

    def _read_once(self, whole: WholeFiles) -> Iterator[Any]:
        streams, longest = self._corpus.inputs, self._corpus.longest_counted
        first_line, counts = 0, []
        try:
            for shards in zip(*whole.shards, strict=True):
                pieces, counted = [], []
                for stream, shard in zip(streams, shards, strict=True):
                    version = version_of(stream, shard.file.path)
                    pieces.append((Piece(shard.file, version, 0, 0, 0, ENDLESS, ends_file=True),))
                    part = ByteRange(shard, 0, shard.file.size, whole.range_bytes)
                    counted.append(CountedText(stream, part, version, longest))
                with contextlib.ExitStack() as stack:
                    texts = [
                        stack.enter_context(
                            contextlib.closing(read_ahead(text.read(open_anywhere), self._threads))
                        )
                        for text in counted
                    ]
                    portion = Portion(first_line, ENDLESS, tuple(pieces))
                    first_line += yield from self._read(portion, texts)
                counts += [text.counts() for text in counted]
            plan, segments = self._corpus.planned(counts, self._describe)
        except InputError:
            self._raise_as_counted(whole)
            raise
        _DETAILS.info("segments: %s", f"{plan.segments:,}")
        yield beam.pvalue.TaggedOutput(self.SEGMENTS, segments)

    def _raise_as_counted(self, whole: WholeFiles) -> None:
        """Raises the plan's error, because streams of different lengths look like changed files."""
        shards = itertools.chain.from_iterable(whole.shards)
        parts = itertools.chain.from_iterable(cut(shard, whole.range_bytes) for shard in shards)
        self._corpus.planned([count_range(self._corpus, part) for part in parts], self._describe)

    def _read(
        self, portion: Portion, texts: Sequence[Iterable[bytes]] | None = None
    ) -> Generator[Any, None, int]:
        reading = PortionReading(
            self._corpus, portion, open_anywhere, texts, describe=self._describe
        )
        for batch, rejected in reading.batches():
            for record in rejected:
                yield beam.pvalue.TaggedOutput(self.REJECTED, record)
            if batch is not None:
                yield batch
        for stream, pieces in reading.ended():
            for piece in pieces:
                require_unchanged(stream, piece.file.path, piece.version)
        if self._describe:
            yield beam.pvalue.TaggedOutput(self.DIGESTS, reading.digests)
        if self._corpus.rejects:
            yield beam.pvalue.TaggedOutput(self.TALLIES, reading.tally)
        return reading.lines


@dataclasses.dataclass(eq=False, repr=False)
class ListRanges(beam.DoFn):
    """Maps the streams to the ranges whose lines are counted, or to files that are read once."""

    range_bytes: int | None
    cuts: Cuts

    def process(self, streams: Sequence[Stream]) -> Iterator[ByteRange | WholeFiles]:
        PROGRESS.begin("listing")
        # One worker lists all streams, because the size of ranges depends on the whole corpus.
        shards = [find_shards(number, stream) for number, stream in enumerate(streams)]
        if self.cuts == "same":
            require_same_shards(streams, shards)
        files = list(itertools.chain.from_iterable(shards))
        whole = read_once(shards, self.range_bytes, self.cuts)
        if whole is not None:
            _DETAILS.info("compressed: the files are read once, and their lines counted meanwhile")
            yield whole
            return
        ranges = cut_corpus(files, self.range_bytes)
        most = max(part.stop - part.start for part in ranges)
        _DETAILS.info("ranges: %s, of at most %s bytes", f"{len(ranges):,}", f"{most:,}")
        PROGRESS.begin("counting lines", sum(shard.file.size for shard in files))
        yield from ranges


class CountRanges(ThreadedDoFn):
    def __init__(self, corpus: Corpus, threads: int) -> None:
        super().__init__(threads)
        self._corpus = corpus

    def work(self, part: ByteRange | WholeFiles) -> Iterable[tuple[int, Any]]:
        if isinstance(part, WholeFiles):
            return [(0, part)]
        return [(0, count_range(self._corpus, part))]


def count_range(corpus: Corpus, part: ByteRange) -> LineCounts:
    stream = corpus.inputs[part.shard.stream]
    version = version_of(stream, part.shard.file.path)
    return count_lines(stream, part, open_anywhere, version, corpus.longest_counted)


@dataclasses.dataclass(eq=False, repr=False)
class PlanPortions(beam.DoFn):
    """Maps the counts of all ranges to portions; the first one has the `FoundSegments`, too."""

    corpus: Corpus
    describe: bool

    def process(
        self, gathered: tuple[int, Iterable[LineCounts | WholeFiles]]
    ) -> Iterator[tuple[Portion, FoundSegments | None] | WholeFiles]:
        PROGRESS.begin("planning")
        counts: list[LineCounts] = []
        for element in gathered[1]:
            if isinstance(element, WholeFiles):
                PROGRESS.begin("scoring", element.bytes)
                yield element
                return
            counts.append(element)
        plan, segments = self.corpus.planned(counts, self.describe)
        _DETAILS.info("segments: %s, portions: %s", f"{plan.segments:,}", f"{plan.portion_count:,}")
        PROGRESS.begin("scoring", plan.bytes)
        for number, portion in enumerate(plan.portions_to_read()):
            yield portion, segments if number == 0 else None
