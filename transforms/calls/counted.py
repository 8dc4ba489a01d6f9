"""What a call does with the batches of its segments: it counts them for its metrics, on threads."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from beam_bleu.transforms.chosen_metrics import definitions_of, require_texts_only
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.statistics.counting import Counter, PreparedBatch

if TYPE_CHECKING:
    from beam_bleu.transforms.known_metrics import Definition
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.text.text import Text

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


@dataclasses.dataclass(frozen=True)
class ChosenMetrics:
    """The metrics of a call.

    Attributes:
      definitions: the definition of each metric.
      counted: for each metric the steps from a text to its tokens, and what counts its columns.
    """

    definitions: tuple[Definition, ...]
    counted: tuple[tuple[Text, Counter], ...]

    @classmethod
    def of(cls, metrics: Any, *, of_segments: bool = False) -> ChosenMetrics:
        """The metrics that a call names.

        Args:
          metrics: a list of words, such as "bleu", and of configs.
          of_segments: whether they are to score single segments.

        Raises:
          ValueError: there is no such metric, or it needs numbers.
        """
        defined = definitions_of(metrics, of_segments=of_segments)
        counted = tuple((text, definition.counter) for text, definition in defined)
        require_texts_only(counter for _, counter in counted)
        return cls(tuple(definition for _, definition in defined), counted)

    def count(self, batch: SegmentBatch) -> MetricStatistics:
        """The statistics of a batch. Each text is prepared once for all metrics.

        Raises:
          InputError: a segment has 2 GiB of text or more, or the tokenizer cannot tokenize it.
        """
        prepared = PreparedBatch(batch)
        return MetricStatistics(tuple(prepared.count(*counted) for counted in self.counted))


def remembered(function: Callable[..., _Result], metrics: Any, **options: bool) -> _Result:
    """What a function gives for metrics that a call names, and that many calls name.

    Some programs make a call for each sentence. To make the definitions takes longer than that.
    """
    if isinstance(metrics, list | tuple):
        try:
            result: _Result = _remembered(function, tuple(metrics), **options)
            return result
        except TypeError:  # something in it is not a metric, and cannot be remembered
            pass
    return function(metrics, **options)


@functools.lru_cache(maxsize=64, typed=True)  # 1 is not True
def _remembered(function: Callable[..., Any], metrics: tuple[Any, ...], **options: bool) -> Any:
    return function(metrics, **options)


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
