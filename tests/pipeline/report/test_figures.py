"""What the figures and examples of a page have, without the libraries that draw it."""

from __future__ import annotations

import pytest
from made_reports import example, of_two_systems

from beam_bleu.pipeline.report.examples import texts
from beam_bleu.pipeline.report.figures import places
from beam_bleu.pipeline.result.document import read_result


def test_a_word_is_marked_in_both_texts_or_in_none():
    one = example("worst", "b a", references=["a b"])
    reference, candidate = [*texts({**one, "kept": {}})]
    common = ("".join(r.text for r in text.runs if r.is_common) for text in (reference, candidate))
    assert [text.split() for text in common] == [["b"], ["b"]]


@pytest.mark.parametrize(
    ("score", "segments", "told"),
    [
        (99.0, 29, "best BLEU in domain 1 (48.0), and its worst in domain 2 (47.0)"),
        # Nothing matches there, so there is no interval.
        (0.0, 246, "best BLEU in domain 1 (48.0), and its worst in domain 0 (0.0)"),
    ],
)
def test_the_best_and_the_worst_slice_are_not_small(score, segments, told):
    document = of_two_systems(("atlas",))
    unknown = {"interval": None, "standard_error": None}
    document["scores"][1] |= {"score": score, "segments": segments, **unknown}
    figures = places(read_result(document))
    assert [figure.sentence for figure in figures if "domain" in figure.title] == [
        f"By domain, atlas has its {told}."
    ]


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
    assert figure.chart is not None
    assert figure.chart.note == "The chart shows the first 60 of 80."
    assert [mark.colour for mark in figure.chart.marks[:3]] == ["loss", "chance", "chance"]
