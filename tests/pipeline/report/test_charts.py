"""Declarations of charts. Their margins and labels must not depend on the fonts of a machine."""

from __future__ import annotations

import json

import pytest

from beam_bleu.pipeline.report.charts import Dot, curves, dots, short


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 20, "x" * 20),
        ("x" * 21, "x" * 19 + "…"),
        ("漢" * 10, "漢" * 10),  # such a character is as wide as two letters
        ("漢" * 11, "漢" * 9 + "…"),
        ("x" * 10_000, "x" * 19 + "…"),
    ],
)
def test_long_names_are_cut(text, shown):
    assert short(text, 20) == shown


def values(chart):
    return chart.spec["data"]["values"]


def test_titles_and_labels_are_inside_the_drawing():
    unit = "points of BLEU above " + "a-long-name" * 9
    x = dots([Dot("a", 1.0)], unit).spec["layer"][-1]["encoding"]["x"]
    assert len(x["title"]) == 50
    assert x["axis"]["titleAnchor"] == "end"
    spec = curves(["0 to 4", "96 to 100"] * 12, {"a": [1.0] * 24}, "BLEU").spec
    half_of_label = 9 * 6.6 / 2
    last = spec["layer"][0]["data"]["values"][-1]["at"]
    beside = (24 - 0.5 - last) * spec["width"] / 24 + spec["padding"]["right"]
    assert beside >= half_of_label


def test_a_chart_of_dots_says_how_many_rows_it_leaves_out():
    rows = [Dot(f"s{number}", number, (number - 1, number + 1)) for number in range(100)]
    chart = dots(rows, "BLEU")
    assert len(values(chart)) == 60
    assert chart.note == "The chart shows the first 60 of 100."


def test_a_dot_without_an_interval_has_no_line():
    chart = dots([Dot("a", 1.0, (0.0, 2.0)), Dot("b", 2.0)], "BLEU")
    assert [("low" in value) for value in values(chart)] == [True, False]
    alone = dots([Dot("b", 2.0)], "BLEU")
    assert [layer["mark"]["type"] for layer in alone.spec["layer"]] == ["text", "point"]


@pytest.mark.parametrize(
    ("categories", "labels"),
    [
        (["0-9", "10-19", "20+"], ["0-9", "10-19", "20+"]),
        ([f"2026-11-{day}" for day in range(10, 18)], ["2026-11-10", "2026-11-13", "2026-11-16"]),
        (["a"], ["a"]),
    ],
)
def test_labels_below_a_chart_do_not_overlap(categories, labels):
    chart = curves(categories, {"a": [1.0] * len(categories)}, "BLEU")
    ticks = chart.spec["layer"][0]["data"]["values"]
    assert [tick["label"] for tick in ticks] == labels


def test_no_line_leads_to_a_value_after_a_break():
    chart = curves(["x", "y"], {"a": [1.0, 2.0], "b": [3.0, 4.0]}, "BLEU", breaks={"b": {1}})
    of_series = [
        [value["value"] for value in values(chart) if value["series"] == place] for place in (0, 1)
    ]
    assert of_series == [[1.0, 2.0], [3.0, None, 4.0]]


def test_series_have_different_colours_and_shapes_and_their_number_is_limited():
    series = {f"s{number}": [1.0, 2.0] for number in range(9)}
    chart = curves(["x", "y"], series, "BLEU")
    assert chart.legend == ("s0", "s1", "s2", "s3", "s4", "s5")
    assert chart.note == "The chart shows 6 of 9 systems; the table has all of them."
    encoding = chart.spec["layer"][-1]["encoding"]
    for channel in ("color", "shape"):
        assert len({*encoding[channel]["scale"]["range"]}) == 6


def test_names_are_data_and_never_expressions():
    hostile = "'] + alert(1) + ['"
    chart = dots([Dot(hostile, 1.0)], "BLEU")
    assert json.dumps(chart.spec).count("alert") == 1
    assert values(chart)[0]["label"] == hostile
