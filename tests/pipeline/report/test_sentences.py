"""What the page says in words, for results whose numbers are made by hand."""

from __future__ import annotations

import dataclasses

import pytest

from beam_bleu.pipeline.report import sentences
from beam_bleu.pipeline.result.rows import ComparisonRow, ScoreRow


def comparison(system, difference, p=0.0001, baseline="atlas", metric="bleu"):
    return ComparisonRow(
        metric=metric,
        system=system,
        baseline=baseline,
        group=None,
        segments=100,
        units=100,
        difference=difference,
        standard_error=1.0,
        interval=None,
        p_value=p,
        p_value_holm=p,
        detectable=2.8,
    )


@pytest.mark.parametrize(
    ("metric", "difference", "p", "text"),
    [
        ("bleu", -19.94, 1e-9, "birch is 19.9 points below atlas, which is worse (p < 0.001)."),
        ("bleu", 0.06, 0.81, "birch is 0.1 points above atlas, which may be chance (p = 0.810)."),
        ("bleu", -5.0, None, "birch is 5.0 points below atlas; there is no p-value for this."),
        ("ter", -11.6, 0.01, "birch is 11.6 points below atlas, which is better (p = 0.010)."),
    ],
)
def test_a_difference(metric, difference, p, text):
    row = comparison("birch", difference, p, metric=metric)
    assert sentences.differences([("", row)]) == text


def test_many_differences_are_counted_and_the_largest_loss_is_told():
    compared = [("", comparison(f"s{n}", n - 4.0, 0.9 if n == 4 else 0.0001)) for n in range(6)]
    assert sentences.differences(compared) == (
        "Of 6 tested differences, 4 are significant for the worse, and 1 for the better. "
        "The largest loss: s0 is 4.0 points below atlas, which is worse (p < 0.001)."
    )
    # If lower is better, the largest loss is the largest number.
    compared = [("news", dataclasses.replace(row, metric="ter")) for _, row in compared]
    end = "The largest loss: in news, s5 is 1.0 points above atlas, which is worse (p < 0.001)."
    assert sentences.differences(compared).endswith(end)
    none = [(name, dataclasses.replace(row, p_value_holm=None)) for name, row in compared]
    assert sentences.differences(none).startswith("Of 0 tested differences, 0 are")


def scored(system, score, interval=None, metric="bleu"):
    return ScoreRow(metric, system, None, None, 100, score, None, interval, {})


def test_the_best_system():
    scores = [scored("b", 37.9, [33.8, 42.0]), scored("a", 57.84, [54.45, 61.23])]
    assert sentences.best("BLEU", scores) == "a has the best BLEU: 57.8 ± 3.4."
    lowest = "b has the lowest, and so the best, TER: 37.9 ± 4.1."
    of_ter = [dataclasses.replace(row, metric="ter") for row in scores]
    assert sentences.best("TER", of_ter) == lowest
    assert sentences.best("BLEU", scores[:1]) == "b has 37.9 ± 4.1 BLEU."
    assert sentences.best("BLEU", [*scores, scored("c", 57.84)]).startswith("a, c have the")


@pytest.mark.parametrize(
    ("compared", "end"),
    [
        ([("b", "a", 0.8), ("c", "a", 0.01)], "This test set does not separate a from b."),
        ([("a", "b", 0.8), ("c", "b", 0.01)], "This test set does not separate a from b."),
        ([("b", "a", 0.01), ("c", "a", 0.01)], "significantly better than each of the others."),
        ([("b", "a", None), ("c", "b", 0.8)], "5.0."),
    ],
)
def test_the_best_system_and_its_comparisons(compared, end):
    scores = [scored("a", 5.0), scored("b", 4.0), scored("c", 3.0)]
    rows = [comparison(system, -1.0, p, baseline) for system, baseline, p in compared]
    assert sentences.best("BLEU", scores, comparisons=rows).endswith(
        f": {end}" if end == "5.0." else end
    )


def test_where_a_system_is_best_and_worst():
    scores = {
        name: scored("atlas", score)
        for name, score in (("0-9", 22.5), ("10-19", 57.5), ("30+", 42.5))
    }
    assert sentences.over("BLEU", "length", "atlas", scores) == (
        "By length, atlas has its best BLEU in 10-19 (57.5), and its worst in 0-9 (22.5)."
    )
    of_ter = {name: dataclasses.replace(row, metric="ter") for name, row in scores.items()}
    assert "best TER in 0-9 (22.5)" in sentences.over("TER", "length", "atlas", of_ter)
    assert sentences.over("BLEU", "length", "atlas", {"0-9": scored("atlas", 1.0)}) == (
        "atlas has no scores to compare by length."
    )
