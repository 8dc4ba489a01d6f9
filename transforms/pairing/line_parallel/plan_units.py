"""The steps of Beam from the streams of line-parallel text to its work units."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.planning import Planning
from beam_bleu.transforms.pairing.lines.correspondence import (
    Cuts,
    require_same_shards,
)
from beam_bleu.transforms.pairing.lines.line_steps import CountLines, tell_files
from beam_bleu.transforms.pairing.lines.plan import WorkUnit
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, LineCounts, cut_corpus
from beam_bleu.transforms.pairing.lines.whole_files import WholeFiles, read_once
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.progress import PROGRESS

__all__ = ["CountRanges", "ListRanges", "PlanUnits"]

_DETAILS = logging.getLogger("beam_bleu")
"""For INFO records only, which the command shows with --verbose."""


class ListRanges(beam.DoFn):
    """Maps the streams to the ranges whose lines are counted, or to files that are read once."""

    def __init__(self, range_bytes: int | None, cuts: Cuts) -> None:
        self._range_bytes = range_bytes
        self._cuts = cuts

    def process(self, streams: Sequence[Stream]) -> Iterator[ByteRange | WholeFiles]:
        PROGRESS.begin("listing")
        # One worker lists all streams, because the size of ranges depends on the whole corpus.
        shards = [
            shards_in_order(number, stream, find_files(stream))
            for number, stream in enumerate(streams)
        ]
        if self._cuts == "same":
            require_same_shards(streams, shards)
        for stream, of_stream in zip(streams, shards, strict=True):
            tell_files(stream, of_stream)
        found = list(itertools.chain.from_iterable(shards))
        whole = read_once(shards, self._range_bytes, self._cuts)
        if whole is not None:
            _DETAILS.info("compressed: the files are read once, and their lines counted meanwhile")
            yield whole
            return
        ranges = list(cut_corpus(found, self._range_bytes))
        most = max(part.stop - part.start for part in ranges)
        _DETAILS.info("ranges: %s, of at most %s bytes", f"{len(ranges):,}", f"{most:,}")
        yield from ranges
        PROGRESS.begin("counting lines", sum(shard.file.size for shard in found))


class CountRanges(CountLines):
    """Maps each `ByteRange` to (0, its `LineCounts`), and `WholeFiles` to (0, the same)."""

    def work(self, part: ByteRange | WholeFiles) -> Iterable[tuple[int, Any]]:
        return [(0, part)] if isinstance(part, WholeFiles) else super().work(part)


class PlanUnits(beam.DoFn):
    """Maps the counts of all ranges to work units, each with the `FoundSegments` or None.

    Only the first one has them, because whoever reads it passes them on. Files that are read
    once have no counts yet, and are a unit of their own.
    """

    def __init__(self, planning: Planning) -> None:
        self._planning = planning

    def process(
        self, gathered: tuple[int, Iterable[LineCounts | WholeFiles]]
    ) -> Iterator[tuple[WorkUnit, FoundSegments | None] | WholeFiles]:
        PROGRESS.begin("planning")
        counts: list[LineCounts] = []
        for each in gathered[1]:
            if isinstance(each, WholeFiles):
                yield each
                PROGRESS.begin("scoring", each.bytes)
                return
            counts.append(each)
        plan, found = self._planning.planned(counts)
        for number, unit in enumerate(plan.units()):
            yield unit, found if number == 0 else None
        _DETAILS.info("segments: %s, work units: %s", f"{plan.segments:,}", f"{plan.unit_count:,}")
        PROGRESS.begin("scoring", plan.bytes)
