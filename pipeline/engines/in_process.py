"""Beam's in-process runner, without the threads that sample its steps, and without spreading.

While a worker works on a bundle, a thread of Beam samples in which step it is. At the end of the
bundle, Beam waits for this thread, which sleeps for up to 200 ms at a time, and no core works. A
run in this process does not use the samples, so it has none of these threads.
"""

from __future__ import annotations

import threading
from typing import Any

from apache_beam.options.pipeline_options import DirectOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.worker import statesampler
from apache_beam.transforms.util import Reshuffle


class InProcessRunner(FnApiRunner):
    """Beam's runner. With one worker it leaves out each `Reshuffle`, which would spread work."""

    def apply(self, transform: Any, input: Any, options: Any) -> Any:
        # Building and running two of them is a fifth of a short run.
        workers = options.view_as(DirectOptions).direct_num_workers
        if isinstance(transform, Reshuffle) and workers == 1:
            return input
        return super().apply(transform, input, options)

    def run_pipeline(self, pipeline: Any, options: Any) -> Any:
        # Beam has no option for this. Its workers look the class up for each bundle.
        statesampler.StateSampler = _NoSampler
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
