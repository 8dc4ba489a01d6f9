"""What all calls share: metrics that many calls name, and the threads that count batches."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


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
