"""The library in streaming pipelines: what is in each pane, and what a window keeps until then."""

from __future__ import annotations

import random
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing import test_stream
from apache_beam.transforms import trigger, window
from apache_beam.transforms.window import TimestampedValue
from apache_beam.typehints import typehints
from found_in_pipelines import FOUND, keep

from beam_bleu import (
    ChrfConfig,
    CompareSystems,
    CorpusBleu,
    CorpusScores,
    SegmentScores,
    SumSegments,
)
from beam_bleu.transforms.wiring.steps import AddUp

TEXTS = ["the cat sat on the mat", "a cat sat on a mat", "the dog ran off", "a dog", "", " "]
KEYED = typehints.Tuple[str, Any]
SYSTEMS = ["one", "other"]


def of_systems(key: str, segment: Any) -> tuple[str, Any]:
    """The candidate as a system, and the first reference as another one."""
    candidate, references = segment
    return key, ({"one": candidate, "other": references[0]}, references)


def scored(segments: beam.PCollection[Any]) -> dict[str, beam.PCollection[Any]]:
    """What each transform that adds up gives: (key, result), by the name of the transform."""
    systems = segments | "Take systems" >> beam.MapTuple(of_systems).with_output_types(KEYED)
    metrics = ["bleu", ChrfConfig(word_order=2), "ter"]
    return {
        "CorpusBleu": segments | "CorpusBleu" >> CorpusBleu.PerKey(),
        "CorpusScores": segments | "CorpusScores" >> CorpusScores.PerKey(metrics),
        "CompareSystems": systems | "CompareSystems" >> CompareSystems.PerKey(SYSTEMS),
        "SumSegments": segments | "SumSegments" >> SumSegments(),
    }


def events(seed: int) -> test_stream.TestStream:
    """Segments with keys in some order, some of them late, and a watermark that goes on."""
    chooser = random.Random(seed)
    stream, now = test_stream.TestStream().advance_watermark_to(0), 0
    for _ in range(10):
        if chooser.random() < 0.6:
            segments = []
            for _ in range(chooser.randrange(1, 6)):
                references = [chooser.choice(TEXTS), "the cat was on the mat"]
                keyed = chooser.choice(["one key", "another"]), (chooser.choice(TEXTS), references)
                segments.append(TimestampedValue(keyed, max(0, now + chooser.randrange(-12, 6))))
            stream = stream.add_elements(segments)
        else:
            now += chooser.randrange(1, 12)
            stream = stream.advance_watermark_to(now)
    return stream.advance_watermark_to_infinity()


def of_pane(
    keyed: tuple[str, Any],
    name: str,
    of_window: Any = beam.DoFn.WindowParam,
    pane: Any = beam.DoFn.PaneInfoParam,
) -> tuple[Any, ...]:
    key, value = keyed
    return name, f"{key} {of_window} {pane.index}", value


def listed(keyed: beam.PCollection[Any], label: str) -> beam.PCollection[Any]:
    """The values of each key and pane, by Beam's own combiner."""
    lists = keyed | label >> beam.CombinePerKey(beam.combiners.ToListCombineFn())
    return lists | f"{label} that is not empty" >> beam.Filter(lambda pair: len(pair[1]) > 0)


def results_of(pipeline: beam.Pipeline, *steps: Any) -> dict[str, dict[str, Any]]:
    """What each transform gives for each key and pane of the segments that these steps give."""
    FOUND.clear()
    with pipeline:
        segments: Any = pipeline
        for step in (*steps, beam.Map(lambda pair: pair).with_output_types(KEYED)):
            segments |= step
        scores_of_each = (
            segments
            | "Add the segment to its key" >> beam.Map(lambda pair: (pair, pair[1]))
            | SegmentScores(["bleu", "ter"])
            | "Take the key" >> beam.Map(lambda pair: (pair[0][0], (pair[0][1], pair[1])))
        )
        results = {
            **scored(segments),
            "segments": listed(segments, "List segments"),
            "SegmentScores": listed(scores_of_each, "List scores"),
        }
        for name, values in results.items():
            panes = values | f"Panes of {name}" >> beam.Map(of_pane, name)
            _ = panes | f"Keep {name}" >> beam.Map(keep)
    found: dict[str, dict[str, Any]] = {name: {} for name in results}
    for name, pane, result in FOUND:
        assert pane not in found[name]
        found[name][pane] = result
    return found


@pytest.mark.parametrize(
    ("early", "mode", "windowing"),
    [
        (1, trigger.AccumulationMode.DISCARDING, window.SlidingWindows(10, 5)),
        (2, trigger.AccumulationMode.ACCUMULATING, window.FixedWindows(10)),
    ],
    ids=["discarding", "accumulating"],
)
def test_each_pane_is_what_a_batch_gives_for_its_segments(early, mode, windowing):
    """Beam's own combiner, with the same trigger, says which segments a pane has.

    A discarding window has empty panes, too, for which there is no element. Late segments fire at
    once: if segments were left at the end, Beam's runner would not stop.
    """
    into_windows = beam.WindowInto(
        windowing,
        trigger=trigger.AfterWatermark(early=trigger.AfterCount(early), late=trigger.AfterCount(1)),
        accumulation_mode=mode,
        allowed_lateness=100,
    )
    # Beam's runner for streams in this process.
    options = PipelineOptions(["--streaming"])
    stream = beam.Pipeline("BundleBasedDirectRunner", options=options)
    found = results_of(stream, events(early - 1), into_windows)
    segments_of = found["segments"]
    assert len(segments_of) > 3
    for pane, scores in found["SegmentScores"].items():
        assert [segment for segment, _ in scores] == segments_of[pane]
    named = [(pane, segment) for pane, segments in segments_of.items() for segment in segments]
    in_batch = results_of(beam.Pipeline(runner=FnApiRunner()), beam.Create(named))
    for name, of_panes in in_batch.items():
        expected = {key.removesuffix(" GlobalWindow 0"): each for key, each in of_panes.items()}
        if name in ("SegmentScores", "segments"):  # lists, in any order
            for lists in (found[name], expected):
                lists.update({pane: sorted(map(str, listed)) for pane, listed in lists.items()})
        assert found[name] == expected


def keyed_segments(count: int) -> list[tuple[str, Any]]:
    """Segments of one key."""
    return [
        (
            "a key",
            (
                f"the cat {number % 97} sat on the mat and {number % 7} dogs ran",
                [f"a cat {number % 97} sat on the mat while {number % 5} dogs ran"],
            ),
        )
        for number in range(count)
    ]


def test_ten_times_the_segments_need_no_more_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers get longer; a bundle adds one sum, and not one for each segment."""
    sizes: list[int] = []
    added: list[Any] = []
    extract, add = AddUp.extract_output, AddUp.add_input

    def extract_output(adding: AddUp, accumulator: Any) -> Any:
        assert {*accumulator.metrics[0].segments.values()} == {3_000}
        sizes.append(len(adding.get_accumulator_coder().encode(accumulator)))
        return extract(adding, accumulator)

    def add_input(adding: AddUp, accumulator: Any, sums: Any) -> Any:
        added.append(sums)
        return add(adding, accumulator, sums)

    monkeypatch.setattr(AddUp, "extract_output", extract_output)
    monkeypatch.setattr(AddUp, "add_input", add_input)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        segments = beam.FlatMap(keyed_segments).with_output_types(KEYED)
        results = scored(pipeline | beam.Create([3_000], reshuffle=False) | segments)
    assert len(sizes) == len(added) == len(results)
    assert max(sizes) < 6_000
