"""What stdout shows of a history: tables for people, JSON for programs."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.display.score_tables import score_number
from beam_bleu.pipeline.display.table import LOWER, Cell, Table, as_lines
from beam_bleu.pipeline.display.table import as_text as table_text
from beam_bleu.pipeline.history.history import Gap, GapKind, History, NightScore, Series
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, labels_of
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    counted,
    estimate,
    p_value,
    signed,
)

_WORDS: Mapping[GapKind, str] = {
    "missing": "missing",
    "failed": "failed",
    "absent": "absent",
    "definition": "new definition",
    "references": "new references",
}
"""What the row of a table says of a gap."""

_LEGEND = (
    f"{HALF_INTERVAL}; worse or better where p < {SIGNIFICANCE_LEVEL}, which luck alone reaches in "
    "one of 20 nights"
)


def as_text(history: History) -> str:
    tables = [table_text(series_table(series, history.gaps)) for series in history.series]
    lines = [f"{_nights(gap)}: {gap.text}" for gap in history.gaps]
    lines += _reasons(history)
    lines.append(_LEGEND)
    return "\n".join([*tables, as_lines(lines)])


def series_table(series: Series, gaps: Sequence[Gap]) -> Table:
    metric = series.key.metric
    decimals = decimals_of(metric, [score.row for score in series.scores])
    of_changes = decimals_of(metric, [score.change.row for score in series.scores])
    cells: list[list[Cell]] = []
    for score in series.scores:
        difference, p = Number(), Number()
        if row := score.change.row:
            difference = estimate(row.difference, row.interval, of_changes, signed, score.verdict)
            p = Number(p_value(row.p_value))
        word = "" if score.change.gap is None else _WORDS[score.change.gap.kind]
        cells.append([score.night, score_number(score.row, decimals), difference, p, word])
    cells += [
        [_nights(gap), Number(), Number(), Number(), _WORDS[gap.kind]]
        for gap in gaps
        if gap.is_of(series.scores[0].row) and not gap.is_break
    ]
    cells.sort(key=lambda row: str(row[0]))
    name = f"{series.name} {LOWER}" if row_of(metric).lower_is_better else series.name
    return Table([series.key.shown], ["night", name, "change", "p", ""], cells)


def _nights(gap: Gap) -> str:
    return gap.night if gap.night == gap.until else f"{gap.night} to {gap.until}"


def _reasons(history: History) -> Iterator[str]:
    """Why changes have no p-value or only an upper bound of it, and how many they are."""
    reasons = collections.Counter(
        (score.change.reason, score.change.row is None or score.change.row.p_value is None)
        for series in history.series
        for score in series.scores
        if score.change.reason and score.change.gap is None
    )
    for (reason, is_unknown), number in reasons.items():
        what = "without a p-value" if is_unknown else "whose p is an upper bound"
        yield f"{counted(number, 'change')} {what}: {reason}"


def as_json(history: History) -> str:
    document = {
        "nights": history.nights,
        "scores": [*map(_of_score, _scores(history))],
        "gaps": [_of_gap(gap) for gap in history.gaps],
    }
    return json_text(document, indent=1) + "\n"


def as_jsonl(history: History) -> str:
    """A JSON object for each gap and each score, night by night."""
    entries = [
        *({"kind": "score", **_of_score(score)} for score in _scores(history)),
        *({"kind": "gap", **_of_gap(gap)} for gap in history.gaps),
    ]
    entries.sort(key=lambda entry: (entry["night"], entry["kind"] == "score"))
    return "".join(f"{json_text(entry)}\n" for entry in entries)


def _scores(history: History) -> Iterator[NightScore]:
    return itertools.chain.from_iterable(series.scores for series in history.series)


def _of_score(score: NightScore) -> dict[str, Any]:
    row, change = score.row, score.change
    difference = change.row
    return {
        "night": score.night,
        "metric": row.metric,
        "system": row.system,
        "slice": labels_of(row) or None,
        "segments": None if row.group == MACRO_AVERAGE else row.segments,
        "score": row.score,
        "standard_error": row.standard_error,
        "interval": row.interval,
        "against": change.against,
        "difference": difference and difference.difference,
        "difference_standard_error": difference and difference.standard_error,
        "difference_interval": difference and difference.interval,
        "p_value": difference and difference.p_value,
        "method": None if not difference or difference.p_value is None else difference.method,
        "verdict": score.verdict or None,
        "reason": change.reason or None,
        "path": score.path,
    }


def _of_gap(gap: Gap) -> dict[str, Any]:
    return {
        **{"night": gap.night, "until": gap.until, "gap": gap.kind, "metric": gap.metric},
        **{"system": gap.system, "slice": gap.labels or None, "text": gap.text},
    }


FORMATS: Mapping[str, Callable[[History], str]] = {
    "text": as_text,
    "json": as_json,
    "jsonl": as_jsonl,
}
"""What stdout can show."""
