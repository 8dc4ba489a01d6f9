"""The library: several metrics in one pass, each with the score that it has alone."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.pipeline import PipelineVisitor
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, window
from apache_beam.transforms.window import TimestampedValue
from command_line import REFERENCES, SYSTEMS

from beam_bleu import (
    ArrowColumns,
    BleuConfig,
    ChrfConfig,
    CorpusScore,
    CorpusScores,
    ReadLineParallel,
    TerConfig,
)
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS, kind_of
from beam_bleu.transforms.pairing.segments import gather

CONFIGS = {
    "ter": TerConfig(no_punct=True),
    "bleu": BleuConfig(tokenize="char", smooth_method="floor"),
    "chrf": ChrfConfig(word_order=2),
}
WORDS = ("the cat", "sat , on", "a mat .", "in the", "blue house !", "today", "<skipped>")
SEGMENTS = [
    (
        f"{WORDS[i % 7]} {WORDS[i % 5]}",
        [f"{WORDS[i % 7]} {WORDS[i % 3]}", WORDS[i % 4]][: 1 + i % 2],
    )
    for i in range(80)
]
KEYED = [("odd" if i % 2 else "even", segment) for i, segment in enumerate(SEGMENTS)]


def given_by(source: Any, transform: beam.PTransform) -> list[Any]:
    """What a transform gives for a source of segments."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found"
        with beam.Pipeline(runner=FnApiRunner()) as pipeline:
            _ = (
                pipeline
                | "Source" >> source
                | "Score" >> transform
                | beam.combiners.ToList()
                | beam.Map(pickle.dumps)
                | beam.Map(file.write_bytes)
            )
        found: list[Any] = pickle.loads(file.read_bytes())
    return found


@pytest.fixture(autouse=True)
def many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "_BATCH_SEGMENTS", 7)


@pytest.mark.parametrize("uncertainty", [True, False])
def test_each_score_is_the_one_of_a_single_metric(uncertainty: bool) -> None:
    several = CorpusScores.Globally(metrics=[*CONFIGS.values()], uncertainty=uncertainty)
    (scores,) = given_by(beam.Create(SEGMENTS), several)
    assert list(scores) == [*CONFIGS]
    for name, config in CONFIGS.items():
        alone = CorpusScore.Globally(config, uncertainty=uncertainty)
        assert given_by(beam.Create(SEGMENTS), alone) == [scores[name]]
        assert (scores[name].standard_error is not None) == uncertainty


def test_each_key_has_scores_of_its_own() -> None:
    found = dict(given_by(beam.Create(KEYED), CorpusScores.PerKey([*CONFIGS.values()])))
    assert found.keys() == {"odd", "even"}
    for name, config in CONFIGS.items():
        alone = given_by(beam.Create(KEYED), CorpusScore.PerKey(config))
        assert {key: scores[name] for key, scores in found.items()} == dict(alone)


def test_each_system_has_scores_of_its_own() -> None:
    systems = {name: str(SYSTEMS[name]) for name in ("atlas", "cobalt")}
    references = [*map(str, REFERENCES)]
    reading = ReadLineParallel(systems, references)
    found = dict(given_by(reading, CorpusScores.PerSystem([*CONFIGS.values()])))
    assert list(found) == ["atlas", "cobalt"]
    for name, config in CONFIGS.items():
        alone = given_by(ReadLineParallel(systems, references), CorpusScore.PerSystem(config))
        assert {system: scores[name] for system, scores in found.items()} == dict(alone)


def test_names_stand_for_the_usual_definitions() -> None:
    (scores,) = given_by(beam.Create(SEGMENTS), CorpusScores.Globally([*METRICS_OF_TEXTS]))
    assert list(scores) == [*METRICS_OF_TEXTS]
    for name, score in scores.items():
        assert type(score) is kind_of(name).score_type
    configs = [kind_of(name).config() for name in METRICS_OF_TEXTS]
    assert given_by(beam.Create(SEGMENTS), CorpusScores.Globally(configs)) == [scores]


def test_tables_are_scored_by_several_metrics() -> None:
    table = pa.table(
        {"hyp": [text for text, _ in SEGMENTS], "refs": [each for _, each in SEGMENTS]}
    )
    columns = ArrowColumns("hyp", "refs")
    found = given_by(beam.Create([table]), CorpusScores.Globally(["bleu", "chrf"], columns=columns))
    assert found == given_by(beam.Create(SEGMENTS), CorpusScores.Globally(["bleu", "chrf"]))


@pytest.mark.parametrize(
    "mode", [trigger.AccumulationMode.ACCUMULATING, trigger.AccumulationMode.DISCARDING]
)
def test_every_pane_has_the_same_segments_of_each_metric(mode: Any) -> None:
    elements = [TimestampedValue(segment, at) for at, segment in enumerate(SEGMENTS)]

    def check(found: list[dict[str, Any]]) -> None:
        assert found
        for scores in found:
            assert list(scores) == ["bleu", "chrf", "ter"]
            assert len({score.segments for score in scores.values()}) == 1
        assert max(scores["ter"].segments for scores in found) == 20

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        windowed = (
            pipeline
            | beam.Create(elements)
            | beam.WindowInto(
                window.FixedWindows(20),
                trigger=trigger.Repeatedly(trigger.AfterCount(3)),
                accumulation_mode=mode,
            )
        )
        assert_that(windowed | CorpusScores.Globally(["bleu", "chrf", "ter"]), check)


def test_the_segments_are_gathered_and_added_up_once() -> None:
    labels: list[str] = []

    class Labels(PipelineVisitor):
        def visit_transform(self, applied: Any) -> None:
            labels.append(applied.full_label)

    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | beam.Create(SEGMENTS) | "Score" >> CorpusScores.Globally([*METRICS_OF_TEXTS])
    pipeline.visit(Labels())
    steps = [label for label in labels if label.startswith("Score/")]
    assert steps.count("Score/Gather segments/Fill batches") == 1
    assert steps.count("Score/Count matches") == 1
    assert [step for step in steps if step.endswith("GroupByKey")] == ["Score/Add up/GroupByKey"]


def test_an_empty_input_gives_no_element() -> None:
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = pipeline | beam.Create([]) | CorpusScores.Globally(["bleu", "ter"])
        assert_that(scores, equal_to([]))


@pytest.mark.parametrize("transform", [CorpusScores.Globally, CorpusScores.PerSystem])
@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("bleu", "metrics must be a list of names and configs, got 'bleu'"),
        ([], r"metrics must be a list of names and configs, got \[\]"),
        ({"bleu": BleuConfig()}, "metrics must be a list of names and configs, got {'bleu'"),
        (BleuConfig(), "metrics must be a list of names and configs, got BleuConfig"),
        (["bleu", None], "metrics must be a list of names and configs, got one that is None"),
        (["bleu", "blue"], "a metric must be one of bleu, chrf, ter, .*, got 'blue'"),
        (["bleu", 3], "config must be a BleuConfig or a .*, got 3"),
        (["chrf", ChrfConfig(beta=1)], "metrics must be different ones, got chrf, chrf"),
    ],
    ids=str,
)
def test_impossible_metrics_are_refused(transform: Any, metrics: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transform(metrics)
