"""What a stream keeps for a window, until it closes: it does not grow with the segments."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from pane_scores import scored

from beam_bleu import SegmentScores
from beam_bleu.transforms.pairing.segments import batching
from beam_bleu.transforms.segment_scores import _ScoreElements
from beam_bleu.transforms.wiring.steps import AddUp

TRANSFORMS = 4
"""Those of `scored`."""


def segment(number: int) -> tuple[str, list[str | None]]:
    return (
        f"the cat {number % 97} sat on the mat and {number % 7} dogs ran",
        [f"a cat {number % 97} sat on the mat while {number % 5} dogs ran"],
    )


def keyed_segments(count: int) -> list[tuple[str, Any]]:
    return [("a key", segment(number)) for number in range(count)]


def kept_of(count: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], int]:
    """The bytes of the accumulator of each transform, and how many sums were added to all."""
    sizes: list[int] = []
    added: list[Any] = []
    extract, add = AddUp.extract_output, AddUp.add_input

    def extract_output(adding: AddUp, accumulator: Any) -> Any:
        assert {*accumulator.metrics[0].segments.values()} == {count}
        sizes.append(len(adding.get_accumulator_coder().encode(accumulator)))
        return extract(adding, accumulator)

    def add_input(adding: AddUp, accumulator: Any, sums: Any) -> Any:
        added.append(sums)
        return add(adding, accumulator, sums)

    with monkeypatch.context() as patched:
        patched.setattr(AddUp, "extract_output", extract_output)
        patched.setattr(AddUp, "add_input", add_input)
        with beam.Pipeline(runner=FnApiRunner()) as pipeline:
            segments = beam.FlatMap(keyed_segments)
            scored(
                pipeline
                | beam.Create([count], reshuffle=False)
                | "Give segments" >> segments.with_output_types(typehints.Tuple[str, Any])
            )
    return sorted(sizes), len(added)


def test_ten_times_the_segments_need_no_more_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers get longer; a bundle adds one sum, and not one for each segment."""
    few, added = kept_of(1_000, monkeypatch)
    many, added_of_many = kept_of(10_000, monkeypatch)
    assert len(few) == len(many) == TRANSFORMS
    assert added == added_of_many == TRANSFORMS
    assert max(few + many) < 6_000


def test_scores_of_segments_leave_nothing_for_the_next_bundle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 4)
    scoring = _ScoreElements(SegmentScores()._scored)
    scoring.setup()
    for bundle in range(2):
        scoring.start_bundle()
        given = []
        for number in range(10):
            element = GlobalWindows.windowed_value((number, segment(number)), bundle)
            given.append(len(scoring.process(element.value, element)))
        assert given == [0, 0, 0, 4] * 2 + [0, 0], "a batch that is full goes on at once"
        last = scoring.finish_bundle()
        assert [value.value[0] for value in last] == [8, 9]
        assert {float(value.timestamp) for value in last} == {bundle}
    assert not scoring.finish_bundle()
