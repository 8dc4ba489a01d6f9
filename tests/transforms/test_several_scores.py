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
KEYED = [("odd" if i % 2 else "even", segment) for i, segment in enumerate(SEGMENTS)]


@pytest.fixture(autouse=True)
def many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 7)


@pytest.mark.parametrize("uncertainty", [True, False])
def test_each_score_is_the_one_of_a_single_metric(uncertainty: bool) -> None:
    several = CorpusScores.Globally(metrics=[*CONFIGS.values()], uncertainty=uncertainty)
    (scores,) = found_in(SEGMENTS, several)
    assert list(scores) == [*CONFIGS]
    for name, config in CONFIGS.items():
        alone = CorpusScore.Globally(config, uncertainty=uncertainty)
        assert found_in(SEGMENTS, alone) == [scores[name]]
        assert (scores[name].standard_error is not None) == uncertainty


def test_each_key_has_scores_of_its_own() -> None:
    found = dict(found_in(KEYED, CorpusScores.PerKey([*CONFIGS.values()])))
    assert found.keys() == {"odd", "even"}
    for name, config in CONFIGS.items():
        alone = found_in(KEYED, CorpusScore.PerKey(config))
        assert {key: scores[name] for key, scores in found.items()} == dict(alone)


def test_each_system_has_scores_of_its_own() -> None:
    systems = {name: str(SYSTEMS[name]) for name in ("atlas", "cobalt")}
    references = [*map(str, REFERENCES)]
    reading = ReadLineParallel(systems, references)
    found = dict(found_in(reading, CorpusScores.PerSystem([*CONFIGS.values()])))
    assert list(found) == ["atlas", "cobalt"]
    for name, config in CONFIGS.items():
        alone = found_in(ReadLineParallel(systems, references), CorpusScore.PerSystem(config))
        assert {system: scores[name] for system, scores in found.items()} == dict(alone)


@pytest.mark.parametrize(
    "transform",
    [
        CorpusScores.Globally,
        CorpusScores.PerSystem,
    ],
)
@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("bleu", "metrics must be a list of names and configs, got 'bleu'"),
        ([], r"metrics must be a list of names and configs, got \[\]"),
        (["bleu", None], "config must be one of BleuConfig, .*, got None"),
        (["bleu", "blue"], "a metric must be one of bleu, chrf, ter, .*, got 'blue'"),
        (["chrf", ChrfConfig(beta=1)], "metrics must be different ones, got chrf twice"),
    ],
    ids=str,
)
def test_impossible_metrics_are_refused(transform: Any, metrics: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transform(metrics)
