"""The segments of a call: candidates and references, in batches that threads count."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.calls.texts import TextLists, Texts, shown
from beam_bleu.transforms.pairing.batch import SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.segments.arrow_columns import column_batches
from beam_bleu.transforms.pairing.text_lists import reference_counts
from beam_bleu.transforms.score.shown_numbers import counted

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")

_FOR_EACH_REFERENCE = "references= takes a list for each reference, each as long as candidates"
_FOR_EACH_SEGMENT = "for a list for each segment, use references_per_segment="

_FEWEST_ROWS = 512
"""The fewest rows of a batch, if there are more: smaller ones cost more than threads save."""


@dataclasses.dataclass(frozen=True)
class Segments:
    """The segments of a call. There is at least one.

    Attributes:
      candidates: the candidates of each system.
      references: the texts of each reference, or one argument with a list for each segment.
      systems: the names of the systems; none if there is one without a name.
    """

    candidates: tuple[Texts, ...]
    references: tuple[Texts | TextLists, ...]
    systems: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        candidates: Mapping[str, Any],
        references: Any,
        references_per_segment: Any,
        systems: tuple[str, ...] = (),
    ) -> Segments:
        """The segments that arguments of a call describe.

        Args:
          candidates: for each argument with candidates its name, for messages, and its value.
          references: a list for each reference, each as long as the candidates; or None.
          references_per_segment: a list of references for each segment; or None.
          systems: as the attribute.

        Raises:
          ValueError: they have wrong types or different lengths, there is no segment, or not
            exactly one of both forms of references.
        """
        of_candidates = tuple(Texts(values, name) for name, values in candidates.items())
        first = of_candidates[0]
        if not len(first):
            raise ValueError(f"{first.name} is empty: there is no segment to score")
        for other in of_candidates[1:]:
            if len(other) != len(first):
                raise ValueError(
                    f"{other.name} has {counted(len(other), 'text')}, but {first.name} has "
                    f"{len(first)}"
                )
        if (references is None) == (references_per_segment is None):
            both = "neither" if references is None else "both"
            raise ValueError(
                f"give exactly one of references= (a list for each reference) and "
                f"references_per_segment= (a list for each segment), got {both}"
            )
        if references is not None:
            return cls(of_candidates, _streams(references, first), systems)
        lists = TextLists(references_per_segment, "references_per_segment")
        if len(lists) != len(first):
            raise ValueError(
                f"references_per_segment has {counted(len(lists), 'list')}, but {first.name} has "
                f"{counted(len(first), 'text')}: it takes a list for each segment; for a list for "
                "each reference, use references="
            )
        return cls(of_candidates, (lists,), systems)

    def __len__(self) -> int:
        return len(self.candidates[0])

    def batches(self, threads: int = 1) -> Iterator[SegmentBatch]:
        """The segments in batches, in their order.

        Args:
          threads: how many threads count them. No one has much more to do than the others.

        Raises:
          ValueError: something is not a text, a candidate is missing, or a segment has no
            reference.
        """
        count = len(self)
        rows = usual_rows(len(self.candidates) + len(self.references))
        rows = min(rows, max(-(-count // threads), _FEWEST_ROWS))
        for first in range(0, count, rows):
            stop = min(first + rows, count)
            candidates = [texts.complete_column(first, stop) for texts in self.candidates]
            references = [texts.column(first, stop) for texts in self.references]
            self._require_references(references, first)
            row = first
            for batch in column_batches(candidates, references, systems=self.systems):
                yield dataclasses.replace(batch, numbers=np.arange(row, row + len(batch)))
                row += len(batch)

    def _require_references(self, columns: Sequence[pa.Array], first: int) -> None:
        """Checks that each segment of these rows has a reference."""
        if len(columns) > 1 and not all(column.null_count for column in columns):
            return
        counts = np.sum([reference_counts(column) for column in columns], axis=0)
        if not counts.all():
            row = first + int(counts.argmin())
            names = " and ".join(f"{texts.name}[{row}]" for texts in self.references)
            raise ValueError(
                f"{names} has no reference; an empty string is one, and None is a missing one: "
                "leave the segment out, or give it a reference"
            )


def _streams(references: Any, candidates: Texts) -> tuple[Texts, ...]:
    """The texts of each reference.

    Raises:
      ValueError: they are something else, or have other lengths than the candidates.
    """
    if not isinstance(references, list | tuple | np.ndarray):
        raise ValueError(
            f"references must be a list of lists, got {shown(references)}: "
            f"{_FOR_EACH_REFERENCE}; {_FOR_EACH_SEGMENT}"
        )
    if not len(references):
        raise ValueError(f"references is empty: {_FOR_EACH_REFERENCE}; {_FOR_EACH_SEGMENT}")
    for place, texts in enumerate(references):
        if texts is None or isinstance(texts, str):
            raise ValueError(
                f"references must be a list of lists, but references[{place}] is {shown(texts)}: "
                f"{_FOR_EACH_REFERENCE}, such as [[first, second, ...]] for one reference; "
                f"{_FOR_EACH_SEGMENT}"
            )
    streams = tuple(Texts(texts, f"references[{place}]") for place, texts in enumerate(references))
    for stream in streams:
        if len(stream) != len(candidates):
            raise ValueError(
                f"{stream.name} has {counted(len(stream), 'text')}, but {candidates.name} has "
                f"{len(candidates)}: {_FOR_EACH_REFERENCE}; {_FOR_EACH_SEGMENT}"
            )
    return streams


def require_threads(threads: Any) -> None:
    """Checks a number of threads.

    Raises:
      ValueError: it is impossible.
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"threads must be 1 or more, got {threads!r}")


def on_threads(
    work: Callable[[_Value], _Result], values: Iterable[_Value], threads: int
) -> Iterator[_Result]:
    """What `work` gives for each value, in their order.

    About two values for each thread are in memory at a time.

    Args:
      work: the function. Compiled code runs without the interpreter's lock.
      values: the values, which this thread makes.
      threads: the number of threads, 1 or more.
    """
    if threads == 1:
        yield from map(work, values)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: collections.deque[Future[_Result]] = collections.deque()
        try:
            for value in values:
                under_way.append(pool.submit(work, value))
                if len(under_way) > 2 * threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
