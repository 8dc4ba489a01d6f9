"""The tables of a result for a paper or a page: what they say, before a format writes it.

The first table has a row for each system and a column for each metric. Others come after it only
where the user asked for more: slices, languages, presets or resampling.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.comparison_tables import ranks_of, resampled
from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.row_order import (
    USUAL_ROWS,
    RowChoice,
    SliceOrder,
    name_of,
)
from beam_bleu.pipeline.display.slices import (
    MACRO_AVERAGE,
    Item,
    items_of,
    label_of_languages,
    label_of_tasks,
    of_whole,
    signatures_of,
    tokenizers,
)
from beam_bleu.pipeline.display.table import LOWER, preset_rows, units_of
from beam_bleu.pipeline.output.metric_views import parts_of
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import HALF_INTERVAL, errors_of, score_estimate

_STARS = {0.001: "***", 0.01: "**", SIGNIFICANCE_LEVEL: "*"}
"""The superscripts of significant differences, by the level below which p is."""

BEST_ARE_BOLD = "Best scores are bold."
"""Stands in the caption. A format without bold text leaves it out."""

Part = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Number:
    """A cell with a number.

    Attributes:
      text: its digits, with "-" for minus; "" if there is no number.
      half: half of its interval, or "".
      mark: its superscript, or "".
      is_best: whether it is the best one of its kind.
    """

    text: str
    half: str = ""
    mark: str = ""
    is_best: bool = False

    @property
    def with_true_minus(self) -> str:
        """Its digits, with the sign of mathematics for minus."""
        return self.text.replace("-", "\N{MINUS SIGN}")


Cell = str | Number

Note = tuple[str, str | None, str]
"""What is defined, its signature as sacreBLEU writes it (None if it cannot), and our signature."""


@dataclasses.dataclass(frozen=True)
class PaperTable:
    """A table with its caption.

    Attributes:
      caption: sentences about it.
      header: the names of its columns.
      rows: its cells; the first one of a row is its name.
      notes: its definitions.
    """

    caption: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[Note] = ()

    @property
    def columns(self) -> list[Sequence[Cell]]:
        """The cells below the header, column by column."""
        return list(zip(*self.rows, strict=True)) or [()] * len(self.header)


def is_numeric(column: Sequence[Cell]) -> bool:
    """Whether a column has numbers, and perhaps empty cells."""
    return all(isinstance(cell, Number) or not cell for cell in column)


def paper_tables(
    document: Mapping[str, Any],
    asked: int | None,
    choice: RowChoice = USUAL_ROWS,
) -> Iterator[PaperTable]:
    """The tables of a result document.

    Args:
      document: the document.
      asked: how many decimals scores have; None if that depends on their standard errors.
      choice: which slices are shown, and in which order.
    """
    metrics = parts_of(document)
    yield _of_systems(document, metrics, asked)
    for metric in metrics:
        order = SliceOrder(metric)
        for item in items_of(metric["scores"]):
            shown = item.only_significant(order) if choice.only_significant else item
            if shown.slices:
                yield _of_slices(metric, shown.first(order, choice.sort, None), asked)
        if "presets" in metric:
            rows = preset_rows(metric, asked)
            notes = [(row["preset"], None, row["signature"]) for row in metric["presets"]]
            yield _of_numbers([f"{metric['name']} by several definitions."], rows, notes)
        if "resampling" in metric:
            for section in resampled(metric["metric"], metric["resampling"], asked):
                caption = [
                    f"{metric['name']}, {section.above[0]}.",
                    *(f"{line}." for line in section.above[1:]),
                ]
                yield _of_numbers(caption, section.rows)


def _of_systems(
    document: Mapping[str, Any], metrics: Sequence[Part], asked: int | None
) -> PaperTable:
    """The table with a row for each system and a column for each metric."""
    marks, meaning = _marks(document, metrics)
    header = ["system"]
    columns: list[Sequence[Cell]] = []
    averages: dict[str, list[str]] = {}
    for metric in metrics:
        scores = of_whole(metric)
        if not scores:
            # A corpus in several languages or tasks can have no score for the whole.
            scores = metric["macro_average"]
            parts = "languages" if "languages" in metric else "tasks"
            averages.setdefault(f"{len(metric[parts])} {parts}", []).append(metric["name"])
        systems = [score["system"] for score in scores]
        columns = columns or [systems]
        decimals = decimals_of(metric["metric"], asked, errors_of(scores))
        of_metric = marks.get(metric["metric"], {})
        columns.append(
            _numbers(scores, decimals, metric, [of_metric.get(system, "") for system in systems])
        )
        has_arrow = row_of(metric["metric"]).lower_is_better
        header.append(f"{metric['name']} {LOWER}" if has_arrow else metric["name"])
    caption = [
        f"Scores on {units_of(document)}.",
        *(f"Means of {parts}: {', '.join(names)}." for parts, names in averages.items()),
        *_reading(columns[1:]),
        *meaning,
    ]
    notes = [note for metric in metrics for note in notes_of(metric)]
    return PaperTable(caption, header, list(zip(*columns, strict=True)), notes)


def notes_of(metric: Part) -> list[Note]:
    """The definitions of a metric: one, or one for each set of languages that have the same."""
    return named_notes(metric["name"], signatures_of(metric))


def named_notes(name: str, definitions: Iterable[tuple[str, str | None, str]]) -> list[Note]:
    """The definitions of a metric, named by the metric and by the languages that have them."""
    return [
        (f"{name} ({languages})" if languages else name, sacrebleu, signature)
        for languages, sacrebleu, signature in definitions
    ]


def _of_slices(metric: Part, item: Item, asked: int | None) -> PaperTable:
    """The table of an item of --slice_by: a row for each slice, a column for each system."""
    has_languages = item.labels == label_of_languages(metric)
    has_averages = has_languages or item.labels == label_of_tasks(metric)
    averages = metric.get("macro_average", of_whole(metric))
    systems = [average["system"] for average in averages]
    names, segments = item.names()
    columns: list[list[Cell]] = [[*names[1:]]]
    header = [names[0]]
    if has_languages:
        tokenizer = tokenizers(metric)
        header.append("tokenizer")
        columns.append([tokenizer[str(values[0])] for values, _ in item.slices])
    header += [segments[0], *systems]
    columns.append([Number(number.replace("-", "–")) for number in segments[1:]])
    lines = [[of_slice.get(system, _NONE) for system in systems] for _, of_slice in item.slices]
    if has_averages:
        lines.append(averages)
        for column in columns:
            column.append("")
        columns[0][-1] = MACRO_AVERAGE
    decimals = decimals_of(metric["metric"], asked, errors_of(itertools.chain(*lines)))
    marks, meaning = _marks_of_slices(metric, item, has_averages=has_averages)
    rows = [
        _numbers(scores, decimals, metric, [of_slice.get(system, "") for system in systems])
        for scores, of_slice in zip(lines, marks, strict=True)
    ]
    whole = [
        [*named, *cells] for named, cells in zip(zip(*columns, strict=True), rows, strict=True)
    ]
    hidden = [f"{sentence}." for sentence in item.hidden]
    about = f"{metric['name']} by {'*'.join(item.labels)}."
    caption = [about, *hidden, *_reading(rows), *meaning]
    return PaperTable(caption, header, whole)


_NONE: Part = {"score": None}
"""A slice can lack a system."""


def _of_numbers(caption: Sequence[str], rows: Rows, notes: Sequence[Note] = ()) -> PaperTable:
    """A table with numbers in all columns but the first one."""
    header, *others = rows
    cells: list[list[Cell]] = [[name, *map(_number, numbers)] for name, *numbers in others]
    return PaperTable(caption, header, cells, notes)


def _number(text: str) -> Number:
    number, _, half = " ".join(text.split()).partition(" ± ")
    return Number(number, half)


def _numbers(
    scores: Sequence[Part], decimals: int, metric: Part, marks: Sequence[str]
) -> list[Number]:
    """Scores that are compared with each other. The best ones are those that look best."""
    estimates = [
        ("", "") if score["score"] is None else score_estimate(score, decimals) for score in scores
    ]
    values = [float(number) for number, _ in estimates if number]
    best = None
    if len(values) > 1:
        best = min(values) if row_of(metric["metric"]).lower_is_better else max(values)
    return [
        Number(number, half, mark, is_best=bool(number) and float(number) == best)
        for (number, half), mark in zip(estimates, marks, strict=True)
    ]


def _reading(lines: Sequence[Sequence[Cell]]) -> list[str]:
    """What a reader must know of scores: what ± means, and what is bold."""
    numbers = [cell for line in lines for cell in line if isinstance(cell, Number)]
    sentences = []
    if any(number.half for number in numbers):
        sentences.append(f"{HALF_INTERVAL}.")
    if any(number.is_best for number in numbers):
        sentences.append(BEST_ARE_BOLD)
    return sentences


def _marks(
    document: Mapping[str, Any], metrics: Sequence[Part]
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The superscripts by metric and system, and sentences on their meaning.

    With --compare all they are ranks, otherwise stars.
    """
    compared = [
        entry
        for metric in metrics
        for entry in (_of_corpus(metric) if of_whole(metric) else _of_averages(metric))
    ]
    tested = [entry for entry in compared if entry["p_value_holm"] is not None]
    if not tested:
        return {}, []
    where = []
    common = compared[0]["segments"]
    if common != document["segments"]:
        where.append(f"Compared on the {common} segments that all systems have.")
    if len({entry["baseline"] for entry in compared}) > 1:
        ranks = {metric["metric"]: _ranks(metric) for metric in metrics}
        meaning = (
            "Superscripts are ranks: a system is significantly better than each system of a later "
            f"rank (p < {SIGNIFICANCE_LEVEL}{_adjusted(tested)})."
        )
        return (ranks, [meaning, *where]) if any(ranks.values()) else ({}, [])
    marks: dict[str, dict[str, str]] = {}
    for entry in tested:
        marks.setdefault(entry["metric"], {})[entry["system"]] = stars(entry)
    names = {metric["metric"]: metric["name"] for metric in metrics}
    untested = [
        f"{names[entry['metric']]} of {entry['system']}"
        for entry in compared
        if entry["p_value_holm"] is None
    ]
    if untested:
        where.append(f"Not tested: {joined(untested)}.")
    return marks, [meaning_of_stars(tested, tested), *where]


def _of_corpus(metric: Part) -> list[Part]:
    return [entry for entry in metric.get("comparisons", ()) if entry["slice"] is None]


def _of_averages(metric: Part) -> Sequence[Part]:
    comparisons: Sequence[Part] = metric.get("macro_average_comparisons", ())
    return comparisons


def _marks_of_slices(
    metric: Part, item: Item, *, has_averages: bool
) -> tuple[list[dict[str, str]], list[str]]:
    """For each row the superscripts by system, and sentences on their meaning."""
    compared = [entry for entry in metric.get("comparisons", ()) if entry["slice"] is not None]
    averages = _of_averages(metric) if has_averages else ()
    tested = [entry for entry in (*compared, *averages) if entry["p_value_holm"] is not None]
    by_slice: dict[tuple[Any, ...], dict[str, Part]] = {}
    for entry in tested:
        key = name_of(entry["slice"]) if "slice" in entry else ()
        by_slice.setdefault(key, {})[entry["system"]] = entry
    keys = [tuple(zip(item.labels, values, strict=True)) for values, _ in item.slices]
    rows = [by_slice.get(key, {}) for key in (*keys, *([()] if has_averages else []))]
    shown = [entry for row in rows for entry in row.values()]
    marks = [{system: stars(entry) for system, entry in row.items()} for row in rows]
    if not shown:
        return marks, []
    untested = len(tested) < len(compared) + len(averages)
    where = ["Slices without ± are not tested."] if untested else []
    return marks, [meaning_of_stars(shown, tested), *where]


def meaning_of_stars(shown: Sequence[Part], tested: Sequence[Part]) -> str:
    """What the stars of a table mean. Only those that occur in it are explained.

    Args:
      shown: the comparisons of the table that were tested.
      tested: these, and all others for which their p-values are adjusted.
    """
    baseline = tested[0]["baseline"]
    occurring = {*map(stars, shown)}
    levels = [f"{stars} p < {level}" for level, stars in _STARS.items() if stars in occurring]
    if not levels:
        return (
            f"No difference from {baseline} is significant "
            f"(p < {SIGNIFICANCE_LEVEL}{_adjusted(tested)})."
        )
    meanings = ", ".join(levels)
    return f"Superscripts: significantly different from {baseline} ({meanings}{_adjusted(tested)})."


def _adjusted(tested: Sequence[Part]) -> str:
    """How p-values were adjusted, in each metric; nothing if there was only one."""
    numbers = collections.Counter((entry["metric"], entry["family"]) for entry in tested)
    most = max(numbers.values())
    if most == 1:
        return ""
    number = f"{most}" if len({*numbers.values()}) == 1 else f"up to {most}"
    of_each = " of each metric" if len({entry["metric"] for entry in tested}) > 1 else ""
    return f"; p adjusted by Holm for {number} comparisons{of_each}"


def stars(comparison: Part) -> str:
    """The superscript of a comparison that was tested."""
    p = comparison["p_value_holm"]
    return next((stars for level, stars in _STARS.items() if p < level), "")


def _ranks(metric: Part) -> dict[str, str]:
    """The ranks of systems in clusters."""
    ranks = ranks_of(metric.get("clusters", ()))
    return {system: rank.replace("-", "–") for system, rank in ranks.items()}
