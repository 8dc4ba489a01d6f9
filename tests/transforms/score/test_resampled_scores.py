"""Means, intervals and p-values of replicates equal those of plain formulas and of sacreBLEU."""

from random import Random

import numpy as np
import pytest
import sacrebleu
from made_units import changed, made_units
from sacrebleu import significance

from beam_bleu.transforms.metrics.bleu.columns import (
    CANDIDATE_LENGTH,
    FIRST_MATCHES,
    REFERENCE_LENGTHS,
    SHORTEST,
    width,
)
from beam_bleu.transforms.metrics.bleu.formula import CORPUS_SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.score.resampled_scores import resampled_scores

METRIC = BleuConfig()


def drawn(number, **systems):
    """(replicates of a bootstrap, sums of the corpus) of the systems' units, rows of W integers."""
    units = {name: np.array(rows) for name, rows in systems.items()}
    size = len(next(iter(units.values())))
    weights = np.random.default_rng(8).poisson(1, (number, size))
    replicates = {name: weights @ rows for name, rows in units.items()}
    return replicates, {name: tuple(rows.sum(axis=0).tolist()) for name, rows in units.items()}


def test_the_scores_of_replicates_are_those_of_their_sums():
    for rule in REFERENCE_LENGTHS:
        for smooth_method in CORPUS_SMOOTH_METHODS:
            replicates, _ = drawn(60, a=made_units(4, longest=5, matching=0.4))
            (sums,) = replicates.values()
            sums[0] = 0
            scoring = BleuConfig(smooth_method=smooth_method, reference_length=rule)
            for each in (scoring, scoring.changed(weights=(0.1, 0.4, 0.5))):
                assert each.values(sums).tolist() == [each.value(row) for row in sums.tolist()]


def test_the_bootstrap_is_that_of_the_formulas():
    rows = made_units(60)
    replicates, sums = drawn(200, a=rows, b=changed(rows), c=made_units(60, seed=5))
    pairs = [("b", "a"), ("c", "b")]
    spread, differences = resampled_scores("bootstrap", replicates, sums, METRIC, 60, pairs)
    scores = {
        name: [METRIC.value(each) for each in of_system.tolist()]
        for name, of_system in replicates.items()
    }
    assert ([*spread], [*differences]) == (["a", "b", "c"], pairs)
    for name, each in spread.items():
        assert each.mean == pytest.approx(sum(scores[name]) / 200)
        ordered = sorted(scores[name])
        assert each.interval == (ordered[5], ordered[194])
    for (one, other), each in differences.items():
        difference = METRIC.value(sums[one]) - METRIC.value(sums[other])
        of_replicates = [a - b for a, b in zip(scores[one], scores[other], strict=True)]
        mean = sum(of_replicates) / 200
        extreme = sum(abs(each - mean) >= abs(difference) for each in of_replicates)
        assert each.difference == difference
        assert each.mean == pytest.approx(mean)
        assert each.interval == (sorted(of_replicates)[5], sorted(of_replicates)[194])
        assert each.p_value == (extreme + 1) / 201


def test_randomization_is_that_of_swapped_units():
    rows = np.array(made_units(50))
    others = np.array(changed(rows.tolist(), share=0.3))
    coins = np.random.default_rng(8).integers(0, 2, (150, 50))
    replicates = {"a": coins @ rows, "b": coins @ others}
    whole = {"a": rows.sum(axis=0).tolist(), "b": others.sum(axis=0).tolist()}
    spread, differences = resampled_scores(
        "randomization", replicates, whole, METRIC, 50, [("b", "a")]
    )
    assert spread == {}
    (only,) = differences.values()

    def difference(of_coins):
        swaps = of_coins[:, np.newaxis] == 1
        first, second = np.where(swaps, rows, others), np.where(swaps, others, rows)
        of_first, of_second = (METRIC.value(each.sum(axis=0).tolist()) for each in (first, second))
        return of_first - of_second

    actual = difference(np.zeros(50))
    sizes = [abs(difference(each)) for each in coins]
    assert only.difference == actual
    assert only.p_value == (sum(size >= abs(actual) for size in sizes) + 1) / 151
    assert only.p_sacrebleu == (sum(size > abs(actual) for size in sizes) + 1) / 151
    assert only.p_sacrebleu < 1
    assert (only.mean, only.interval) == (None, None)


def test_a_bootstrap_of_too_few_units_has_only_means():
    """The formulas find any difference of a single unit significant."""
    rows = made_units(29)
    replicates, sums = drawn(99, a=rows, b=changed(rows), c=rows)
    pairs = [("b", "a"), ("c", "a")]
    few_scores, found = resampled_scores("bootstrap", replicates, sums, METRIC, 29, pairs)
    scores, enough = resampled_scores("bootstrap", replicates, sums, METRIC, 30, pairs)
    assert [each.mean for each in few_scores.values()] == [each.mean for each in scores.values()]
    assert [each.interval for each in few_scores.values()] == [None] * 3
    for few, many in zip(found.values(), enough.values(), strict=True):
        assert (few.difference, few.mean) == (many.difference, many.mean)
        assert (few.interval, few.p_sacrebleu) == (None, None)
        assert None not in (many.interval, many.p_value, many.p_sacrebleu)
    assert [each.p_value for each in found.values()] == [None, 1.0]


def test_replicates_of_sacrebleu_have_the_p_value_and_interval_of_sacrebleu(monkeypatch):
    """The same resamples, of the same texts: the numbers of sacreBLEU's `--paired-bs`."""
    words = Random(1)
    texts = [[words.choice("abcdef") for _ in range(12)] for _ in range(120)]

    def worse(share):
        return [" ".join(w if words.random() > share else "x" for w in text) for text in texts]

    references, one, other = worse(0), worse(0.30), worse(0.32)
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    metric = sacrebleu.BLEU(references=[references])
    named = [("other", other), ("one", one)]
    tested = significance.PairedTest(named, {"BLEU": metric}, None, "bs", n_samples=300)()[1]
    baseline, result = tested["BLEU"]

    chosen = np.random.default_rng(7).choice(120, size=(300, 120), replace=True)
    drawn = {}
    for name, candidates in named:
        statistics = np.array(metric._extract_corpus_statistics(candidates, None), np.float64)
        # Lengths of candidates and references, matches of 4 orders, then totals.
        columns = np.zeros((120, width(4)), np.int64)
        columns[:, SEGMENTS] = 1
        columns[:, CANDIDATE_LENGTH], columns[:, SHORTEST] = statistics[:, 0], statistics[:, 1]
        columns[:, FIRST_MATCHES : FIRST_MATCHES + 4] = statistics[:, 2:6]
        drawn[name] = columns
    replicates = {name: columns[chosen].sum(axis=1) for name, columns in drawn.items()}
    whole = {name: columns.sum(axis=0).tolist() for name, columns in drawn.items()}
    by_system, differences = resampled_scores(
        "bootstrap", replicates, whole, METRIC, 120, [("one", "other")]
    )
    for name, expected in (("other", baseline), ("one", result)):
        low, high = by_system[name].interval
        assert by_system[name].mean == pytest.approx(expected.mean)
        assert (high - low) / 2 == pytest.approx(expected.ci)
    (difference,) = differences.values()
    assert difference.difference == pytest.approx(result.score - baseline.score)
    assert 0.01 < difference.p_sacrebleu == pytest.approx(result.p_value)
    assert difference.p_value > difference.p_sacrebleu
