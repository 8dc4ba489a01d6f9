"""The library: several metrics in one pass, each with the score that it has alone."""

from __future__ import annotations

from typing import Any

import pytest
from command_line import REFERENCES, SYSTEMS
from found_in_pipelines import found_in

from beam_bleu import (
    BleuConfig,
    ChrfConfig,
    CorpusScore,
    CorpusScores,
    ReadLineParallel,
    TerConfig,
)
from beam_bleu.transforms.pairing.segments import batching

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


@pytest.fixture(autouse=True)
def many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 7)


def test_each_score_is_the_one_of_a_single_metric() -> None:
    keyed = [("one", segment) for segment in SEGMENTS]
    ((_, scores),) = found_in(keyed, CorpusScores.PerKey([*CONFIGS.values()]))
    assert list(scores) == [*CONFIGS]
    for name, config in CONFIGS.items():
        assert found_in(SEGMENTS, CorpusScore.Globally(config)) == [scores[name]]


def test_each_system_has_scores_of_its_own() -> None:
    systems = {name: str(SYSTEMS[name]) for name in ("atlas", "cobalt")}
    references = [*map(str, REFERENCES)]
    reading = ReadLineParallel(systems, references)
    found = dict(found_in(reading, CorpusScores.PerSystem([*CONFIGS.values()])))
    assert list(found) == ["atlas", "cobalt"]
    for name, config in CONFIGS.items():
        alone = found_in(ReadLineParallel(systems, references), CorpusScore.PerSystem(config))
        assert {system: scores[name] for system, scores in found.items()} == dict(alone)


IMPOSSIBLE: list[tuple[Any, str]] = [
    ("bleu", "metrics must be a list of names and configs, got 'bleu'"),
    ([], r"metrics must be a list of names and configs, got \[\]"),
    (["bleu", None], "config must be one of BleuConfig, .*, got None"),
    (["bleu", "blue"], "a metric must be one of bleu, chrf, ter, .*, got 'blue'"),
    (["chrf", ChrfConfig(beta=1)], "metrics must be different ones, got chrf twice"),
]


def test_impossible_metrics_are_refused() -> None:
    for metrics, message in IMPOSSIBLE:
        with pytest.raises(ValueError, match=message):
            CorpusScores.PerSystem(metrics)
