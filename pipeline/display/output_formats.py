"""The forms in which stdout can show a result, for `--format`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.latex import latex
from beam_bleu.pipeline.display.markdown import markdown
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.paper_tables import PaperTable, paper_tables
from beam_bleu.pipeline.display.printable import json_text, printable
from beam_bleu.pipeline.display.row_order import USUAL_ROWS, RowChoice
from beam_bleu.pipeline.display.slices import of_whole, signature_of
from beam_bleu.pipeline.display.table import remarks_on, table
from beam_bleu.pipeline.display.terminal import FILE, Screen
from beam_bleu.pipeline.output.metric_views import parts_of
from beam_bleu.transforms.score.shown_numbers import rounded


@dataclasses.dataclass(frozen=True)
class Result:
    """A result, and how it is to be shown.

    Attributes:
      data: the bytes of its scores.json.
      document: the same, read.
      remarks: lines about it that are not in scores.json.
      decimals: how many decimals scores have; None for the format's default.
      screen: where it is shown.
      choice: which rows of slices and comparisons tables show, and in which order.
    """

    data: bytes
    document: Mapping[str, Any]
    remarks: Sequence[str] = ()
    decimals: int | None = None
    screen: Screen = FILE
    choice: RowChoice = USUAL_ROWS


def only_scores(result: Result) -> str:
    """The score of each system on the whole corpus, on its own line; metric by metric."""
    return "".join(
        f"{rounded(score['score'], decimals_of(score['metric'], result.decimals))}\n"
        for score in of_whole(result.document)
    )


@dataclasses.dataclass(frozen=True)
class Format:
    """A row of `FORMATS`.

    Attributes:
      name: its name.
      description: what it is.
      write: the result in this format.
      takes_decimals: whether `--width` says how scores are rounded.
      rounds: whether they are rounded without it; then it has tables, whose rows have an order.
    """

    name: str
    description: str
    write: Callable[[Result], str]
    takes_decimals: bool = True
    rounds: bool = True


def _text(result: Result) -> str:
    return table(result.document, result.remarks, result.decimals, result.screen, result.choice)


def _json(result: Result) -> str:
    return result.data.decode()


def _json_lines(result: Result) -> str:
    entries = _entries(result.document)
    return "".join(f"{json_text(entry)}\n" for entry in entries)


def _tab_separated(result: Result) -> str:
    document = result.document
    columns = list(dict.fromkeys(key for score in document["scores"] for key in score))
    columns = [column for column in columns if column not in _UNCERTAINTY]
    columns += ["signature", *(["preset"] if "presets" in document else [])]
    columns += [key for key in ("languages", "tasks") if key in document]
    columns += _UNCERTAINTY_COLUMNS if "standard_error" in document["scores"][0] else []
    lines = ["\t".join(columns)]
    for entry in _entries(document):
        if result.decimals is not None:
            entry["score"] = rounded(entry["score"], result.decimals)
            if "precisions" in entry:
                entry["precisions"] = [
                    f"{precision:.{result.decimals}f}" for precision in entry["precisions"]
                ]
            for column in _UNCERTAINTY_COLUMNS:
                if entry.get(column) is not None:
                    entry[column] = f"{entry[column]:.{result.decimals}f}"
        lines.append("\t".join(_field(entry.get(column)) for column in columns))
    return "".join(f"{line}\n" for line in lines)


def _field(value: Any) -> str:
    """A value of scores.json in one field of a line; numbers keep all their digits."""
    if value is None:
        return ""
    if isinstance(value, list):
        return printable(" ".join(map(str, value)))
    if isinstance(value, dict):
        return json_text(value)
    return printable(str(value))


_UNCERTAINTY = ("standard_error", "interval")
"""The keys of a score's uncertainty in scores.json."""

_UNCERTAINTY_COLUMNS = ("standard_error", "interval_low", "interval_high")
"""What an entry of `jsonl` and `tsv` has instead, at its end: numbers that a table can hold."""


def _entries(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All entries. Their uncertainty comes last, so that the fields before it keep their places."""
    for entry in _scores(document):
        if "standard_error" not in entry:
            yield entry
            continue
        flat = {key: value for key, value in entry.items() if key not in _UNCERTAINTY}
        low, high = entry["interval"] or (None, None)
        ends = (entry["standard_error"], low, high)
        yield {**flat, **dict(zip(_UNCERTAINTY_COLUMNS, ends, strict=True))}


def _scores(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The scores of the run, the averages of languages or tasks, and the scores of each preset.

    A score has its definition. An average has no definition and no slice, but the number of its
    languages.
    """
    for part in parts_of(document):
        for score in part["scores"]:
            yield {**score, "signature": signature_of(part, score)}
        for average in part.get("macro_average", ()):
            if average["score"] is not None:
                yield dict(average)
        for preset in part.get("presets", ()):
            of_preset = {"signature": preset["signature"], "preset": preset["preset"]}
            for score in preset["scores"]:
                yield {**score, **of_preset}


def _markdown(result: Result) -> str:
    return _for_paper(result, markdown)


def _latex(result: Result) -> str:
    return _for_paper(result, latex)


def _for_paper(result: Result, write: Callable[[Iterable[PaperTable], Sequence[str]], str]) -> str:
    document = result.document
    tables = paper_tables(document, result.decimals, result.choice)
    return write(tables, remarks_on(document, result.remarks))


FORMATS = {
    row.name: row
    for row in (
        Format("text", "a table", _text),
        Format("json", "the bytes of scores.json", _json, takes_decimals=False, rounds=False),
        Format(
            "jsonl", "a JSON object for each score", _json_lines, takes_decimals=False, rounds=False
        ),
        Format(
            "tsv",
            "a line for each score, with tabs between its fields",
            _tab_separated,
            rounds=False,
        ),
        Format("markdown", "a table of GitHub's Markdown, systems by metrics", _markdown),
        Format("latex", "the same table for LaTeX", _latex),
    )
}
"""All formats; the first one is the default."""
