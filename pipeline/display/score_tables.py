"""The tables of scores: of systems by metrics, of slices, of presets."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.display.row_order import (
    USUAL_ROWS,
    Facts,
    RowChoice,
    chosen_rows,
)
from beam_bleu.pipeline.display.table import LOWER, Cell, Note, Number, Table
from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    DifferenceRow,
    MetricNames,
    Result,
    ScoreRow,
)
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import MetricWord, metric_type, row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import HALF_INTERVAL, counted, estimate

BEST_ARE_BOLD = "Best scores are bold."
"""Stands in a caption. A format without bold text leaves it out."""

_STARS = {0.001: "***", 0.01: "**", SIGNIFICANCE_LEVEL: "*"}
"""The marks of significant differences, by the level below which p is."""

_SHOWN_LANGUAGES = 8


@dataclasses.dataclass(frozen=True)
class Slice:
    """What a result says of a slice by a metric.

    Attributes:
      group: its labels and their values.
      scores: by system.
      differences: of two systems on it.
    """

    group: Mapping[str, str | None]
    scores: dict[str, ScoreRow] = dataclasses.field(default_factory=dict)
    differences: list[ComparisonRow] = dataclasses.field(default_factory=list)

    @property
    def name(self) -> str:
        """The values of its labels."""
        return "*".join(map(value_text, self.group.values()))

    @property
    def facts(self) -> Facts:
        """What decides whether a table shows it."""
        return Facts(self.differences, [*self.scores.values()])


def slices_of(result: Result, metric: MetricWord) -> dict[str, list[Slice]]:
    """The slices by each item of --slice_by, such as "domain" or "domain*year"."""
    slices: dict[tuple[tuple[str, str | None], ...], Slice] = {}
    for score in result.slices(metric):
        if isinstance(score.group, Mapping):
            own = slices.setdefault(tuple(score.group.items()), Slice(score.group))
            own.scores[score.system] = score
    for difference in result.compared(metric):
        if isinstance(difference.group, Mapping):
            slices[tuple(difference.group.items())].differences.append(difference)
    items: dict[str, list[Slice]] = {}
    for own in slices.values():
        items.setdefault("*".join(own.group), []).append(own)
    return items


def systems_table(result: Result, asked: int | None, *, for_paper: bool = False) -> Table | None:
    """The table with a row for each system and a column for each metric; None without any score.

    A corpus in several languages or tasks can have no score for the whole. A paper then shows the
    mean of them, other tables have no column for it.

    Args:
      result: the result.
      asked: how many decimals scores have; None if that depends on their standard errors.
      for_paper: whether marks say what is significant. Otherwise the only metric of a result has
        its own cells.
    """
    means: dict[str, list[str]] = {}
    marks, meaning = _marks_of_systems(result) if for_paper else ({}, [])
    header, columns = ["system"], list[list[Cell]]()
    for metric in result.metrics:
        word, scores = metric.metric, result.whole(metric.metric)
        if not scores and for_paper:
            scores = result.averages(word)
            kind = "languages" if result.languages_of(word) else "tasks"
            means.setdefault(f"{scores[0].segments} {kind}", []).append(metric.name)
        if not scores:
            continue
        decimals = decimals_of(word, asked, [score.standard_error for score in scores])
        of_metric = marks.get(word, {})
        columns = columns or [[score.system for score in scores]]
        numbers = score_numbers(
            scores, decimals, [of_metric.get(score.system, "") for score in scores]
        )
        columns.append([*numbers])
        has_arrow = row_of(word).lower_is_better and (for_paper or len(result.metrics) > 1)
        header.append(f"{metric.name} {LOWER}" if has_arrow else metric.name)
        if len(result.metrics) == 1 and not for_paper:
            score_type, places = metric_type(word).score_type, decimals_of(word, asked)
            cells = [score_type.cells(score.parts, places) for score in scores]
            header += cells[0]
            columns += [[Number(own[name]) for own in cells] for name in cells[0]]
    if not columns:
        return None
    rows = list(zip(*columns, strict=True))
    if not for_paper:
        return Table([], header, rows)
    caption = [
        f"Scores on {units_of(result)}.",
        *(f"Means of {parts}: {', '.join(names)}." for parts, names in means.items()),
        *_reading(rows),
        *meaning,
    ]
    notes = [note for metric in result.metrics for note in notes_of(result, metric)]
    return Table(caption, header, rows, notes=notes)


def slice_tables(
    result: Result,
    metric: MetricNames,
    asked: int | None,
    choice: RowChoice = USUAL_ROWS,
    most: int | None = None,
    *,
    for_paper: bool = False,
) -> Iterator[Table]:
    """A table for each item of --slice_by: a row for each slice, a column for each system.

    Languages and tasks are slices, too, with tokenizers and means of their own.

    Args:
      result: the result.
      metric: the metric.
      asked: how many decimals scores have; None if that depends on their standard errors.
      choice: which slices are shown, and in which order.
      most: the largest number of slices of a table; None for all.
      for_paper: whether there are a caption, and marks that say what is significant.
    """
    languages = result.languages_of(metric.metric)
    tokenizers = {
        value_text(value): language["tokenize"]
        for language in languages
        for value in language["slice"].values()
    }
    parts = [label for part in (languages or result.tasks)[:1] for label in part["slice"]]
    averages = result.averages(metric.metric)
    # A corpus in several languages or tasks can have no score for the whole, but it has averages.
    systems = [score.system for score in averages or result.whole(metric.metric)]
    items = slices_of(result, metric.metric)
    for item, slices in items.items():
        has_averages = [item] == parts
        shown, hidden = chosen_rows(slices, lambda own: own.facts, choice, most, "slice")
        if not shown:
            continue
        header = [item, *(["tokenizer"] if has_averages and languages else []), "segments"]
        names: list[list[Cell]] = [
            [
                own.name,
                *([tokenizers[own.name]] if has_averages and languages else []),
                segments_of(own.scores.values()),
            ]
            for own in shown
        ]
        lines = [[own.scores.get(system) for system in systems] for own in shown]
        if has_averages:
            names.append(["macro average", *[""] * (len(header) - 1)])
            lines.append([*averages])
        errors = [score.standard_error for score in itertools.chain(*lines) if score is not None]
        decimals = decimals_of(metric.metric, asked, errors)
        compared = [own.differences for own in shown]
        marks: list[dict[str, str]] = [{} for _ in lines]
        caption: list[str] = []
        if for_paper:
            family = [row for own in itertools.chain(*items.values()) for row in own.differences]
            if has_averages:
                differences = result.compared(metric.metric)
                compared.append([row for row in differences if row.group == MACRO_AVERAGE])
                family += compared[-1]
            marks = [_stars_of(rows) for rows in compared]
            meaning = _meaning_in_slices(list(itertools.chain(*compared)), family)
        rows = [
            [*named, *score_numbers(scores, decimals, [own.get(system, "") for system in systems])]
            for named, scores, own in zip(names, lines, marks, strict=True)
        ]
        if for_paper:
            caption = [
                f"{metric.name} by {item}.",
                *(f"{reason}." for reason in hidden),
                *_reading(rows),
                *meaning,
            ]
            hidden = []
        yield Table(caption, [*header, *systems], rows, hidden)


def preset_table(result: Result, metric: MetricNames, asked: int | None) -> Table | None:
    """The table with a row for each preset: the scores of all systems; None without presets."""
    presets = [preset for preset in result.presets if preset.metric == metric.metric]
    if not presets:
        return None
    scores = [
        row for row in result.scores if row.metric == metric.metric and row.preset is not None
    ]
    decimals = decimals_of(metric.metric, asked, [score.standard_error for score in scores])
    systems = list(dict.fromkeys(score.system for score in scores))
    by_preset = {(score.preset, score.system): score for score in scores}
    rows: list[list[Cell]] = [
        [
            preset.preset,
            *(score_number(by_preset[preset.preset, system], decimals) for system in systems),
        ]
        for preset in presets
    ]
    notes = [(preset.preset, None, preset.signature) for preset in presets]
    return Table(
        [f"{metric.name} by several definitions."], ["preset", *systems], rows, notes=notes
    )


def score_number(score: ScoreRow | None, decimals: int) -> Number:
    """A score. A slice can lack a system, and an average a part."""
    return Number() if score is None else Number(*estimate(score.score, score.interval, decimals))


def units_of(result: Result) -> str:
    """The number of segments; and of documents, if these are the units."""
    text = counted(result.segments or 0, "segment")
    if result.uncertainty is not None and result.uncertainty["unit"] == "document":
        text += f" in {counted(result.uncertainty['units'], 'document')}"
    return text


def segments_of(rows: Iterable[ScoreRow | ComparisonRow]) -> Number:
    """The number of segments; if the systems have different numbers, the least and the most."""
    numbers = sorted({row.segments for row in rows})
    return Number("–".join(map(str, numbers if len(numbers) < 2 else (numbers[0], numbers[-1]))))


def notes_of(result: Result, metric: MetricNames) -> list[Note]:
    """The definitions of a metric: one, or one for each set of languages that have the same."""
    if metric.signature is not None:
        return [(metric.name, metric.sacrebleu_signature, metric.signature)]
    languages: dict[tuple[str | None, str], list[str]] = {}
    for language in result.languages_of(metric.metric):
        signatures = (language["sacrebleu_signature"], language["signature"])
        languages.setdefault(signatures, []).extend(language["slice"].values())
    return [
        (f"{metric.name} ({joined(names, _SHOWN_LANGUAGES)})", *signatures)
        for signatures, names in languages.items()
    ]


def signature_of(result: Result, row: ScoreRow) -> str | None:
    """The signature of a score of the run: languages can have their own."""
    if isinstance(row.group, Mapping):
        labels = row.group.items()
        for language in result.languages_of(row.metric):
            if language["slice"].items() <= labels:
                signature: str = language["signature"]
                return signature
    return result.metric(row.metric).signature


def ranks_of(clusters: Sequence[Mapping[str, Sequence[str]]]) -> dict[str, str]:
    """The rank of each system: "1", or "2–4" for each one of a cluster of three.

    Args:
      clusters: those of a metric, the best one first.
    """
    ranks: dict[str, str] = {}
    for cluster in clusters:
        first, last = len(ranks) + 1, len(ranks) + len(cluster["systems"])
        rank = str(first) if first == last else f"{first}–{last}"
        ranks |= dict.fromkeys(cluster["systems"], rank)
    return ranks


def score_numbers(
    scores: Sequence[ScoreRow | None], decimals: int, marks: Sequence[str] | None = None
) -> list[Number]:
    """Scores that are compared with each other. The best ones are those that look best."""
    numbers = [score_number(score, decimals) for score in scores]
    values = {float(number.text) for number in numbers if number.text}
    known = [score for score in scores if score is not None and score.score is not None]
    best = None
    if len(known) > 1:
        best = min(values) if row_of(known[0].metric).lower_is_better else max(values)
    return [
        dataclasses.replace(
            number, mark=mark, is_best=number.text != "" and float(number.text) == best
        )
        for number, mark in zip(numbers, marks or [""] * len(numbers), strict=True)
    ]


def _reading(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """What a reader must know of scores: what ± means, and what is bold."""
    numbers = [cell for row in rows for cell in row if isinstance(cell, Number)]
    sentences = []
    if any(number.half for number in numbers):
        sentences.append(f"{HALF_INTERVAL}.")
    if any(number.is_best for number in numbers):
        sentences.append(BEST_ARE_BOLD)
    return sentences


def _marks_of_systems(result: Result) -> tuple[dict[MetricWord, dict[str, str]], list[str]]:
    """The marks by metric and system, and sentences on their meaning.

    With --compare all they are ranks, otherwise stars.
    """
    groups = {word: None if result.whole(word) else MACRO_AVERAGE for word in result.words}
    compared = [row for row in result.comparisons if row.group == groups[row.metric]]
    tested = [row for row in compared if row.p_value_holm is not None]
    if not tested:
        return {}, []
    where = []
    if compared[0].segments != result.segments:
        where.append(f"Compared on the {compared[0].segments} segments that all systems have.")
    if len({row.baseline for row in compared}) > 1:
        ranks = {
            metric: ranks_of([own for own in result.clusters or () if own["metric"] == metric])
            for metric in result.words
        }
        meaning = (
            "Superscripts are ranks: a system is significantly better than each system of a later "
            f"rank (p < {SIGNIFICANCE_LEVEL}{_adjusted(tested)})."
        )
        return (ranks, [meaning, *where]) if any(ranks.values()) else ({}, [])
    untested = [
        f"{result.metric(row.metric).name} of {row.system}"
        for row in compared
        if row.p_value_holm is None
    ]
    if untested:
        where.append(f"Not tested: {joined(untested)}.")
    marks = {
        metric: _stars_of([row for row in compared if row.metric == metric])
        for metric in result.words
    }
    return marks, [meaning_of_stars(tested, tested, tested[0].baseline), *where]


def _stars_of(differences: Iterable[ComparisonRow]) -> dict[str, str]:
    """The marks of the systems that are compared with a baseline."""
    return {row.system: stars(row) for row in differences if row.p_value_holm is not None}


def _meaning_in_slices(
    shown: Sequence[ComparisonRow], family: Sequence[ComparisonRow]
) -> list[str]:
    """Sentences on the meaning of stars in a table of slices."""
    tested = [row for row in family if row.p_value_holm is not None]
    shown = [row for row in shown if row.p_value_holm is not None]
    if not shown:
        return []
    untested = ["Slices without ± are not tested."] if len(tested) < len(family) else []
    return [meaning_of_stars(shown, tested, tested[0].baseline), *untested]


def meaning_of_stars(
    shown: Iterable[DifferenceRow], tested: Sequence[DifferenceRow], base: str
) -> str:
    """What the stars of a table mean. Only those that occur in it are explained.

    Args:
      shown: the differences of the table that were tested.
      tested: these, and all others for which their p-values are adjusted.
      base: what the scores are compared with.
    """
    occurring = {*map(stars, shown)}
    levels = [f"{mark} p < {level}" for level, mark in _STARS.items() if mark in occurring]
    if not levels:
        return (
            f"No difference from {base} is significant "
            f"(p < {SIGNIFICANCE_LEVEL}{_adjusted(tested)})."
        )
    meanings = ", ".join(levels)
    return f"Superscripts: significantly different from {base} ({meanings}{_adjusted(tested)})."


def _adjusted(tested: Sequence[DifferenceRow]) -> str:
    """How p-values were adjusted, in each metric; nothing if there was only one."""
    numbers = collections.Counter((row.metric, row.family) for row in tested)
    most = max(numbers.values())
    if most == 1:
        return ""
    number = f"{most}" if len({*numbers.values()}) == 1 else f"up to {most}"
    of_each = " of each metric" if len({row.metric for row in tested}) > 1 else ""
    return f"; p adjusted by Holm for {number} comparisons{of_each}"


def stars(row: DifferenceRow) -> str:
    """The mark of a difference; "" if it is not significant, or was not tested."""
    p = row.p_value_holm
    return next((mark for level, mark in _STARS.items() if p is not None and p < level), "")
