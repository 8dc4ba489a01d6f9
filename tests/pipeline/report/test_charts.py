"""Drawings of charts. Their margins and labels must not depend on the fonts of a machine."""

from __future__ import annotations

import pytest

from beam_bleu.pipeline.report.charts import Dot, Series, curves, dots, short


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 20, "x" * 20),
        ("x" * 21, "x" * 9 + "…" + "x" * 10),
        ("漢" * 10, "漢" * 10),  # such a character is as wide as two letters
        ("漢" * 11, "漢" * 4 + "…" + "漢" * 5),
        ("x" * 10_000, "x" * 9 + "…" + "x" * 10),
    ],
)
def test_long_names_are_cut(text, shown):
    assert short(text, 20) == shown


def texts(chart, anchor):
    return [label.text for label in chart.labels if label.anchor == anchor]


def test_titles_and_labels_are_inside_the_drawing():
    unit = "points of BLEU above " + "a-long-name" * 9
    assert len(texts(dots([Dot("a", 1.0)], unit), "end")[0]) == 50
    chart = curves(["0 to 4", "96 to 100"] * 12, {"a": Series([1.0] * 24)}, "BLEU")
    half_of_label = 9 * 6.6 / 2
    assert max(label.x for label in chart.labels) + half_of_label <= chart.width


def test_values_are_where_the_axis_says():
    chart = dots([Dot("a", 15.0, (10.0, 20.0))], "BLEU")
    ticks = {label.text: label.x for label in chart.labels if label.anchor == "middle"}
    assert [*ticks] == ["10", "12", "14", "16", "18", "20"]
    assert chart.marks[0].x == pytest.approx((ticks["14"] + ticks["16"]) / 2)
    assert chart.lines[-1].path == f"M{ticks['10']:.1f},19.0L{ticks['20']:.1f},19.0"


@pytest.mark.parametrize("value", [0.0, 1.0, -3.25, 1e300, 1e-300])
def test_a_single_value_has_an_axis(value):
    chart = dots([Dot("a", value)], "BLEU", from_zero=True)
    assert all(0 < mark.x < chart.width for mark in chart.marks)


def test_a_chart_of_dots_says_how_many_rows_it_leaves_out():
    rows = [Dot(f"s{number}", number, (number - 1, number + 1)) for number in range(100)]
    chart = dots(rows, "BLEU")
    assert len(chart.marks) == 60
    assert chart.note == "The chart shows the first 60 of 100."


def test_a_dot_without_an_interval_has_no_line():
    chart = dots([Dot("a", 1.0, (0.0, 2.0)), Dot("b", 2.0)], "BLEU")
    assert len([line for line in chart.lines if line.colour == "plain"]) == 1


@pytest.mark.parametrize(
    ("categories", "labels"),
    [
        (["0-9", "10-19", "20+"], ["0-9", "10-19", "20+"]),
        ([f"2026-11-{day}" for day in range(10, 18)], ["2026-11-10", "2026-11-13", "2026-11-16"]),
        (["a"], ["a"]),
    ],
)
def test_labels_below_a_chart_do_not_overlap(categories, labels):
    chart = curves(categories, {"a": Series([1.0] * len(categories))}, "BLEU")
    assert texts(chart, "middle") == labels


def test_no_line_leads_to_a_value_after_a_break_or_a_missing_one():
    series = {
        "a": Series([1.0, 2.0, 3.0]),
        "b": Series([3.0, 4.0, 5.0], breaks={1}),
        "c": Series([5.0, None, 6.0]),
    }
    chart = curves(["x", "y", "z"], series, "BLEU")
    lines = {line.colour: line.path.count("L") for line in chart.lines if line.width == 2}
    assert lines == {"series-1": 2, "series-2": 1}
    assert len(chart.marks) == 8


def test_series_have_different_colours_and_shapes_and_their_number_is_limited():
    series = {f"s{number}": Series([1.0, 2.0]) for number in range(9)}
    chart = curves(["x", "y"], series, "BLEU")
    assert chart.legend == ("s0", "s1", "s2", "s3", "s4", "s5")
    assert chart.note == "The chart shows 6 of 9 systems; the table has all of them."
    assert len({mark.colour for mark in chart.marks}) == 6
    assert len({mark.shape for mark in chart.marks}) == 6
