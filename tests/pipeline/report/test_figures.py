"""What the figures and examples of a page have, without the libraries that draw it."""

from __future__ import annotations

import dataclasses

from made_reports import of_two_systems

from beam_bleu.pipeline.report.charts import Dots
from beam_bleu.pipeline.report.figures import best, places, reasons, standing
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.result.rows import ScoreRow


def test_losses_in_slices_come_first():
    document = of_two_systems(slices=80)
    compared = [entry for entry in document["comparisons"] if "domain" in (entry["slice"] or {})]
    for number, entry in enumerate(compared):
        # The only significant loss is in the middle of the others.
        p_value = 0.01 if number == 30 else 0.5
        entry |= {"difference": number - 39.5, "p_value": p_value, "p_value_holm": p_value}
    figure = next(one for one in places(read_result(document)) if "domain: diff" in one.title)
    (table,) = figure.tables
    assert [row[0] for row in table.rows[:3]] == ["domain 30", "domain 0", "domain 1"]
    assert isinstance(figure.chart, Dots)
    assert [row.meaning for row in figure.chart.rows[:3]] == ["worse", "chance", "chance"]


def test_the_worst_differences_by_length_are_in_the_order_of_length():
    found = read_result(of_two_systems([f"s{number}" for number in range(16)], slices=0))
    figure = next(one for one in places(found) if "length: diff" in one.title)
    assert isinstance(figure.chart, Dots)
    lengths = [row.label.partition(":")[0] for row in figure.chart.shown]
    assert lengths == ["0-9"] * 8 + ["10-19"] * 15 + ["20+"] * 7
    assert (len(figure.chart.rows), figure.chart.kept) == (45, "worst")


def test_diversity_is_shown():
    entry = {"system": "atlas", "distinct": [0.5, 0.75], "self_bleu": 12.34}
    first, *_ = reasons(read_result(of_two_systems() | {"diversity": [entry]}))
    ((row,),) = [table.rows for table in first.tables]
    assert [getattr(cell, "text", cell) for cell in row] == ["atlas", "0.5000", "0.7500", "12.3"]


def test_the_table_of_all_scores_comes_first():
    first, second, *_ = standing(read_result(of_two_systems()))
    ((table,), title) = first.tables, first.title
    assert (title, table.header) == ("Scores on 100 segments", ("system", "BLEU"))
    assert second.title == "BLEU"
    assert second.chart is not None


def test_scores_that_are_all_0_or_1_have_no_histogram():
    document = of_two_systems()
    for counts, number in (([40, 0, 0, 60], 0), ([40, 0, 1, 59], 1)):
        document["distributions"][0]["counts"] = counts
        document["distributions"][1]["counts"] = [90, 0, 0, 10]
        titles = [figure.title for figure in reasons(read_result(document))]
        assert titles.count("BLEU of segments") == number


def scored(system, score, interval=None, metric="bleu"):
    return ScoreRow(metric, system, None, 100, score, None, interval, {})


def test_the_best_system():
    scores = [scored("b", 37.9, [33.8, 42.0]), scored("a", 57.84, [54.45, 61.23])]
    assert best("BLEU", scores) == "a has the best BLEU: 57.8 ± 3.4."
    lowest = "b has the lowest, and so the best, TER: 37.9 ± 4.1."
    of_ter = [dataclasses.replace(row, metric="ter") for row in scores]
    assert best("TER", of_ter) == lowest
    assert best("BLEU", scores[:1]) == "b has 37.9 ± 4.1 BLEU."
    assert best("BLEU", [*scores, scored("c", 57.84)]).startswith("a, c have the")


def test_the_best_system_and_its_comparisons():
    scores = [scored("a", 5.0), scored("b", 4.0), scored("c", 3.0)]
    row, *_ = read_result(of_two_systems(["a", "b"], slices=0)).comparisons
    row = dataclasses.replace(row, difference=-1.0)
    for compared, end in (
        ([("b", "a", 0.8), ("c", "a", 0.01)], "This test set does not separate a from b."),
        ([("a", "b", 0.8), ("c", "b", 0.01)], "This test set does not separate a from b."),
        ([("b", "a", 0.01), ("c", "a", 0.01)], "significantly better than each of the others."),
        ([("b", "a", None), ("c", "b", 0.8)], ": 5.0."),
    ):
        rows = [
            dataclasses.replace(row, system=system, baseline=baseline, p_value_holm=p)
            for system, baseline, p in compared
        ]
        assert best("BLEU", scores, rows).endswith(end)
