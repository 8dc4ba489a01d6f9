"""The library: CompareSystems, and the standard errors of CorpusBleu."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from found_in_pipelines import found_in

from beam_bleu import (
    ComparedSystems,
    CompareSystems,
    CorpusBleu,
    SystemComparison,
)
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.segments import batching
from beam_bleu.transforms.pairing.segments.batching import to_batch

SYSTEMS = ("good", "bad", "best")
KEPT = {"good": 0.8, "bad": 0.6, "best": 0.9}
WORDS = ["a", "b", "c", "d", "e", "the", "of", "in", "to", "cat", "dog"]

Segment = tuple[dict[str, str], list[str | None]]


def made_segments(number: int, seed: int = 1) -> list[Segment]:
    """Segments of systems that keep more or fewer of the words of the reference."""
    rng = random.Random(seed)
    segments: list[Segment] = []
    for _ in range(number):
        words = rng.choices(WORDS, k=rng.randrange(5, 30))
        candidates = {
            system: " ".join(word if rng.random() < share else rng.choice(WORDS) for word in words)
            for system, share in KEPT.items()
        }
        segments.append((candidates, [" ".join(words), None, " ".join(words[::-1])]))
    return segments


SEGMENTS = made_segments(200)


def of_system(system: str, segments: list[Segment] = SEGMENTS) -> list[Any]:
    return [(candidates[system], references) for candidates, references in segments]


def test_the_standard_error_does_not_depend_on_batches_and_keys(monkeypatch):
    (expected,) = found_in(of_system("bad"), CorpusBleu.Globally())
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 7)
    keyed = [(number % 2, each) for number, each in enumerate(of_system("bad") * 2)]
    both = [("k", each) for each in of_system("bad")]
    assert found_in(both, CorpusBleu.PerKey()) == [("k", expected)]
    by_key = dict(found_in(keyed, CorpusBleu.PerKey()))
    assert by_key[0].segments == by_key[1].segments == 200
    assert by_key[0].standard_error > 0


def test_without_uncertainty_there_is_none_and_no_warning():
    (score,) = found_in(of_system("good")[:29], CorpusBleu.Globally(uncertainty=False))
    assert (score.standard_error, score.interval, score.warnings) == (None, None, ())


def test_each_system_is_compared_with_the_first_one():
    (found,) = found_in(SEGMENTS, CompareSystems.Globally(SYSTEMS))
    assert isinstance(found, ComparedSystems)
    assert list(found.scores) == list(SYSTEMS)
    for system in SYSTEMS:
        (alone,) = found_in(of_system(system), CorpusBleu.Globally())
        assert found.scores[system] == alone
    pairs = [(each.system, each.baseline) for each in found.comparisons]
    assert pairs == [("bad", "good"), ("best", "good")]
    for each in found.comparisons:
        assert isinstance(each, SystemComparison)
        scores = found.scores[each.system].score, found.scores["good"].score
        assert each.difference == pytest.approx(scores[0] - scores[1])
        assert each.segments == 200
        assert each.p_value == pytest.approx(
            math.erfc(abs(each.difference) / each.standard_error / math.sqrt(2))
        )
        assert each.p_value <= each.p_value_holm <= 2 * each.p_value
    assert found.clusters == ()


def test_keys_are_compared_apart(monkeypatch):
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 7)
    keyed = [(f"k{number % 2}", each) for number, each in enumerate(SEGMENTS)]
    (expected,) = found_in(SEGMENTS[::2], CompareSystems.Globally(SYSTEMS))
    assert dict(found_in(keyed, CompareSystems.PerKey(SYSTEMS)))["k0"] == expected


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (["one", "one"], {}, "two or more different names"),
    ("one", {}, "systems must be a list of strings, got 'one'"),
    (["one", "two"], {"baseline": "three"}, "one of one, two, got 'three'"),
    (["one", "two"], {"all_pairs": "no"}, "all_pairs must be True or False, got 'no'"),
]


def test_wrong_arguments_and_segments_are_refused():
    for systems, options, message in WRONG:
        with pytest.raises(ValueError, match=message):
            CompareSystems.PerKey(systems, **options)
    for candidates in ({"good": "a", "bad": "b"}, dict.fromkeys((*SYSTEMS, "other"), "a"), "a"):
        with pytest.raises(InputError, match="a dict with those of good, bad, best, got"):
            to_batch([(candidates, ["a"])], SYSTEMS)


def test_all_pairs_have_clusters_and_the_baseline_comes_first():
    transform = CompareSystems.Globally(SYSTEMS, baseline="bad", all_pairs=True)
    (found,) = found_in(SEGMENTS, transform)
    pairs = [(each.system, each.baseline) for each in found.comparisons]
    assert pairs == [("good", "bad"), ("best", "bad"), ("best", "good")]
    assert found.clusters == (("best",), ("good",), ("bad",))
