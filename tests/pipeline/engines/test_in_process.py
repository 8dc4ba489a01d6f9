"""Beam's in-process runner has no threads that sample its steps, and one worker spreads nothing."""

from __future__ import annotations

import threading

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.worker import statesampler

from beam_bleu.pipeline.engines.runners import InProcessRunner


def _threads(_: object) -> list[str]:
    """The functions that the threads of this process run."""
    return [str(getattr(each, "_target", None)) for each in threading.enumerate()]


def _require_no_sampler(functions: list[str]) -> None:
    assert not [each for each in functions if "StateSampler" in each]


def _require_a_tracker(_: object) -> None:
    assert statesampler.get_current_tracker().tracked_thread is threading.current_thread()


def test_no_thread_samples_in_any_bundle() -> None:
    with beam.Pipeline(runner=InProcessRunner()) as root:
        begun = root | beam.Create([1, 2, 3])
        _ = begun | beam.Map(_threads) | beam.Map(_require_no_sampler)
        _ = begun | beam.Map(_require_a_tracker)
        later = begun | beam.GroupBy(str)
        _ = later | "Another" >> beam.Map(_threads) | "Check it" >> beam.Map(_require_no_sampler)


@pytest.mark.parametrize("workers", [1, 2])
def test_work_is_spread_among_several_workers_only(workers: int) -> None:
    options = PipelineOptions(direct_num_workers=workers)
    begun = beam.Pipeline(InProcessRunner(), options) | beam.Create([1, 2, 3], reshuffle=False)
    spread = begun | beam.Reshuffle()
    assert (spread is begun) == (workers == 1)
