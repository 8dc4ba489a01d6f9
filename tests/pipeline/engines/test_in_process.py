"""Beam's in-process runner does not wait long for the threads that sample its steps."""

from __future__ import annotations

import threading

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.worker import statesampler

from beam_bleu.pipeline.engines.in_process import InProcessRunner

USUAL = statesampler.StateSampler


def _period(_: object) -> int:
    return int(statesampler.get_current_tracker().sampling_period_ms)


def _require_short(period: int) -> None:
    assert period <= 20


def _fail(_: object) -> None:
    raise ValueError("it fails")


def test_samplers_sleep_briefly_in_every_bundle() -> None:
    with beam.Pipeline(runner=InProcessRunner()) as root:
        begun = root | beam.Create([1, 2, 3])
        _ = begun | beam.Map(_period) | beam.Map(_require_short)
        spread = begun | beam.Reshuffle()
        _ = spread | "Another" >> beam.Map(_period) | "Check it" >> beam.Map(_require_short)


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
    _ = root | beam.Create([1]) | beam.Map(_fail if fails else _period)
    if fails:
        with pytest.raises(ValueError, match="it fails"):
            root.run()
    else:
        root.run()
    assert statesampler.StateSampler is USUAL
