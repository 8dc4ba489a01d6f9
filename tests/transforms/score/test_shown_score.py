"""Scores and comparisons read like the command's tables, as text and as HTML."""

from __future__ import annotations

import dataclasses

from metric_segments import score_of

from beam_bleu.transforms.metrics.numbers import MeanScore
from beam_bleu.transforms.score.differences import ComparedSystems, SystemComparison

SEGMENTS = [
    (candidate, ["the cat sat on the mat", "a cat was on the mat"])
    for candidate in ("the cat sat on a mat", "a cat sat there", "the dog sat on the mat !") * 30
]
MEAN = MeanScore(
    score=2.54321, segments=9, signature="x", standard_error=0.0123, interval=(2.5, 2.6), name="x"
)


def test_a_score_reads_like_a_row_of_the_table() -> None:
    assert repr(MEAN) == "x 2.543 ± 0.050  segments 9"
    assert repr(dataclasses.replace(MEAN, standard_error=None, interval=None, warnings=("w",))) == (
        "x 2.5432  segments 9  warnings 1"
    )
    bleu = score_of(SEGMENTS, "bleu")
    precisions = "/".join(f"{precision:.1f}" for precision in bleu.precisions)
    assert f"  precisions {precisions}  BP {bleu.bp:.3f}  " in repr(bleu)


COMPARISON = SystemComparison(
    *(90, 90, 11.349, 0.912, (9.56, 13.14), 0.0000001, 2.553),
    system="b",
    baseline="a",
    p_value_holm=0.0412,
)


def test_a_comparison_reads_like_its_row() -> None:
    assert repr(COMPARISON) == (
        "system b  baseline a  difference +11.35 ± 1.79  p <0.001  Holm p 0.041  detectable 2.55  "
        "segments 90"
    )
    without = SystemComparison(1, 1, 0.04, reason="one segment", system="b", baseline="a")
    assert repr(without) == "system b  baseline a  difference 0.0  segments 1  reason one segment"


def test_compared_systems_read_like_the_tables() -> None:
    bleu = dataclasses.replace(score_of(SEGMENTS, "bleu"), score=61.25, interval=(57.9, 64.6))
    names = {"a": bleu, "系统": dataclasses.replace(bleu, score=8.0), "<b>\n": bleu}
    compared = ComparedSystems(
        names, (COMPARISON, dataclasses.replace(COMPARISON, system="<b>\n")), (("a", "b"), ("c",))
    )
    lines = repr(compared).splitlines()
    assert lines[0].split()[:3] == ["system", "BLEU", "precisions"]
    assert lines[1].startswith("a        61.2")
    assert lines[2].startswith("系统      8.0")
    assert lines[3].startswith(r"'<b>\n'")
    assert lines[4] == "90 segments; ± is half of the 95 % interval"
    assert lines[5] == "clusters, best first: a, b > c"
    assert lines[7].split() == ["system", "baseline", "difference", "p", "Holm", "p", "detectable"]
    assert lines[8].split() == ["b", "a", "+11.35", "±", "1.79", "<0.001", "0.041", "2.55"]
    assert "clusters" not in repr(dataclasses.replace(compared, clusters=(), comparisons=()))
