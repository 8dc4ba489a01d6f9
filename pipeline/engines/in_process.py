"""Beam's in-process runner, without the threads that sample its steps, and without spreading.

While a worker works on a bundle, a thread of Beam samples in which step it is. At the end of the
bundle, Beam waits for this thread, which sleeps for up to 200 ms at a time, and no core works. A
run in this process does not use the samples, so it has none of these threads.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from apache_beam.options.pipeline_options import DirectOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.worker import statesampler
from apache_beam.transforms.util import Reshuffle

__all__ = ["InProcessRunner"]


class InProcessRunner(FnApiRunner):
    """Beam's runner. While it runs a pipeline, no thread of this process samples steps.

    With one worker it leaves out each `Reshuffle`, which would spread work among workers.
    """

    def apply(self, transform: Any, input: Any, options: Any) -> Any:
        # Building and running two of them is a fifth of a short run.
        workers = options.view_as(DirectOptions).direct_num_workers
        if isinstance(transform, Reshuffle) and workers == 1:
            return input
        return super().apply(transform, input, options)

    def run_pipeline(self, pipeline: Any, options: Any) -> Any:
        with _RUNS.without_samples():
            return super().run_pipeline(pipeline, options)


class _NoSampler(statesampler.StateSampler):
    """Knows the step of its worker, as Beam's sampler does, but starts no thread."""

    def start(self) -> None:
        self.tracked_thread = threading.current_thread()
        statesampler.set_current_tracker(self)
        self.started = True

    def stop(self) -> None:
        statesampler.set_current_tracker(None)
        self.finished = True


class _Runs:
    """The runs of this process that are under way. Several threads can begin and end them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._usual = statesampler.StateSampler

    @contextlib.contextmanager
    def without_samples(self) -> Iterator[None]:
        """Nothing samples until the last run has ended."""
        # Beam has no option for this. Its workers look the class up for each bundle.
        with self._lock:
            if not self._count:
                self._usual = statesampler.StateSampler
                statesampler.StateSampler = _NoSampler
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if not self._count:
                    statesampler.StateSampler = self._usual


_RUNS = _Runs()
