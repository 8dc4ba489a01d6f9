"""The library in streaming pipelines: which panes it gives, and what is in each of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pvalue import PCollection
from apache_beam.testing import test_stream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, window
from apache_beam.transforms.window import TimestampedValue
from apache_beam.typehints import typehints
from found_in_pipelines import FOUND, keep
from pane_scores import in_batch, keyed_by_its_segment, scored, without_its_segment

from beam_bleu import CorpusBleu, SegmentScores

DISCARDING = trigger.AccumulationMode.DISCARDING
ACCUMULATING = trigger.AccumulationMode.ACCUMULATING

EARLY = {
    "each segment": trigger.AfterCount(1),
    "two segments": trigger.AfterCount(2),
    "none": None,
}
"""When a window fires before its end. Late segments fire at once: if segments were left at the
end, Beam's runner would not stop."""

WINDOWS = {"fixed": window.FixedWindows(10), "sliding": window.SlidingWindows(10, 5)}

TEXTS = ["the cat sat on the mat", "a cat sat on a mat", "the dog ran off", "a dog", "", " "]

KEYED = typehints.Tuple[str, Any]


def events(seed: int) -> test_stream.TestStream:
    """Segments with keys in some order, some of them late, and a watermark that goes on."""
    chooser = random.Random(seed)
    stream, now = test_stream.TestStream().advance_watermark_to(0), 0
    for _ in range(10):
        if chooser.random() < 0.6:
            segments = [
                TimestampedValue(
                    (
                        chooser.choice(["one key", "another"]),
                        (chooser.choice(TEXTS), [chooser.choice(TEXTS), "the cat was on the mat"]),
                    ),
                    max(0, now + chooser.randrange(-12, 6)),
                )
                for _ in range(chooser.randrange(1, 6))
            ]
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
) -> Iterator[tuple[Any, ...]]:
    key, value = keyed
    yield name, f"{key} {of_window} {pane.index}", value


def run(build: Any) -> None:
    # Beam's runner for streams in this process.
    options = PipelineOptions(["--streaming"])
    with beam.Pipeline("BundleBasedDirectRunner", options=options) as pipeline:
        build(pipeline)


def windows(windowing: Any, early: Any, mode: Any) -> beam.WindowInto:
    return beam.WindowInto(
        windowing,
        trigger=trigger.AfterWatermark(early=early, late=trigger.AfterCount(1)),
        accumulation_mode=mode,
        allowed_lateness=100,
    )


def listed(keyed: PCollection[Any], label: str) -> PCollection[Any]:
    """The values of each key and pane, by Beam's own combiner."""
    lists = keyed | label >> beam.CombinePerKey(beam.combiners.ToListCombineFn())
    return lists | f"{label} that is not empty" >> beam.Filter(lambda pair: len(pair[1]) > 0)


def assert_each_pane_is_right(stream: test_stream.TestStream, windowing: beam.WindowInto) -> int:
    """Beam's own combiner, with the same trigger, says which segments a pane has.

    Returns:
      How many panes have segments.
    """

    def build(pipeline: beam.Pipeline) -> None:
        segments = pipeline | stream | windowing
        segments = segments | beam.Map(lambda pair: pair).with_output_types(KEYED)
        results = scored(segments)
        results["segments"] = listed(segments, "List segments")
        of_each = (
            segments
            | beam.MapTuple(keyed_by_its_segment).with_output_types(typehints.Tuple[Any, Any])
            | SegmentScores(["bleu", "ter"])
            | "Take the key" >> beam.MapTuple(without_its_segment).with_output_types(KEYED)
        )
        results["SegmentScores"] = listed(of_each, "List scores")
        for name, values in results.items():
            panes = values | f"Panes of {name}" >> beam.FlatMap(of_pane, name)
            _ = panes | f"Keep {name}" >> beam.Map(keep)

    FOUND.clear()
    run(build)
    panes = by_pane(FOUND)
    segments_of = panes.pop("segments")
    expected = in_batch(segments_of)
    for name, of_transform in panes.items():
        assert of_transform.keys() == segments_of.keys(), name
        for pane, result in of_transform.items():
            if name == "SegmentScores":
                assert [segment for segment, _ in result] == segments_of[pane]
                assert by_text(result) == by_text(expected[name][pane])
            else:
                assert result == expected[name][pane], (name, pane)
    return len(segments_of)


@pytest.mark.parametrize(
    ("early", "mode", "windowing"),
    [
        ("each segment", DISCARDING, "sliding"),
        ("two segments", ACCUMULATING, "fixed"),
        ("none", DISCARDING, "fixed"),
    ],
)
def test_each_pane_is_what_a_batch_gives_for_its_segments(
    early: str, mode: Any, windowing: str
) -> None:
    stream = events([*EARLY].index(early))
    assert assert_each_pane_is_right(stream, windows(WINDOWS[windowing], EARLY[early], mode)) > 3


def by_pane(found: Iterable[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    """The results of each transform by their panes. Each pane is there once."""
    panes: dict[str, dict[str, Any]] = {}
    for name, pane, result in found:
        assert pane not in panes.setdefault(name, {})
        panes[name][pane] = result
    return panes


def by_text(scores: Iterable[Any]) -> list[str]:
    """The scores of segments in an order that is always the same."""
    return sorted(map(str, scores))


def test_an_empty_pane_gives_no_element() -> None:
    """At the end of the window nothing has come since the early pane, which was discarded."""

    def build(pipeline: beam.Pipeline) -> None:
        stream = test_stream.TestStream().advance_watermark_to(0)
        stream = stream.add_elements([("a candidate", ["a reference"])])
        counts = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | windows(WINDOWS["fixed"], EARLY["each segment"], DISCARDING)
            | CorpusBleu.Globally()
            | beam.Map(lambda score: score.segments)
        )
        assert_that(counts, equal_to([1]))

    run(build)


def test_an_early_pane_can_wait_for_a_time() -> None:
    def build(pipeline: beam.Pipeline) -> None:
        segment = window.TimestampedValue(("key", ("a candidate", ["a reference"])), 60)
        stream = test_stream.TestStream().advance_watermark_to(0).add_elements([segment, segment])
        stream = stream.advance_processing_time(301).add_elements([segment])
        windowing = windows(
            window.FixedWindows(3600), trigger.AfterProcessingTime(300), ACCUMULATING
        )
        _ = (
            pipeline
            | stream.advance_watermark_to(3601).advance_watermark_to_infinity()
            | windowing
            | CorpusBleu.PerKey()
            | beam.MapTuple(lambda _, score: keep(score.segments))
        )

    FOUND.clear()
    run(build)
    assert FOUND == [2, 3]
