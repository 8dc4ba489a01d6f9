"""Scores and comparisons read like the command's tables, as text and as HTML."""

from __future__ import annotations

import dataclasses
from typing import Any

from metric_segments import score_of

from beam_bleu.pipeline.display.row_order import View
from beam_bleu.pipeline.display.score_tables import systems_table
from beam_bleu.pipeline.display.table import cell_texts
from beam_bleu.pipeline.result.rows import MetricNames, Result, ScoreRow
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS
from beam_bleu.transforms.metrics.numbers import MeanScore, PerplexityScore
from beam_bleu.transforms.score.differences import ComparedSystems, SystemComparison

SEGMENTS = [
    (candidate, ["the cat sat on the mat", "a cat was on the mat"])
    for candidate in ("the cat sat on a mat", "a cat sat there", "the dog sat on the mat !") * 30
]

ERROR = {"standard_error": 0.0123, "interval": (2.5, 2.6)}

SCORES = {
    **{metric: score_of(SEGMENTS, metric) for metric in METRICS_OF_TEXTS},
    "mean:comet": MeanScore(
        score=0.81234567, segments=9, signature="mean:comet", name="mean comet"
    ),
    "mean_error:x": MeanScore(
        score=2.54321, segments=9, signature="mean_error:x", **ERROR, name="mean x"
    ),
    "perplexity": PerplexityScore(
        *(-12.5, 7, None, 40, 0.4512345),
        score=12.3456789,
        segments=9,
        signature="perplexity",
        name="perplexity",
    ),
}


def of_table(metric: str, score: Any) -> dict[str, str]:
    """What the command's table shows of a score, by the names of its columns."""
    row = ScoreRow(
        *(metric, "a", None, None, score.segments, score.score),
        *(score.standard_error, score.interval, vars(score)),
    )
    names = MetricNames(metric, score.name, score.signature, None)
    table = systems_table(View(Result((names,), (row,))))
    assert table is not None
    cells = [text for column in table.columns[1:] for text in cell_texts(column)]
    return dict(zip(table.header[1:], cells, strict=True))


def test_a_score_reads_like_its_row_of_the_table() -> None:
    for metric in SCORES:
        score = SCORES[metric]
        expected = of_table(metric, score)
        shown = "  ".join(f"{name} {cell}" for name, cell in expected.items())
        warnings = f"  warnings {len(score.warnings)}" if score.warnings else ""
        assert repr(score) == f"{shown}  segments {score.segments}{warnings}"


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
    bleu = dataclasses.replace(SCORES["bleu"], score=61.25, interval=(57.9, 64.6))
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
