"""The library in streaming pipelines: which panes it gives, and what is in each of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing import test_stream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, window
from apache_beam.transforms.window import TimestampedValue
from scoring import score_of

from beam_bleu import (
    BleuConfig,
    CompareSystems,
    CorpusBleu,
    SumSegments,
    bleu_of_sums,
)

CONFIG = BleuConfig()
DISCARDING = trigger.AccumulationMode.DISCARDING
ACCUMULATING = trigger.AccumulationMode.ACCUMULATING

TRIGGERS = {
    "each segment": trigger.AfterCount(1),
    "two segments": trigger.AfterCount(2),
    "none": None,
}
"""When a window fires before its end. Late segments fire at once: if segments were left at the
end, Beam's runner would not stop."""

TEXTS = ["the cat sat on the mat", "a cat sat on a mat", "the dog ran off", "a dog", "", " "]


def events(seed: int) -> test_stream.TestStream:
    """Segments with keys in some order, some of them late, and a watermark that goes on."""
    chooser = random.Random(seed)
    stream, now = test_stream.TestStream().advance_watermark_to(0), 0
    for _ in range(12):
        if chooser.random() < 0.6:
            segments = [
                TimestampedValue(
                    (
                        chooser.choice(["one key", "another"]),
                        (chooser.choice(TEXTS), [chooser.choice(TEXTS), "the cat was on the mat"]),
                    ),
                    max(0, now + chooser.randrange(-12, 6)),
                )
                for _ in range(chooser.randrange(1, 4))
            ]
            stream = stream.add_elements(segments)
        else:
            now += chooser.randrange(1, 12)
            stream = stream.advance_watermark_to(now)
    return stream.advance_watermark_to_infinity()


def pane_of(
    keyed: tuple[str, Any],
    of_window: Any = beam.DoFn.WindowParam,
    pane: Any = beam.DoFn.PaneInfoParam,
) -> Iterator[tuple[Any, ...]]:
    key, value = keyed
    yield key, str(of_window), pane.index, value


def run(build: Any) -> None:
    # Beam's runner for streams in this process.
    options = PipelineOptions(["--streaming"])
    with beam.Pipeline("BundleBasedDirectRunner", options=options) as pipeline:
        build(pipeline)


def windows(early: str, mode: Any) -> beam.WindowInto:
    return beam.WindowInto(
        window.FixedWindows(10),
        trigger=trigger.AfterWatermark(early=TRIGGERS[early], late=trigger.AfterCount(1)),
        accumulation_mode=mode,
        allowed_lateness=100,
    )


def right(segments: list[Any]) -> tuple[int, float]:
    score = score_of(segments, CONFIG)
    return score.segments, score.score


def systems_of(keyed: Any) -> Any:
    key, (candidate, references) = keyed
    return key, ({"one": candidate, "other": references[0]}, references)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mode", [DISCARDING, ACCUMULATING])
@pytest.mark.parametrize("early", TRIGGERS)
def test_each_pane_has_the_score_of_its_segments(early: str, mode: Any, seed: int) -> None:
    """Beam's own combiner, with the same trigger, says which segments a pane has."""

    def build(pipeline: beam.Pipeline) -> None:
        segments = pipeline | events(seed) | windows(early, mode)
        lists = segments | beam.CombinePerKey(beam.combiners.ToListCombineFn())
        scores = segments | "CorpusBleu" >> CorpusBleu.PerKey(CONFIG)
        sums = segments | SumSegments(CONFIG)
        compared = (
            segments
            | beam.Map(systems_of)
            | "CompareSystems" >> CompareSystems.PerKey(["one", "other"], CONFIG)
        )
        found = {
            "right": lists
            | "Leave out panes of nothing" >> beam.Filter(lambda keyed: len(keyed[1]) > 0)
            | "Score" >> beam.MapTuple(lambda key, value: (key, right(value))),
            "CorpusBleu": scores
            | "Two" >> beam.MapTuple(lambda key, value: (key, (value.segments, value.score))),
            "SumSegments": sums
            | beam.MapTuple(lambda key, row: (key, (row["segments"], bleu_of_sums(row).score))),
            "CompareSystems": compared
            | beam.MapTuple(
                lambda key, value: (key, (value.scores["one"].segments, value.scores["one"].score))
            ),
        }

        def check(found_panes: list[tuple[str, Any]]) -> None:
            panes: dict[str, list[Any]] = {transform: [] for transform in found}
            for transform, pane in found_panes:
                panes[transform].append(pane)
            assert len(panes["right"]) > 1
            for transform in found:
                assert sorted(panes[transform]) == sorted(panes["right"]), transform

        panes = [
            values
            | f"Panes of {transform}" >> beam.FlatMap(pane_of)
            | f"Name {transform}" >> beam.Map(lambda pane, name=transform: (name, pane))
            for transform, values in found.items()
        ]
        assert_that(panes | beam.Flatten(), check)

    run(build)


def test_an_empty_pane_gives_no_element() -> None:
    """At the end of the window nothing has come since the early pane, which was discarded."""

    def build(pipeline: beam.Pipeline) -> None:
        stream = test_stream.TestStream().advance_watermark_to(0)
        stream = stream.add_elements([("a candidate", ["a reference"])])
        counts = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | windows("each segment", DISCARDING)
            | CorpusBleu.Globally()
            | beam.Map(lambda score: score.segments)
        )
        assert_that(counts, equal_to([1]))

    run(build)


def test_a_pane_of_empty_texts_has_an_element() -> None:
    def build(pipeline: beam.Pipeline) -> None:
        stream = test_stream.TestStream().advance_watermark_to(0).add_elements([("", [""])])
        counts = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | beam.WindowInto(window.FixedWindows(10))
            | CorpusBleu.Globally()
            | beam.Map(lambda score: (score.segments, score.score))
        )
        assert_that(counts, equal_to([(1, 0.0)]))

    run(build)
