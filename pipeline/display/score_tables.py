"""Tables of scores: systems by metrics, slices, presets, and what defines the scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from beam_bleu.pipeline.display.row_order import RowChoice, View, chosen_rows, gain
from beam_bleu.pipeline.display.table import LOWER, Cell, Column, Note, Table, table_of
from beam_bleu.pipeline.errors.printable import value_text
from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    DifferenceRow,
    Entry,
    MetricNames,
    Result,
    ScoreRow,
)
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord, metric_type, row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL, holm
from beam_bleu.transforms.score.shown_numbers import HALF_INTERVAL, Number, counted, estimate

BEST_ARE_BOLD = "Best scores are bold"
"""A sentence of captions, which formats without bold text leave out."""

_STARS = {0.001: "***", 0.01: "**", SIGNIFICANCE_LEVEL: "*"}
"""The marks of significant differences, by the level that p is below."""

_SHOWN_LANGUAGES = 8
_DECIMALS_OF_SHARES = 4

AVERAGE = "macro average"
"""The name of the row of means."""


@dataclasses.dataclass(frozen=True)
class Slice:
    name: str
    scores: dict[str, ScoreRow] = dataclasses.field(default_factory=dict)
    differences: list[ComparisonRow] = dataclasses.field(default_factory=list)

    @property
    def parts(self) -> list[ScoreRow | DifferenceRow]:
        return [*self.differences, *self.scores.values()]


def slices_of(result: Result, metric: MetricWord) -> dict[str, list[Slice]]:
    items: dict[str, dict[str, Slice]] = {}
    rows: list[ScoreRow | ComparisonRow] = [*result.slices(metric), *result.compared(metric)]
    for row in rows:
        if row.labels:
            own = items.setdefault(row.item, {}).setdefault(row.slice_name, Slice(row.slice_name))
            if isinstance(row, ScoreRow):
                own.scores[row.system] = row
            else:
                own.differences.append(row)
    return {item: list(slices.values()) for item, slices in items.items()}


def macro_average(result: Result, metric: MetricWord) -> Slice:
    return Slice(
        AVERAGE,
        {row.system: row for row in result.averages(metric)},
        [row for row in result.compared(metric) if row.slice == MACRO_AVERAGE],
    )


def systems_table(view: View, *, for_paper: bool = False) -> Table | None:
    """A row for each system and a column for each metric; None if there are no scores.

    For a paper, a mean over languages or tasks stands for a missing score of the corpus, and marks
    show significance. Otherwise, the parts of a result's only metric have columns of their own.
    """
    result = view.result
    means: dict[str, list[str]] = {}
    marks, meaning = _marks_of_systems(view) if for_paper else ({}, [])
    columns: list[Column] = []
    systems: list[str] = []
    for metric in result.metrics:
        word, scores = metric.metric, result.whole(metric.metric)
        if not scores and for_paper:
            scores = result.averages(word)
            kind = "languages" if result.languages_of(word) else "tasks"
            means.setdefault(f"{scores[0].segments} {kind}", []).append(metric.name)
        if not scores:
            continue
        if not columns:
            if view.choice.sort == "score":
                scores.sort(key=gain, reverse=True)
            systems = [score.system for score in scores]
            columns.append(("system", systems))
        scores.sort(key=lambda score: systems.index(score.system))
        has_arrow = row_of(word).lower_is_better and (for_paper or len(result.metrics) > 1)
        numbers = score_numbers(scores, view.decimals_of(word, scores), marks.get(word, {}))
        columns.append((f"{metric.name} {LOWER}" if has_arrow else metric.name, numbers))
        if len(result.metrics) == 1 and not for_paper:
            score_type, places = metric_type(word).score_type, view.decimals_of(word)
            cells = [score_type.cells(score.parts, places) for score in scores]
            columns += [(name, [Number(own[name]) for own in cells]) for name in cells[0]]
    if not columns:
        return None
    if not for_paper:
        return table_of(columns)
    caption = [
        f"Scores on {units_of(result)}",
        *(f"Means of {parts}: {', '.join(names)}" for parts, names in means.items()),
        *reading_of(cells for _, cells in columns),
        *meaning,
    ]
    notes = [note for metric in result.metrics for note in notes_of(result, metric)]
    return table_of(columns, caption, notes)


def slice_tables(view: View, metric: MetricNames, *, for_paper: bool = False) -> Iterator[Table]:
    """A table for each item of --slice_by, with a row for each slice and a column for each system.

    Languages and tasks are slices, too, and have a mean. For a paper, marks show significance.
    """
    result, word = view.result, metric.metric
    languages, averages = result.languages_of(word), result.averages(word)
    tokenizers = {
        value_text(value): language["tokenize"]
        for language in languages
        for value in language["slice"].values()
    }
    parts = [label for part in (languages or result.tasks)[:1] for label in part["slice"]]
    average = macro_average(result, word)
    systems = [score.system for score in averages or result.whole(word)]
    choice = view.choice if for_paper else RowChoice(view.choice.sort)
    for item, slices in slices_of(result, word).items():
        shown, hidden = chosen_rows(slices, lambda own: own.parts, choice, "slice")
        if not shown:
            continue
        has_average = [item] == parts
        shown += [average] if has_average and len(slices) > 1 else []
        decimals = view.decimals_of(word, (row for own in shown for row in own.scores.values()))
        header = [item, *(["tokenizer"] if has_average and languages else []), "segments", *systems]
        rows: list[list[Cell]] = []
        for own in shown:
            names: list[Cell] = [own.name]
            if has_average and languages:
                names.append(tokenizers.get(own.name, ""))
            names.append("" if own is average else segments_of(own.scores.values()))
            marks = {row.system: stars(row) for row in own.differences} if for_paper else {}
            scores = [own.scores.get(system) for system in systems]
            rows.append([*names, *score_numbers(scores, decimals, marks)])
        if not for_paper:
            yield Table((), header, rows)
            continue
        tested = [row for own in shown for row in own.differences if row.p_value_holm is not None]
        meaning = [meaning_of_stars(tested[0].baseline)] if tested else []
        caption = [f"{metric.name} by {item}", *hidden, *reading_of(rows), *meaning]
        yield Table(caption, header, rows)


def preset_table(view: View, metric: MetricNames) -> Table | None:
    presets = view.result.presets_of(metric.metric)
    if not presets:
        return None
    scores = [row for preset in presets for row in preset.scores]
    decimals = view.decimals_of(metric.metric, scores)
    rows: list[list[Cell]] = [
        [preset.preset, *(score_number(row, decimals) for row in preset.scores)]
        for preset in presets
    ]
    systems = list(dict.fromkeys(row.system for row in scores))
    notes = [Note(preset.preset, None, preset.signature) for preset in presets]
    caption = [f"{metric.name} by several definitions"]
    return Table(caption, ["preset", *systems], rows, notes)


def diversity_table(view: View) -> Table:
    """How varied the outputs of each system are. No value is better than another."""
    entries, places = view.result.diversity or (), view.decimals_of(DEFAULT_METRIC)
    orders = range(1, len(entries[0]["distinct"]) + 1) if entries else ()
    rows: list[list[Cell]] = [
        [
            entry["system"],
            *(estimate(share, None, _DECIMALS_OF_SHARES) for share in entry["distinct"]),
            estimate(entry["self_bleu"], None, places),
        ]
        for entry in entries
    ]
    header = ["system", *(f"distinct-{order}" for order in orders), "self-BLEU"]
    return Table(["How varied the outputs are"], header, rows)


def score_number(score: ScoreRow | None, decimals: int) -> Number:
    return Number() if score is None else estimate(score.score, score.interval, decimals)


def units_of(result: Result) -> str:
    text = counted(result.segments or 0, "segment")
    if result.uncertainty is not None and result.uncertainty["unit"] == "document":
        text += f" in {counted(result.uncertainty['units'], 'document')}"
    return text + conditions_of(result)


def conditions_of(result: Result) -> str:
    return f" with {', '.join(result.where)}" if result.where else ""


def segments_of(rows: Iterable[ScoreRow | ComparisonRow]) -> Number:
    """The number of segments; if the numbers of systems differ, the smallest and the largest."""
    numbers = sorted({row.segments for row in rows})
    return Number("–".join(map(str, numbers if len(numbers) < 2 else (numbers[0], numbers[-1]))))


def notes_of(result: Result, metric: MetricNames) -> list[Note]:
    if metric.signature is not None:
        return [Note(metric.name, metric.sacrebleu_signature, metric.signature)]
    languages: dict[tuple[str | None, str], list[str]] = {}
    for language in result.languages_of(metric.metric):
        signatures = (language["sacrebleu_signature"], language["signature"])
        languages.setdefault(signatures, []).extend(language["slice"].values())
    return [
        Note(f"{metric.name} ({joined(names, _SHOWN_LANGUAGES)})", *signatures)
        for signatures, names in languages.items()
    ]


def signature_of(result: Result, row: ScoreRow | ComparisonRow) -> str | None:
    for language in result.languages_of(row.metric):
        if language["slice"].items() <= row.labels.items():
            signature: str = language["signature"]
            return signature
    return result.metric(row.metric).signature


def ranks_of(clusters: Sequence[Mapping[str, Sequence[str]]]) -> dict[str, str]:
    """The rank of each system, best first: "1", or "2–4" for each system in a cluster of three."""
    ranks: dict[str, str] = {}
    for cluster in clusters:
        first, last = len(ranks) + 1, len(ranks) + len(cluster["systems"])
        rank = str(first) if first == last else f"{first}–{last}"
        ranks |= dict.fromkeys(cluster["systems"], rank)
    return ranks


def score_numbers(
    scores: Sequence[ScoreRow | None], decimals: int, marks: Mapping[str, str]
) -> list[Number]:
    numbers = [score_number(score, decimals) for score in scores]
    texts = [number.text for number in numbers if number.text]
    lower = any(row_of(score.metric).lower_is_better for score in scores if score is not None)
    best = (min if lower else max)(texts, key=float) if len(texts) > 1 else None
    own_marks = ["" if score is None else marks.get(score.system, "") for score in scores]
    return [
        dataclasses.replace(number, mark=mark, is_best=number.text == best)
        for number, mark in zip(numbers, own_marks, strict=True)
    ]


def reading_of(rows: Iterable[Sequence[Cell]]) -> list[str]:
    numbers = [cell for row in rows for cell in row if isinstance(cell, Number)]
    sentences = [HALF_INTERVAL] if any(number.half for number in numbers) else []
    return sentences + ([BEST_ARE_BOLD] if any(number.is_best for number in numbers) else [])


_Z_TEST = "a z-test"


def _marks_of_systems(view: View) -> tuple[dict[MetricWord, dict[str, str]], list[str]]:
    """The marks of each metric's systems, and what they mean."""
    result = view.result
    tests, resampling = _tests_of(result)
    if all(row.p_value_holm is None for row in tests):
        return {}, []
    where = []
    if tests[0].segments != result.segments:
        where.append(f"Compared on the {tests[0].segments} segments that all systems have")
    marks: dict[MetricWord, dict[str, str]] = {word: {} for word in result.words}
    if len({row.baseline for row in tests}) == 1:
        for row in tests:
            marks[row.metric][row.system] = stars(row)
        return marks, [meaning_of_stars(tests[0].baseline, resampling), *where]
    if view.from_best:
        for metric in result.words:
            best = max(result.whole(metric), key=gain, default=None)
            for row in tests:
                if best and row.metric == metric and best.system in (row.system, row.baseline):
                    other = row.baseline if row.system == best.system else row.system
                    marks[metric][other] = stars(row)
        return marks, [meaning_of_stars("the best system of the metric", resampling), *where]
    for metric in result.words:
        marks[metric] = ranks_of([own for own in result.clusters or () if own["metric"] == metric])
    meaning = (
        "Superscripts are ranks: a system is significantly better than each system of a later "
        f"rank by {_Z_TEST} (p < {SIGNIFICANCE_LEVEL}, adjusted by Holm)"
    )
    return marks, [meaning, *where] if any(marks.values()) else []


def _tests_of(result: Result) -> tuple[list[ComparisonRow], Entry | None]:
    """The comparisons of systems by replicates if there are any, and how these were drawn."""
    resampled = (result.resampling or {}).get("comparisons", ())
    if all(entry["p_value"] is None for entry in resampled):
        slices = {word: None if result.whole(word) else MACRO_AVERAGE for word in result.words}
        return [row for row in result.comparisons if row.slice == slices[row.metric]], None
    rows: list[ComparisonRow] = []
    for metric in result.words:
        own = [entry for entry in resampled if entry["metric"] == metric]
        for entry, p in zip(own, holm([entry["p_value"] for entry in own]), strict=True):
            row = ComparisonRow(
                metric=metric,
                system=entry["system"],
                baseline=entry["baseline"],
                slice=None,
                units=0,
                segments=result.segments or 0,
                difference=entry["difference"],
                p_value_holm=p,
            )
            rows.append(row)
    return rows, result.resampling


def drawn_from(resampling: Entry) -> str:
    resamples = counted(resampling["resamples"], "resample")
    return f"{resampling['method']}, {resamples} of {resampling['unit']}s"


def meaning_of_stars(base: str, resampling: Entry | None = None) -> str:
    """What stars mean; `resampling` made the p-values, or nothing but standard errors (None)."""
    levels = ", ".join(f"{mark} p < {level}" for level, mark in _STARS.items())
    test = _Z_TEST if resampling is None else drawn_from(resampling)
    return (
        f"Superscripts: significantly different from {base} by {test} ({levels}; adjusted by "
        "Holm); without one, not significant or not tested"
    )


def stars(row: DifferenceRow) -> str:
    """The mark of a difference; "" if it is not significant, or was not tested."""
    p = row.p_value_holm
    return next((mark for level, mark in _STARS.items() if p is not None and p < level), "")
