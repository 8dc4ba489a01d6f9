"""Differences have the standard error of the units' differences, and read like the tables."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from made_units import changed, made_totals, made_units
from scoring import score_of_totals

from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.numbers import MeanConfig, MeanScore
from beam_bleu.transforms.metrics.squad import ExactMatchConfig
from beam_bleu.transforms.native.fixed_point import value_columns
from beam_bleu.transforms.score.differences import (
    ComparedSystems,
    SystemComparison,
    clusters,
    difference_of_estimates,
    holm,
    mcnemar,
    newcombe,
    wilson,
)
from beam_bleu.transforms.score.estimates import Estimates

USUAL = BleuConfig()
ROWS = made_units(200, ratio=1.1)
OTHER = changed(ROWS)


def difference_of(system, baseline, metric=USUAL):
    return Estimates(made_totals(system, baseline), metric).difference("a", "b")


def error_of(rows, metric=USUAL):
    return Estimates(made_totals(rows), metric).standard_error("a")[0]


def score_of(rows):
    return USUAL.value(tuple(np.sum(rows, axis=0).tolist()))


def test_what_follows_from_the_standard_error_of_a_difference():
    found = difference_of(OTHER, ROWS)
    error = found.standard_error
    assert found.difference == score_of(OTHER) - score_of(ROWS) < 0
    assert found.interval == pytest.approx(
        (found.difference - 1.959964 * error, found.difference + 1.959964 * error), rel=1e-6
    )
    assert found.p_value == pytest.approx(math.erfc(-found.difference / error / math.sqrt(2)))
    assert found.detectable == pytest.approx(2.8016 * error, rel=1e-4)
    assert (found.units, found.segments, found.reason) == (200, 200, "")
    low, high = found.interval
    other = dataclasses.replace(found, difference=-found.difference, interval=(-high, -low))
    assert difference_of(ROWS, OTHER) == other
    same = difference_of(ROWS, ROWS)
    assert (same.difference, same.standard_error, same.p_value, same.detectable) == (0, 0, 1, None)


def test_a_difference_without_spread_has_no_p_value():
    row = made_units(1, seed=5, longest=90)[0]
    lost = [*row[:FIRST_MATCHES], row[FIRST_MATCHES] - 1, *row[FIRST_MATCHES + 1 :]]
    system, worse = [row] * 30, [lost] * 30
    found = difference_of(system, worse)
    assert found.difference > 0
    assert (found.standard_error, found.p_value, found.detectable) == (0, None, None)
    assert found.reason == "the standard error is 0: every unit shows the same difference"


UNMATCHED = made_units(40, matching=0)
NO_4_GRAM = [row for row in ROWS if not row[FIRST_MATCHES + 3]][:35]
WITHOUT_ERROR = [
    (ROWS[:29], "29 segments are fewer than 30"),
    (ROWS[:1], "1 segment is fewer than 30"),
    (UNMATCHED, "no 1-gram of a candidate is in its references"),
    (NO_4_GRAM, "no 4-gram of a candidate"),
]


def test_without_a_standard_error_there_is_a_reason_unless_all_counts_are_the_same():
    for rows, reason in WITHOUT_ERROR:
        assert error_of(rows) is None
        found = difference_of(rows, rows)
        assert (found.difference, found.standard_error, found.p_value) == (0, 0, 1)
        assert (found.interval, found.detectable, found.reason) == ((0, 0), None, "")
        longer = [list(row) for row in rows]
        longer[0][CANDIDATE_LENGTH] += 1
        found = difference_of(rows, longer)
        assert found.reason.startswith(reason)
        assert found.units == found.segments == len(rows)
        shown = found.standard_error, found.interval, found.p_value, found.detectable
        assert shown == (None, None, None, None)


def test_only_counts_of_the_definition_make_systems_different():
    rows = ROWS[:20]
    other = [list(row) for row in rows]
    for row in other:
        row[FIRST_MATCHES + 3] = 0
    assert difference_of(rows, other).p_value is None
    assert difference_of(rows, other, BleuConfig(max_ngram_order=3)).p_value == 1


def test_independent_differences_add_up_both_variances():
    former = made_units(300, seed=9)
    intl = BleuConfig(smooth_method="floor", max_ngram_order=3)
    scores = score_of(OTHER), intl.value(np.sum(former, axis=0).tolist())
    one, other = error_of(OTHER), error_of(former, intl)
    found = difference_of_estimates(*scores, (one, other), 200)
    assert found.difference == scores[0] - scores[1]
    assert found.standard_error == pytest.approx(math.hypot(one, other), rel=1e-12)
    z = abs(found.difference) / found.standard_error
    assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert (found.units, found.segments) == (200, 200)
    found = difference_of_estimates(*scores, (None, other), 200)
    assert (found.difference, found.p_value) == (scores[0] - scores[1], None)
    assert found.reason == "the new score has no standard error"


FAMILIES = [
    # The smallest times 4, the next one times 3, and so on, and never less than before.
    ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
    ([0.6, 0.7], [1, 1]),
    ([0.02], [0.02]),
    ([None, 0.02, None, 0.03], [None, 0.04, None, 0.04]),
    ([None], [None]),
    ([], []),
    ([0.0, 1.0], [0, 1]),
]


def test_holm():
    for p_values, adjusted in FAMILIES:
        assert holm(p_values) == [
            each if each is None else pytest.approx(each) for each in adjusted
        ]


GROUPS = [
    # The pairs that are similar, and the clusters.
    ([], ["A", "B", "C", "D"]),
    (["BC"], ["A", "BC", "D"]),
    (["AC"], ["ABC", "D"]),  # A beats B, but one of those above C does not beat C
    (["AB", "CD"], ["AB", "CD"]),
    (["AD"], ["ABCD"]),
]


def test_clusters():
    for (similar, groups), p_value, sign in itertools.product(GROUPS, [0.05, None], [1, -1]):
        p_values = {}
        for place, pair in enumerate(itertools.combinations("ABCD", 2)):
            adjusted = p_value if "".join(pair) in similar else 0.049
            p_values[pair if place % 2 else pair[::-1]] = adjusted  # either order of names
        scores = {system: -sign * "ABCD".index(system) for system in "BADC"}
        found = clusters(scores, p_values, lower_is_better=sign < 0)
        assert found == [list(group) for group in groups]


# Scores and comparisons read like the tables of the command

MEAN = MeanScore(
    score=2.54321, segments=9, signature="x", standard_error=0.0123, interval=(2.5, 2.6), name="x"
)


def test_a_score_reads_like_a_row_of_the_table():
    assert repr(MEAN) == "x 2.543 ± 0.050  segments 9"
    assert repr(dataclasses.replace(MEAN, standard_error=None, interval=None, warnings=("w",))) == (
        "x 2.5432  segments 9  warnings 1"
    )


COMPARISON = SystemComparison(
    *(90, 90, 11.349, 0.912, (9.56, 13.14), 0.0000001, 2.553),
    system="b",
    baseline="a",
    p_value_holm=0.0412,
)


def test_a_comparison_reads_like_its_row():
    assert repr(COMPARISON) == (
        "system b  baseline a  difference +11.35 ± 1.79  p <0.001  Holm p 0.041  detectable 2.55  "
        "segments 90"
    )
    without = SystemComparison(1, 1, 0.04, reason="one segment", system="b", baseline="a")
    assert repr(without) == "system b  baseline a  difference 0.0  segments 1  reason one segment"


def test_compared_systems_read_like_the_tables():
    bleu = dataclasses.replace(
        score_of_totals(made_totals(ROWS), USUAL), score=61.25, interval=(57.9, 64.6)
    )
    names = {"a": bleu, "系统": dataclasses.replace(bleu, score=8.0), "<b>\n": bleu}
    compared = ComparedSystems(
        names, (COMPARISON, dataclasses.replace(COMPARISON, system="<b>\n")), (("a", "b"), ("c",))
    )
    lines = repr(compared).splitlines()
    assert lines[0].split()[:3] == ["system", "BLEU", "precisions"]
    assert lines[1].startswith("a        61.2")
    assert lines[2].startswith("系统      8.0")
    assert lines[3].startswith(r"'<b>\n'")
    assert lines[4] == "200 segments; ± is half of the 95 % interval"
    assert lines[5] == "clusters, best first: a, b > c"
    assert lines[7].split() == ["system", "baseline", "difference", "p", "Holm", "p", "detectable"]
    assert lines[8].split() == ["b", "a", "+11.35", "±", "1.79", "<0.001", "0.041", "2.55"]
    assert "clusters" not in repr(dataclasses.replace(compared, clusters=(), comparisons=()))


MCNEMAR = {
    (0, 0): 1.0,
    (5, 0): 0.0625,
    (10, 1): 0.01171875,
    (3, 3): 1.0,
    (123, 456): 6.1990917057476645e-46,
    (1000, 1100): 0.03072070786424249,
    (300000, 301000): 0.19752669267686337,
}
"""By (higher, lower): the p-value of statsmodels 0.14.5, `mcnemar(table, exact=True)`."""

WILSON = {
    (0, 10): (0.0, 0.27753279986288926),
    (10, 10): (0.7224672001371106, 1.0),
    (12, 32): (0.22933887309454207, 0.5474559264692256),
    (123456, 1000000): (0.12281269653142285, 0.12410219641400438),
}
"""By (right, segments): statsmodels 0.14.5, `proportion_confint`, method "wilson"."""

NEWCOMBE = {
    (56, 70, 48, 80): (0.05243147240236498, 0.33387265403690614),
    (36, 40, 40, 40): (-0.23051775227522298, 0.006433915415117231),
    (30, 30, 50, 50): (-0.11351339317396891, 0.07134759913335875),
}
"""By (right, segments) of both: statsmodels 0.14.5, `confint_proportions_2indep`, "newcomb"."""


def test_mcnemar_and_intervals_of_shares_are_those_of_statsmodels():
    for (higher, lower), p_value in MCNEMAR.items():
        assert mcnemar(higher, lower).p_value == pytest.approx(p_value, rel=1e-9)
        assert mcnemar(lower, higher) == (lower, higher, mcnemar(higher, lower).p_value)
    for counts, interval in WILSON.items():
        assert wilson(*counts) == pytest.approx(interval, rel=1e-12, abs=1e-15)
    for (right, segments, *old), interval in NEWCOMBE.items():
        ends = wilson(right, segments), wilson(*old)
        found = newcombe(right / segments, old[0] / old[1], *ends)
        assert found == pytest.approx(interval, rel=1e-12)


def test_only_segments_that_are_right_or_wrong_have_mcnemar():
    def estimates(values, others):
        config = MeanConfig("acc")
        rows = []
        for own in (values, others):
            numbers = np.array(own, np.float64)
            columns = np.zeros((len(own), config.basis.width), np.int64)
            columns[:, 0] = 1
            columns[:, 1:5] = value_columns(np.maximum(numbers, 0))
            columns[:, 5:] = value_columns(np.maximum(-numbers, 0))
            rows.append(columns.tolist())
        return Estimates(made_totals(*rows), config)

    right = estimates([1, 1, 0, 1, 0], [0, 1, 0, 0, 1])
    found = right.difference("a", "b").mcnemar
    assert found == mcnemar(2, 1)
    assert right.difference("b", "a").mcnemar == mcnemar(1, 2)
    assert right.wilson_interval("a") == wilson(3, 5)
    for value in (2, 0.5, -1):
        other = estimates([1, 1, 0, 1, value], [0, 1, 0, 0, 1])
        assert other.difference("a", "b").mcnemar is None
        assert other.wilson_interval("a") is None
        assert other.wilson_interval("b") == wilson(2, 5)
    exact = ExactMatchConfig()
    segments = [(1, 0, 1), (1, 1, 0), (1, 0, 1)]
    assert Estimates(made_totals(segments), exact).wilson_interval("a") == pytest.approx(
        [100 * end for end in wilson(2, 3)]
    )
    documents = [(2, 0, 1), (1, 0, 1)]
    found = Estimates(made_totals(documents, documents), exact)
    assert found.wilson_interval("a") is found.difference("a", "b").mcnemar is None
