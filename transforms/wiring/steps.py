"""What the steps of all rooms share: starts, coders, sums, and DoFns that work on threads."""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import operator
import os
import pickle
import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apache_beam as beam
from apache_beam.coders import Coder, typecoders
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.native.arrays import Sums

Step = Callable[[beam.DoFn], beam.DoFn]
"""Returns a DoFn that does the same work, but for example raises the pipeline's own errors."""

NamedSums = tuple[str, Sums]  # (what was added up, sums)
_NAMED_SUMS = typehints.Tuple[str, Sums]


def unchanged(dofn: beam.DoFn) -> beam.DoFn:
    return dofn


def starting_with(value: Any, root: Any) -> beam.PTransform:
    """Gives a pipeline its first element; if `root` is a PCollection, nothing starts before it."""
    if isinstance(root, beam.pvalue.PCollection):
        return beam.Map(lambda _, value: value, value)
    return beam.Create([value], reshuffle=False)


class OfSource(beam.PTransform):
    """A transform of a source of segments, at the root of a pipeline."""

    def __init__(self, source: Any, threads: int, step: Step, describe: bool) -> None:
        super().__init__(self.LABEL)
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe

    LABEL: str


class BatchCoder(Coder):
    """Pickles values. Beam sometimes asks for a size, even where it encodes nothing, and would
    encode a whole batch to find it; `nbytes` says it.
    """

    def encode(self, value: Any) -> bytes:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> Any:
        return pickle.loads(encoded)

    def estimate_size(self, value: Any) -> int:
        return int(value.nbytes)


def giving_batches(dofn: beam.DoFn, batch: type) -> beam.ParDo:
    typecoders.registry.register_coder(batch, BatchCoder)
    return beam.ParDo(dofn).with_output_types(batch)


def as_batches(output: PCollection[Any], batch: type) -> PCollection[Any]:
    """Like `giving_batches`, for one output of a step that has several and declares no types."""
    typecoders.registry.register_coder(batch, BatchCoder)
    output.element_type = batch
    return output


class AddUp(beam.CombineFn):
    """Adds up sums of one kind; the sum of nothing is None."""

    def create_accumulator(self) -> Any:
        return None

    def add_input(self, accumulator: Any, sums: Any) -> Any:
        return sums if accumulator is None else accumulator + sums

    def merge_accumulators(self, accumulators: Iterable[Any]) -> Any:
        there = [accumulator for accumulator in accumulators if accumulator is not None]
        return functools.reduce(operator.add, there) if there else None

    def extract_output(self, accumulator: Any) -> Any:
        return accumulator


def giving_sums(dofn: beam.DoFn) -> beam.ParDo:
    # Beam sometimes asks for the size of an element. The coder knows that of large arrays.
    typecoders.registry.register_coder(Sums, BatchCoder)
    return beam.ParDo(dofn).with_output_types(_NAMED_SUMS)


def add_up(parts: Iterable[PCollection[NamedSums]]) -> PCollection[NamedSums]:
    """Adds up the parts of everything, in one shuffle, because each one makes the start longer."""
    return (
        list(parts)
        | "Collect the sums" >> beam.Flatten()
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(_NAMED_SUMS)
    )


_PART_BYTES = 1 << 20  # about how many bytes of outputs of one element are held at a time


@functools.cache
def shared_pool(threads: int) -> ThreadPoolExecutor:
    """This process's only pool with this number of threads; what it runs must not wait for it."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_pool.cache_clear)  # a child has no such threads


class ThreadedDoFn(beam.DoFn, abc.ABC):
    """Calls `work` for each element, on `threads` threads, and emits what it returns in the order
    of the elements, in their windows. Large outputs, by their `weight`, are emitted in parts,
    perhaps before those of earlier elements. At most `begun` elements are under way at a time, to
    bound memory: by default two per thread and one more, so that no thread waits for that of Beam.
    """

    def __init__(self, threads: int = 1, begun: int | None = None) -> None:
        self._threads = threads
        self._begun = 2 * threads + 1 if begun is None else begun

    @abc.abstractmethod
    def work(self, element: Any) -> Iterable[Any]:
        """The outputs of an element, on any thread."""

    def weight(self, output: Any) -> int:
        """About how many bytes an output holds, if an element can have many large ones."""
        return 0

    def emitted(self, output: Any) -> None:
        """Called for each output on Beam's own thread, which can update metrics."""

    def setup(self) -> None:
        self._pool = shared_pool(self._threads) if self._threads > 1 else None

    def start_bundle(self) -> None:
        self._under_way: collections.deque[_UnderWay] = collections.deque()
        # New for each bundle: a thread may still work on an element of a failed one.
        self._ready: queue.SimpleQueue[_UnderWay] = queue.SimpleQueue()

    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Iterator[Any]:
        if self._pool is None:
            for output in self._outputs(element):
                self.emitted(output)
                yield output
            return
        work = _UnderWay(self._outputs(element), window, timestamp)
        self._under_way.append(work)
        self._submit(work)
        while len(self._under_way) >= self._begun:
            yield from self._finish_oldest()

    def finish_bundle(self) -> Iterator[WindowedValue | TaggedOutput]:
        while self._under_way:
            yield from self._finish_oldest()

    def teardown(self) -> None:
        ThreadedDoFn.start_bundle(self)  # so that no work of a failed bundle begins

    def _outputs(self, element: Any) -> Iterator[Any]:
        """The outputs of an element. Nothing is done before they are asked for."""
        yield from self.work(element)

    def _submit(self, work: _UnderWay) -> None:
        assert self._pool is not None
        self._pool.submit(self._make_part, work, self._ready)

    def _make_part(self, work: _UnderWay, ready: queue.SimpleQueue[_UnderWay]) -> None:
        if ready is not self._ready:
            return  # its bundle has failed
        weight = 0
        try:
            for output in work.outputs:
                work.part.append(output)
                weight += self.weight(output)
                if weight >= _PART_BYTES:
                    return
            work.is_made = True
        except BaseException as error:  # Beam's own thread raises it
            work.is_made, work.error = True, error
        finally:
            ready.put(work)

    def _finish_oldest(self) -> Iterator[WindowedValue | TaggedOutput]:
        oldest = self._under_way[0]
        while not oldest.is_done:
            # One queue for all elements: to wait for one of several futures is slow.
            work = self._ready.get()
            if work.is_made:
                work.is_done = True
            else:
                yield from self._in_window(work)
                self._submit(work)
        self._under_way.popleft()
        if oldest.error is not None:
            raise oldest.error
        yield from self._in_window(oldest)

    def _in_window(self, work: _UnderWay) -> Iterator[WindowedValue | TaggedOutput]:
        part, work.part = work.part, []
        for output in part:
            self.emitted(output)
            if isinstance(output, TaggedOutput):
                value = WindowedValue(output.value, work.timestamp, (work.window,))
                yield TaggedOutput(output.tag, value)
            else:
                yield WindowedValue(output, work.timestamp, (work.window,))


@dataclasses.dataclass(eq=False)
class _UnderWay:
    """An element that threads work on, with the next part of its outputs."""

    outputs: Iterator[Any]
    window: Any
    timestamp: Any
    part: list[Any] = dataclasses.field(default_factory=list)
    error: BaseException | None = None
    is_made: bool = False
    is_done: bool = False


class CollectBundles(ThreadedDoFn):
    """Collects the elements of each bundle, all in the global window: adds them up, or writes them
    to files. On several threads, a bundle has a collector for each element that its `add` gets at
    the same time.
    """

    @abc.abstractmethod
    def new_collector(self) -> Any:
        """A collector without elements, on any thread."""

    @abc.abstractmethod
    def collected(self, collector: Any) -> Iterable[Any]:
        """The outputs of a collector, which gets no more elements."""

    def start_bundle(self) -> None:
        super().start_bundle()
        # A new object: after a failed bundle, a thread may still add to its collectors.
        self._collectors: collections.deque[Any] = collections.deque()

    def finish_bundle(self) -> Iterator[WindowedValue | TaggedOutput]:
        yield from super().finish_bundle()
        while self._collectors:
            for output in self.collected(self._collectors.popleft()):
                yield GlobalWindows.windowed_value(output)

    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Iterator[Any]:
        return super().process((element, self._collectors), window, timestamp)

    def work(self, element: tuple[Any, collections.deque[Any]]) -> Iterable[Any]:
        added, free = element
        try:
            collector = free.pop()
        except IndexError:
            collector = self.new_collector()
        collector.add(added)
        free.append(collector)
        return ()
