"""Drawings of charts. Their margins and labels must not depend on the fonts of a machine."""

from __future__ import annotations

import re

from beam_bleu.pipeline.report.charts import Axis, Curves, Dot, Dots, Series, short
from beam_bleu.pipeline.report.page import templates


def drawn(chart) -> str:
    charts = templates().get_template("charts.html.jinja").module
    return charts.dots(chart) if isinstance(chart, Dots) else charts.curves(chart)


def texts(chart, anchor):
    return re.findall(f'text-anchor="{anchor}">(.*?)</text>', drawn(chart))


def test_long_names_are_cut():
    for text, shown in (
        ("x" * 20, "x" * 20),
        ("x" * 21, "x" * 9 + "…" + "x" * 10),
        ("漢" * 10, "漢" * 10),  # such a character is as wide as two letters
        ("漢" * 11, "漢" * 4 + "…" + "漢" * 5),
    ):
        assert short(text, 20) == shown


def test_labels_of_dots_are_cut_where_they_are_alike():
    for names, shown in (
        (["a", "b"], ["a", "b"]),
        (["org/gemma-2-9b-step-1000", "org/gemma-2-9b-step-1500-x"], ["…1000", "…1500-x"]),
        (["org/gemma-2-9b-step-1000-of-3"], ["org/gemma-2…ep-1000-of-3"]),
    ):
        assert Dots([Dot(name, 1.0) for name in names], "BLEU").labels == shown


def test_values_are_where_the_axis_says():
    chart = Dots([Dot("a", 15.0, (10.0, 20.0))], "BLEU")
    assert texts(chart, "middle") == ["10", "15", "20"]
    assert [chart.axis.at(value) for value in (10, 15, 20)] == [0, 0.5, 1]
    assert '<line x1="0.0%" y1="19" x2="100.0%" y2="19" stroke="var(--plain)"' in drawn(chart)
    assert '<svg x="50.0%" y="19">' in drawn(chart)
    for value in (0.0, 1.0, -3.25, 1e300, 1e-300):
        assert 0 <= Axis.of([value, 0.0], steps=3).at(value) <= 1
        assert 0 <= Axis.of([value], steps=3).at(value) <= 1


def test_no_line_leads_to_a_value_after_a_break_or_a_missing_one():
    series = {
        "a": Series([1.0, 2.0, 3.0], [(0.5, 1.5), None, None]),
        "b": Series([3.0, 4.0, 5.0], breaks={1}),
        "c": Series([5.0, None, 6.0]),
    }
    text = drawn(Curves(["x", "y", "z"], series, "BLEU"))
    lines = re.findall(r'stroke="var\(--series-(.)\)" stroke-width="2"', text)
    assert lines == ["1", "1", "2"]
    assert text.count("<path ") == 8
    assert len(re.findall(r'stroke="var\(--series-1\)"/>', text)) == 1


def test_a_chart_has_at_most_30_dots_and_6_series_of_different_colours_and_shapes():
    assert drawn(Dots([Dot(f"s{n}", n, (n - 1, n)) for n in range(100)], "BLEU")).count("s2") == 11
    series = {f"s{number}": Series([1.0, 2.0]) for number in range(9)}
    chart = Curves(["x", "y"], series, "BLEU")
    assert [*chart.shown] == ["s0", "s1", "s2", "s3", "s4", "s5"]
    assert len({*re.findall(r' d="(M.*?)" fill="var\(--(series-.)\)', drawn(chart))}) == 6
