"""Beam's in-process runner has no threads that sample its steps, and one worker spreads nothing."""

from __future__ import annotations

import threading

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.worker import statesampler

from beam_bleu.pipeline.engines.in_process import InProcessRunner

USUAL = statesampler.StateSampler


def _threads(_: object) -> list[str]:
    """The functions that the threads of this process run."""
    return [str(getattr(each, "_target", None)) for each in threading.enumerate()]


def _require_no_sampler(functions: list[str]) -> None:
    assert not [each for each in functions if "StateSampler" in each]


def _require_a_tracker(_: object) -> None:
    assert statesampler.get_current_tracker().tracked_thread is threading.current_thread()


def _fail(_: object) -> None:
    raise ValueError("it fails")


def test_no_thread_samples_in_any_bundle() -> None:
    with beam.Pipeline(runner=InProcessRunner()) as root:
        begun = root | beam.Create([1, 2, 3])
        _ = begun | beam.Map(_threads) | beam.Map(_require_no_sampler)
        _ = begun | beam.Map(_require_a_tracker)
        later = begun | beam.GroupBy(str)
        _ = later | "Another" >> beam.Map(_threads) | "Check it" >> beam.Map(_require_no_sampler)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_work_is_spread_among_several_workers_only(workers: int) -> None:
    options = PipelineOptions(direct_num_workers=workers)
    begun = beam.Pipeline(InProcessRunner(), options) | beam.Create([1, 2, 3], reshuffle=False)
    spread = begun | beam.Reshuffle()
    assert (spread is begun) == (workers == 1)


def test_runs_that_overlap_leave_beams_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = {"first": threading.Event(), "second": threading.Event()}
    may_end = {"first": threading.Event(), "second": threading.Event()}

    def run_pipeline(runner: object, name: str, options: object) -> None:
        begun[name].set()
        may_end[name].wait(60)

    monkeypatch.setattr(FnApiRunner, "run_pipeline", run_pipeline)
    runs = {
        name: threading.Thread(target=InProcessRunner().run_pipeline, args=[name, None])
        for name in begun
    }
    for name, run in runs.items():
        run.start()
        assert begun[name].wait(60)
    for name, run in runs.items():
        assert statesampler.StateSampler is not USUAL
        may_end[name].set()
        run.join()
    assert statesampler.StateSampler is USUAL


@pytest.mark.parametrize("fails", [False, True])
def test_other_pipelines_of_the_process_have_beams_samplers(fails: bool) -> None:
    root = beam.Pipeline(runner=InProcessRunner())
    _ = root | beam.Create([1]) | beam.Map(_fail if fails else _threads)
    if fails:
        with pytest.raises(ValueError, match="it fails"):
            root.run()
    else:
        root.run()
    assert statesampler.StateSampler is USUAL
