"""The library in a user's pipeline: CorpusBleu and CompareSystems, of segments and of tables."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pytest
import sacrebleu
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from found_in_pipelines import found_in
from hostile_texts import hostile_segments

from beam_bleu import (
    ArrowColumns,
    BleuConfig,
    BleuScore,
    ChrfConfig,
    CompareSystems,
    CorpusBleu,
    CorpusScores,
    score,
)
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.segments import batching
from beam_bleu.transforms.pairing.segments.batching import to_batch

CAT = ("the cat sat on the mat", ["a cat sat on the mat"])
DOG = ("a dog ran in the park today", ["the dog ran in a park today", "a dog in the park"])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 7)


class Language(NamedTuple):
    """A key with its own coder (registered once, at import, like a user's)."""

    code: str
    script: int


beam.coders.registry.register_coder(Language, beam.coders.RowCoder)


def test_globally_gives_sacrebleus_score() -> None:
    options: dict[str, Any] = {"lowercase": True, "max_ngram_order": 2, "smooth_method": "floor"}
    segments = hostile_segments(300)
    streams = [*itertools.zip_longest(*(references for _, references in segments))]
    candidates = [candidate for candidate, _ in segments]
    expected = sacrebleu.BLEU(**options).corpus_score(candidates, streams)
    assert expected.counts[-1] > 0

    (found,) = found_in(segments, CorpusBleu.Globally(BleuConfig(**options)))
    assert isinstance(found, BleuScore)
    assert found.score == expected.score
    assert found.matches == tuple(expected.counts)
    assert found.totals == tuple(expected.totals)
    assert found.precisions == tuple(expected.precisions)
    assert (found.sys_len, found.ref_len) == (expected.sys_len, expected.ref_len)
    assert (found.bp, found.ratio) == (expected.bp, expected.ratio)
    assert found.segments == 300
    assert found.signature.startswith("nrefs:var|")
    assert found.standard_error > 0


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
]


def test_a_malformed_segment_fails_the_job_and_is_shown() -> None:
    for transform, segment, cause in MALFORMED:
        with pytest.raises(Exception, match=re.escape(cause)) as failure:
            found_in([segment], transform())
        # Exit codes and marks are the command's.
        assert "beam-bleu[" not in str(failure.value)
        assert "[beam-bleu." not in str(failure.value)


def test_counters_count_each_segment_once() -> None:
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | beam.Create([CAT, DOG, (" ", ["x"])]) | CorpusBleu.Globally()
    metrics = (
        pipeline.run().metrics().query(beam.metrics.MetricsFilter().with_namespace("beam_bleu"))
    )
    counters = {each.key.metric.name: each.committed for each in metrics["counters"]}
    texts = [CAT[0], *CAT[1], DOG[0], *DOG[1], " ", "x"]
    assert counters == {"segments": 3, "empty_candidates": 1, "bytes": sum(map(len, texts))}


# Several systems, and tables with a segment in each row

SYSTEMS = ("good", "bad", "best")
WORDS = ["a", "b", "c", "d", "e", "the", "of", "in", "to", "cat", "dog"]


def made_segment(rng: random.Random) -> tuple[dict[str, str], list[str | None]]:
    """A segment of systems that keep more or fewer of the words of the reference."""
    words = rng.choices(WORDS, k=rng.randrange(5, 30))
    candidates = {
        system: " ".join(word if rng.random() < share else rng.choice(WORDS) for word in words)
        for system, share in zip(SYSTEMS, (0.8, 0.6, 0.9), strict=True)
    }
    return candidates, [" ".join(words), rng.choice([None, " ".join(words[::-1])])]


RNG = random.Random(1)
SEGMENTS = [made_segment(RNG) for _ in range(120)]
KEYS = [f"k{number % 2}" for number in range(120)]
TABLE = pa.table(
    {
        "key": KEYS,
        **{system: [candidates[system] for candidates, _ in SEGMENTS] for system in SYSTEMS},
        "first": [references[0] for _, references in SEGMENTS],
        "second": [references[1] for _, references in SEGMENTS],
        "lists": [references for _, references in SEGMENTS],
    }
)
TABLES = [
    TABLE.slice(0, 3),
    TABLE.slice(3, 99),
    TABLE.slice(102, 0),
    *TABLE.slice(102).to_batches(),
]


def test_keys_are_scored_apart_also_of_tables() -> None:
    keyed = [
        (key, (candidates["bad"], references))
        for key, (candidates, references) in zip(KEYS, SEGMENTS, strict=True)
    ]
    found = dict(found_in(keyed, CorpusBleu.PerKey(uncertainty=False)))
    assert len(found) == 2
    for start, of_key in enumerate(found.values()):
        texts = TABLE["bad"].to_pylist()[start::2]
        references = TABLE["lists"].to_pylist()[start::2]
        alone = score(texts, references_per_segment=references, uncertainty=False)["bleu"]
        assert found[f"k{start}"] == alone
        assert (of_key.standard_error, of_key.interval, of_key.warnings) == (None, None, ())
    columns = ArrowColumns("bad", "lists", key="key")
    of_tables = found_in(TABLES, CorpusBleu.PerKey(columns=columns, uncertainty=False))
    assert (len(of_tables), dict(of_tables)) == (2, found)
    (whole,) = found_in(TABLES, CorpusBleu.Globally(columns=ArrowColumns("bad", "lists")))
    assert whole.segments == 120


def test_each_system_is_compared_with_the_first_one_for_each_key() -> None:
    keyed = list(zip(KEYS, SEGMENTS, strict=True))
    (expected,) = found_in(SEGMENTS[::2], CompareSystems.Globally(SYSTEMS))
    found = dict(found_in(keyed, CompareSystems.PerKey(SYSTEMS)))
    assert len(found) == 2
    assert found["k0"] == expected
    assert list(expected.scores) == list(SYSTEMS)
    assert [(each.system, each.baseline) for each in expected.comparisons] == [
        ("bad", "good"),
        ("best", "good"),
    ]
    assert expected.clusters == ()
    columns = ArrowColumns({name: name for name in reversed(SYSTEMS)}, ["first", "second"], "key")
    assert dict(found_in(TABLES, CompareSystems.PerKey(SYSTEMS, columns=columns))) == found


BY_KEY = ArrowColumns("candidate", "lists", key="key")
IMPOSSIBLE: list[tuple[Any, str]] = [
    (lambda: CorpusBleu.PerKey("nltk"), "a metric must be one of bleu, "),
    (
        lambda: CorpusBleu.PerKey(BleuConfig(smooth_method="nltk-method6")),
        "is for segment scores only",
    ),
    (lambda: CorpusBleu.Globally(uncertainty="false"), "must be True or False, got 'false'"),
    (lambda: CorpusBleu.PerSystem(uncertainty="false"), "must be True or False, got 'false'"),
    (lambda: CorpusBleu.PerKey(columns=ArrowColumns("c", "r")), "columns have no key"),
    (lambda: CorpusBleu.Globally(columns=BY_KEY), "columns have the key 'key', which only PerKey"),
    (lambda: CorpusBleu.Globally(columns="c"), "columns must be ArrowColumns, got 'c'"),
    # A candidate that is its own reference would get a score of 100.
    (lambda: ArrowColumns("c", ["c"]), "the column 'c' is given as a candidate and as a ref"),
    (lambda: ArrowColumns("c", ["r", "r"]), "the column 'r' is given twice"),
    (lambda: CorpusScores.PerSystem("bleu"), "metrics must be a list of names and configs, got"),
    (lambda: CorpusScores.PerSystem([]), r"must be a list of names and configs, got \[\]"),
    (lambda: CorpusScores.PerSystem(["bleu", None]), "must be one of BleuConfig, .*, got None"),
    (lambda: CorpusScores.PerSystem(["bleu", "blue"]), "one of bleu, chrf, ter, .*, got 'blue'"),
    (
        lambda: CorpusScores.PerSystem(["chrf", ChrfConfig(beta=1)]),
        "metrics must be different ones, got chrf twice",
    ),
    (lambda: CompareSystems.PerKey(["one", "one"]), "two or more different names"),
    (lambda: CompareSystems.PerKey("one"), "systems must be a list of strings, got 'one'"),
    (
        lambda: CompareSystems.PerKey(["one", "two"], baseline="three"),
        "one of one, two, got 'three'",
    ),
    (
        lambda: CompareSystems.PerKey(["one", "two"], all_pairs="no"),
        "all_pairs must be True or False, got 'no'",
    ),
]


def test_what_is_impossible_is_refused_at_construction() -> None:
    for construct, message in IMPOSSIBLE:
        with pytest.raises(ValueError, match=message):
            construct()
    for candidates in ({"good": "a", "bad": "b"}, dict.fromkeys((*SYSTEMS, "other"), "a"), "a"):
        with pytest.raises(InputError, match="a dict with those of good, bad, best, got"):
            to_batch([(candidates, ["a"])], SYSTEMS)
