"""A DoFn that collects the elements of each bundle, so that it sends on only a few."""

from __future__ import annotations

import abc
import collections
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.wiring.thread_pool import SharedPool

__all__ = ["CollectBundles"]


class CollectBundles(beam.DoFn, abc.ABC):
    """Collects the elements of each bundle: adds them up, or writes them to files, for example.

    A collector is mutable, and has a method `add` for an element. On several threads,
    a bundle has a collector for each element that is added at the same time, and sends on what each
    of them has collected: the next step brings it together. Usually one or two collectors are
    enough, because adding is fast. At most two elements per thread wait, so memory is bounded. All
    elements are in the global window.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads

    @abc.abstractmethod
    def new_collector(self) -> Any:
        """A collector without elements. This can be called on any thread."""

    @abc.abstractmethod
    def collected(self, collector: Any) -> Iterable[Any]:
        """What is sent on of a collector, which gets no more elements."""

    def setup(self) -> None:
        self._under_way: collections.deque[Future[None]] = collections.deque()
        self._shared = SharedPool.of(self._threads) if self._threads > 1 else None
        self._pool = None if self._shared is None else self._shared.pool

    def start_bundle(self) -> None:
        # New objects: after a failed bundle, a thread may still add to its collectors.
        self._collectors: collections.deque[Any] = collections.deque()
        self._drop_waiting()

    def process(self, element: Any) -> None:
        if self._pool is None:
            self._add(element, self._collectors)
            return
        self._under_way.append(self._pool.submit(self._add, element, self._collectors))
        while len(self._under_way) > 2 * self._threads:
            self._under_way.popleft().result()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        while self._under_way:
            self._under_way.popleft().result()
        for collector in self._collectors:
            for output in self.collected(collector):
                yield GlobalWindows.windowed_value(output)
        self._collectors.clear()

    def teardown(self) -> None:
        self._drop_waiting()
        if self._shared is not None:
            self._shared.leave()

    def _drop_waiting(self) -> None:
        """Drops work of a failed bundle that no thread has begun: it would hold up other steps."""
        for future in self._under_way:
            future.cancel()
        self._under_way = collections.deque()

    def _add(self, element: Any, free: collections.deque[Any]) -> None:
        """Adds an element to one of the collectors that no other thread uses, or to a new one."""
        try:
            collector = free.pop()
        except IndexError:
            collector = self.new_collector()
        collector.add(element)
        free.append(collector)
