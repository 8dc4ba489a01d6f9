"""The library on tables of Arrow, and on keys and windows that change from segment to segment."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from found_in_pipelines import found_in
from scoring import score_of

from beam_bleu import (
    ArrowColumns,
    BleuConfig,
    CompareSystems,
    CorpusBleu,
)

WORDS = ["a", "b", "the", "of", "cat", "3.14", "é", ";", "."]


def made_segments(count: int) -> list[tuple[str, str, list[str | None]]]:
    """(key, candidate, [reference, reference or None])."""
    rng = random.Random(5)
    segments: list[tuple[str, str, list[str | None]]] = []
    for _ in range(count):
        words = rng.choices(WORDS, k=rng.randrange(20))
        other = [word if rng.random() < 0.8 else rng.choice(WORDS) for word in words]
        second = rng.choice([None, " ".join(words[1:])])
        segments.append((rng.choice("abcdefg"), " ".join(other), [" ".join(words), second]))
    return segments


SEGMENTS = made_segments(350)
SINGLE = [(candidate, references) for _, candidate, references in SEGMENTS]
KEYED = [(key, (candidate, references)) for key, candidate, references in SEGMENTS]
TABLE = pa.table(
    {
        "key": [key for key, _, _ in SEGMENTS],
        "candidate": [candidate for _, candidate, _ in SEGMENTS],
        "upper": [candidate.upper() for _, candidate, _ in SEGMENTS],
        "first": [references[0] for _, _, references in SEGMENTS],
        "second": [references[1] for _, _, references in SEGMENTS],
        "lists": [references for _, _, references in SEGMENTS],
    }
)
TABLES = [
    TABLE.slice(0, 3),
    TABLE.slice(3, 300),
    TABLE.slice(303, 0),
    *TABLE.slice(303).to_batches(),
]
GLOBAL = ArrowColumns("candidate", ["first", "second"])
BY_KEY = ArrowColumns("candidate", "lists", key="key")


def test_tables_give_the_score_of_their_segments() -> None:
    config = BleuConfig(lowercase=True)
    (expected,) = found_in(SINGLE, CorpusBleu.Globally(config))
    assert expected.score == score_of(SINGLE, config).score
    assert expected.standard_error
    assert found_in(TABLES, CorpusBleu.Globally(config, columns=GLOBAL)) == [expected]


def test_tables_with_keys_give_the_scores_of_their_segments() -> None:
    expected = dict(found_in(KEYED, CorpusBleu.PerKey()))
    assert len(expected) == 7
    for key, score in expected.items():
        alone = [segment for other, segment in KEYED if other == key]
        assert score.score == score_of(alone, BleuConfig()).score
    found = found_in(TABLES, CorpusBleu.PerKey(columns=BY_KEY))
    assert dict(found) == expected
    assert len(found) == 7


def test_tables_of_systems_are_compared() -> None:
    segments = [
        ({"old": candidate, "new": candidate.upper()}, references)
        for candidate, references in SINGLE
    ]
    keys = [key for key, _ in KEYED]
    columns = ArrowColumns({"new": "upper", "old": "candidate"}, ["first", "second"], "key")
    systems = ["old", "new"]
    elements = list(zip(keys, segments, strict=True))
    expected = dict(found_in(elements, CompareSystems.PerKey(systems)))
    assert dict(found_in(TABLES, CompareSystems.PerKey(systems, columns=columns))) == expected


WRONG: list[tuple[Any, Any, str]] = [
    (CorpusBleu.PerKey, GLOBAL, "columns have no key"),
    (CorpusBleu.Globally, BY_KEY, "columns have the key 'key', which only PerKey and SumSegments"),
    (CorpusBleu.Globally, "candidate", "columns must be ArrowColumns, got 'candidate'"),
]


def test_columns_that_do_not_fit_are_refused_at_construction() -> None:
    for transform, given, cause in WRONG:
        with pytest.raises(ValueError, match=cause):
            transform(columns=given)
    # A candidate that is its own reference would get a score of 100.
    with pytest.raises(ValueError, match="the column 'c' is given as a candidate and as a ref"):
        ArrowColumns("c", ["c"])
    with pytest.raises(ValueError, match="the column 'r' is given twice"):
        ArrowColumns("c", ["r", "r"])
