"""What the figures and examples of a page have, without the libraries that draw it."""

from __future__ import annotations

import pytest
from made_reports import example, of_two_systems, reported

from beam_bleu.pipeline.report.examples import groups
from beam_bleu.pipeline.report.facts import facts
from beam_bleu.pipeline.report.places import places
from beam_bleu.pipeline.report.sentences import Measure
from beam_bleu.pipeline.result.document import read_result


def test_each_language_has_its_signatures():
    document = of_two_systems()
    languages = [
        {
            "metric": "bleu",
            "slice": {"lang": name},
            "signature": f"tok:{name}|ours",
            "sacrebleu_signature": known,
        }
        for name, known in (("ja", "tok:ja-mecab"), ("tlh", None))
    ]
    document["metrics"][0]["signature"], document["languages"] = None, languages
    table = facts(reported(document)).figures[0].table
    assert [tuple(row) for row in table.rows] == [
        ("BLEU (ja)", "beam-bleu", "tok:ja|ours"),
        ("BLEU (ja)", "sacreBLEU", "tok:ja-mecab"),
        ("BLEU (tlh)", "beam-bleu", "tok:tlh|ours"),
        ("BLEU (tlh)", "sacreBLEU", "sacreBLEU does not have this definition"),
    ]


def test_a_word_is_marked_in_both_texts_or_in_none():
    one = example("worst", "b a", references=["a b"])
    ((shown,),) = (group.examples for group in groups([one], {"bleu": Measure("bleu", "BLEU", 1)}))
    _, reference, candidate = shown.texts
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
    section = places(read_result(document))
    assert section is not None
    assert [figure.sentence for figure in section.figures if "domain" in figure.title] == [
        f"By domain, atlas has its {told}."
    ]


def test_a_chart_of_many_slices_has_the_significant_differences():
    document = of_two_systems(slices=40)
    compared = [entry for entry in document["comparisons"] if "domain" in (entry["slice"] or {})]
    for number, entry in enumerate(compared):
        # The only significant difference is a small gain, in the middle of the others.
        p_value = 0.01 if number == 20 else 0.5
        entry |= {"difference": number - 19.5, "p_value": p_value, "p_value_holm": p_value}
    section = places(read_result(document))
    assert section is not None
    chart = next(one.chart for one in section.figures if "domain: diff" in one.title)
    assert chart is not None
    assert chart.note.startswith("The chart shows 16 of 40;")
    drawn = [mark.x for mark in chart.marks]
    assert len(drawn) == 16
    assert drawn == sorted(drawn)
    assert [mark.colour for mark in chart.marks].count("gain") == 1
