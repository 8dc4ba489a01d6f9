"""The library: CorpusBleu in a user's pipeline."""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
import sacrebleu
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from command_line import REFERENCES, SYSTEMS
from found_in_pipelines import found_in

from beam_bleu import (
    BleuConfig,
    BleuScore,
    ChrfConfig,
    CorpusBleu,
    CorpusScore,
    CorpusScores,
    ReadLineParallel,
    TerConfig,
)
from beam_bleu.transforms.pairing.segments import batching

CAT = ("the cat sat on the mat", ["a cat sat on the mat"])
DOG = ("a dog ran in the park today", ["the dog ran in a park today", "a dog in the park"])

HOSTILE_PIECES = [
    *("a", "b", "the", "cat", ".", ",", "-", ";", "\n", "-\n", "<skipped>", "&amp;lt;", "&quot;"),
    *("3.14", "5...5", "é", "Ş", "😀", "\u2028", "\x85", " ", "\t", "\u3000", "longlonglongword"),
]


class Language(NamedTuple):
    """A key with its own coder (registered once, at import, like a user's)."""

    code: str
    script: int


beam.coders.registry.register_coder(Language, beam.coders.RowCoder)


def hostile_segments(count: int, seed: int) -> list[tuple[str, list[str | None]]]:
    """Segments whose references are often similar to their candidate, and sometimes missing."""
    rng = random.Random(seed)

    def text() -> str:
        return "".join(rng.choice(HOSTILE_PIECES) for _ in range(rng.randrange(25)))

    segments: list[tuple[str, list[str | None]]] = []
    for _ in range(count):
        candidate = text()
        near = candidate.replace("a", rng.choice("ab"), 1) + rng.choice(["", " the", "."])
        others = [rng.choice([None, text(), ""]) for _ in range(rng.randrange(3))]
        segments.append((candidate, [near, *others]))
    return segments


def sacrebleu_score(segments: list[tuple[str, list[str | None]]], **options: Any) -> Any:
    """sacreBLEU's score of segments. It takes streams of references, so missing ones are None."""
    most = max(len(references) for _, references in segments)
    streams = [
        [references[i] if i < len(references) else None for _, references in segments]
        for i in range(most)
    ]
    return sacrebleu.BLEU(**options).corpus_score([text for text, _ in segments], streams)


def test_globally_gives_sacrebleus_score(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"lowercase": True, "max_ngram_order": 2, "smooth_method": "floor"}
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 7)
    segments = hostile_segments(300, seed=1)
    expected = sacrebleu_score(segments, **options)
    assert expected.counts[-1] > 0

    (score,) = found_in(segments, CorpusBleu.Globally(BleuConfig(**options)))
    assert isinstance(score, BleuScore)
    assert score.score == expected.score
    assert score.matches == tuple(expected.counts)
    assert score.totals == tuple(expected.totals)
    assert score.precisions == tuple(expected.precisions)
    assert (score.sys_len, score.ref_len) == (expected.sys_len, expected.ref_len)
    assert (score.bp, score.ratio) == (expected.bp, expected.ratio)
    assert score.segments == 300
    assert score.signature.startswith("nrefs:var|")


def test_a_key_keeps_its_type_and_so_its_coder() -> None:
    keyed = [(Language("sr", 1), CAT), (Language("sr", 2), CAT)]
    typed = beam.Map(lambda pair: pair).with_output_types(beam.typehints.Tuple[Language, Any])
    scores = beam.Pipeline() | beam.Create(keyed) | typed | CorpusBleu.PerKey()
    assert scores.element_type.tuple_types[0] is Language
    found = found_in(keyed, typed, CorpusBleu.PerKey(), beam.Keys())
    assert sorted((key.code, key.script) for key in found) == [("sr", 1), ("sr", 2)]


def test_an_empty_input_gives_no_element() -> None:
    assert found_in([], CorpusBleu.PerKey()) == []


MALFORMED: list[tuple[Any, Any, str]] = [
    (CorpusBleu.Globally, ("all missing", [None]), "the candidate 'all missing' has no reference"),
    (CorpusBleu.Globally, ("alone",), "a segment is (candidate, [reference, ...]), got ('alone',)"),
    # Else "key" would be scored against two references.
    (CorpusBleu.Globally, ("key", ("candidate", "reference")), "references must be a list of str"),
    (CorpusBleu.PerKey, ("key", ("candidate", ("reference",))), "references must be a list of str"),
]


@pytest.mark.parametrize(("transform", "segment", "cause"), MALFORMED)
def test_a_malformed_segment_fails_the_job_and_is_shown(
    transform: Any, segment: Any, cause: str
) -> None:
    with pytest.raises(Exception, match=re.escape(cause)) as failure:
        found_in([segment], transform())
    # Exit codes and marks are the command's.
    assert "beam-bleu[" not in str(failure.value)
    assert "[beam-bleu." not in str(failure.value)


def test_what_is_impossible_is_refused_at_construction() -> None:
    with pytest.raises(ValueError, match="a metric must be one of bleu, "):
        CorpusBleu.PerKey("nltk")
    with pytest.raises(ValueError, match="is for segment scores only"):
        CorpusBleu.PerKey(BleuConfig(smooth_method="nltk-method6"))
    for transform in (CorpusBleu.Globally, CorpusBleu.PerSystem):
        with pytest.raises(ValueError, match="uncertainty must be True or False, got 'false'"):
            transform(uncertainty="false")  # type: ignore[arg-type]


def test_counters_count_each_segment_once() -> None:
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | beam.Create([CAT, DOG, (" ", ["x"])]) | CorpusBleu.Globally()
    result = pipeline.run()
    counters = {
        counter.key.metric.name: counter.committed
        for counter in result.metrics().query(
            beam.metrics.MetricsFilter().with_namespace("beam_bleu")
        )["counters"]
    }
    texts = [CAT[0], *CAT[1], DOG[0], *DOG[1], " ", "x"]
    assert counters == {"segments": 3, "empty_candidates": 1, "bytes": sum(map(len, texts))}


CONFIGS = {
    "ter": TerConfig(no_punct=True),
    "bleu": BleuConfig(tokenize="char", smooth_method="floor"),
    "chrf": ChrfConfig(word_order=2),
}


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
