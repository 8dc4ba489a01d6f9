"""Beam's in-process runner, with short waits at the end of steps.

While a worker works on a bundle, a thread of Beam samples in which step it is. At the end of the
bundle, Beam waits for this thread, which sleeps for up to 200 ms at a time, and no core works. Here
it sleeps for 20 ms at most.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.worker import statesampler

__all__ = ["InProcessRunner"]

_SAMPLING_PERIOD_MS = 20
"""Much shorter than a run, and long enough that sampling costs nothing."""


class InProcessRunner(FnApiRunner):
    """Beam's runner. While it runs a pipeline, the samplers of this process end soon."""

    def run_pipeline(self, pipeline: Any, options: Any) -> Any:
        with _RUNS.short_samples():
            return super().run_pipeline(pipeline, options)


class _ShortSampler(statesampler.StateSampler):
    def __init__(self, prefix: str, counter_factory: Any) -> None:
        super().__init__(prefix, counter_factory, sampling_period_ms=_SAMPLING_PERIOD_MS)


class _Runs:
    """The runs of this process that are under way. Several threads can begin and end them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._usual = statesampler.StateSampler

    @contextlib.contextmanager
    def short_samples(self) -> Iterator[None]:
        """The samplers sleep briefly until the last run has ended."""
        # Beam has no option for the period. Its workers look the class up for each bundle.
        with self._lock:
            if not self._count:
                self._usual = statesampler.StateSampler
                statesampler.StateSampler = _ShortSampler
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if not self._count:
                    statesampler.StateSampler = self._usual


_RUNS = _Runs()
