"""What stdout shows of a history: tables for people, JSON for programs."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from beam_bleu.pipeline.display.fitted_rows import drawn, fitted
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import json_text, printable
from beam_bleu.pipeline.display.row_order import VERDICT_STYLES
from beam_bleu.pipeline.display.terminal import Screen
from beam_bleu.pipeline.history.changes import Break
from beam_bleu.pipeline.history.history import Gap, GapKind, History, NightScore, Series
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE
from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    counted,
    difference_estimate,
    estimates,
    p_value,
    score_estimate,
)

FormatName = Literal["text", "json", "jsonl"]


@dataclasses.dataclass(frozen=True)
class Format:
    """A row of `FORMATS`.

    Attributes:
      name: its name.
      description: what it shows, for --help.
      shown: makes the text of a history for a screen.
    """

    name: FormatName
    description: str
    shown: Callable[[History, Screen], str]


MOST_NIGHTS = 20
"""The largest number of nights of one table on a terminal."""

_WORDS: Mapping[GapKind, str] = {
    "missing": "missing",
    "failed": "failed",
    "absent": "absent",
    "definition": "new definition",
    "references": "new references",
}
"""What the row of a table says of a gap. The lines below the tables have the details."""

_NOTHING = ("", "")
"""An estimate that is not there."""

_LEGEND = (
    f"{HALF_INTERVAL}; worse or better where p < {SIGNIFICANCE_LEVEL}, which luck alone reaches in "
    "one of 20 nights"
)


def as_text(history: History, screen: Screen) -> str:
    """The tables of all series, and lines about gaps and about changes without an exact p-value."""
    most = None if screen.columns is None else MOST_NIGHTS
    tables = [_table(series, history.gaps, screen, most) for series in history.series]
    lines = [f"{_nights(gap)}: {gap.text}" for gap in history.gaps]
    lines += _reasons(history)
    lines.append(_LEGEND)
    if most is not None and len(history.nights) > most:
        lines.append(
            f"These are the last {most} of {len(history.nights)} nights; --format jsonl shows all"
        )
    return "\n".join([*tables, "".join(f"{printable(line)}\n" for line in lines)])


def _table(series: Series, gaps: Sequence[Gap], screen: Screen, most: int | None) -> str:
    """The table of a series, below its name."""
    rows: list[tuple[str, NightScore | None, str]] = [
        (score.night, score, _word(score)) for score in series.scores
    ]
    rows += [
        (_nights(gap), None, _WORDS[gap.kind])
        for gap in gaps
        if gap.is_of(series) and not gap.is_break
    ]
    rows.sort(key=lambda row: row[0])
    rows = rows[-(most or len(rows)) :]
    scores = [score for _, score, _ in rows]
    columns = {
        "night": [night for night, *_ in rows],
        series.name + (" ↓" if series.lower_is_better else ""): _scores(series, scores),
        "change": _changes(series, scores),
        "p": [p_value(score.change.p_value) if score and score.change else "" for score in scores],
        "": [word for *_, word in rows],
    }
    cells = list(zip(*([head, *column] for head, column in columns.items()), strict=True))
    styles = {
        (number, column): VERDICT_STYLES[verdict]
        for number, score in enumerate(scores, 1)
        if score is not None and (verdict := score.verdict)
        for column in (list(columns).index("change"), len(columns) - 1)
    }
    return f"{printable(series.key.shown)}\n{drawn(fitted(cells, screen), screen, styles=styles)}"


def _word(score: NightScore) -> str:
    """What the last column says of a score."""
    if score.change is not None and isinstance(score.change.cause, Break):
        return _WORDS[score.change.cause.kind]
    return score.verdict


def _scores(series: Series, scores: Sequence[NightScore | None]) -> list[str]:
    errors = [score.row.standard_error for score in scores if score is not None]
    decimals = decimals_of(series.key.metric, None, errors)
    return estimates(
        [
            _NOTHING
            if score is None or score.row.score is None
            else score_estimate(
                {"score": score.row.score, "interval": score.row.interval}, decimals
            )
            for score in scores
        ]
    )


def _changes(series: Series, scores: Sequence[NightScore | None]) -> list[str]:
    changes = [None if score is None else score.change for score in scores]
    errors = [change.standard_error for change in changes if change is not None]
    decimals = decimals_of(series.key.metric, None, errors)
    return estimates(
        [
            _NOTHING
            if change is None
            else difference_estimate(
                {"difference": change.difference, "interval": change.interval}, decimals
            )
            for change in changes
        ]
    )


def _nights(gap: Gap) -> str:
    return gap.night if gap.night == gap.until else f"{gap.night} to {gap.until}"


def _reasons(history: History) -> Iterator[str]:
    """Why changes have no p-value or only an upper bound of it, and how many they are."""
    reasons = collections.Counter(
        (score.change.reason, score.change.p_value is None)
        for series in history.series
        for score in series.scores
        if score.change is not None
        and score.change.reason
        and not isinstance(score.change.cause, Break)
    )
    for (reason, is_unknown), number in reasons.items():
        what = "without a p-value" if is_unknown else "whose p is an upper bound"
        yield f"{counted(number, 'change')} {what}: {reason}"


def as_json(history: History) -> str:
    """One JSON object with the nights, the scores and the gaps."""
    document = {
        "nights": history.nights,
        "scores": [_of_score(*item) for item in _scored(history)],
        "gaps": [_of_gap(gap) for gap in history.gaps],
    }
    return json_text(document, indent=1) + "\n"


def as_jsonl(history: History) -> str:
    """A JSON object for each gap and each score, night by night."""
    entries = [
        *({"kind": "score", **_of_score(*item)} for item in _scored(history)),
        *({"kind": "gap", **_of_gap(gap)} for gap in history.gaps),
    ]
    entries.sort(key=lambda entry: (entry["night"], entry["kind"] == "score"))
    return "".join(f"{json_text(entry)}\n" for entry in entries)


def _scored(history: History) -> Iterator[tuple[Series, NightScore]]:
    for series in history.series:
        for score in series.scores:
            yield series, score


def _of_score(series: Series, score: NightScore) -> dict[str, Any]:
    """The keys of a score, which docs/history.md describes."""
    change, row = score.change, score.row
    return {
        "night": score.night,
        "metric": row.metric,
        "system": row.system,
        "slice": series.labels or None,
        "segments": None if row.group == MACRO_AVERAGE else row.segments,
        "score": row.score,
        "standard_error": row.standard_error,
        "interval": row.interval,
        "against": change and change.against,
        "difference": change and change.difference,
        "difference_standard_error": change and change.standard_error,
        "difference_interval": change and change.interval,
        "p_value": change and change.p_value,
        "method": change and change.method,
        "verdict": score.verdict or None,
        "reason": (change and change.reason) or None,
        "path": score.path,
    }


def _of_gap(gap: Gap) -> dict[str, Any]:
    """The keys of a gap, which docs/history.md describes."""
    return {
        "night": gap.night,
        "until": gap.until,
        "gap": gap.kind,
        "metric": gap.metric,
        "system": gap.system,
        "slice": gap.labels or None,
        "text": gap.text,
    }


FORMATS: Mapping[FormatName, Format] = table(
    Format("text", "tables", as_text),
    Format("json", "one object", lambda history, screen: as_json(history)),
    Format("jsonl", "an object on each line", lambda history, screen: as_jsonl(history)),
)
"""What stdout can show."""
