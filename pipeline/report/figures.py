"""Makes the figures of a report, each a chart, tables and a sentence: who is best, where, why."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from beam_bleu.pipeline.display.comparison_tables import (
    differences_in_slices,
    differences_table,
    tasks_tables,
)
from beam_bleu.pipeline.display.row_order import View, by_difference, decimals_of, gain, verdict
from beam_bleu.pipeline.display.score_tables import (
    AVERAGE,
    Slice,
    diversity_table,
    score_number,
    slice_tables,
    slices_of,
    systems_table,
    units_of,
)
from beam_bleu.pipeline.display.table import Cell, Column, Table, table_of
from beam_bleu.pipeline.folder.file_names import RUN_RECORD
from beam_bleu.pipeline.history.history import History, series_table
from beam_bleu.pipeline.history.history import Series as NightSeries
from beam_bleu.pipeline.report.charts import MOST_ROWS, Chart, Curves, Dot, Dots, Series
from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    MetricNames,
    Result,
    ScoreRow,
)
from beam_bleu.pipeline.saved.saved_result import SavedResult, exists, named_if_damaged, read
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import HALF_INTERVAL, Number, counted, estimates

UNCERTAINTY = (
    f"{HALF_INTERVAL}: another test set of the same kind would usually give a score within it. "
    f"A difference is significant if p < {SIGNIFICANCE_LEVEL}, adjusted for the number of "
    "comparisons (Holm)."
)

_NAMED = 8  # the most systems that a sentence names


@dataclasses.dataclass(frozen=True)
class Figure:
    """A finding with its chart and tables, which are named by the first sentence of their captions.

    Tables can be folded, except the only one of a figure without a chart.
    """

    title: str
    tables: Sequence[Table] = ()
    chart: Chart | None = None
    sentence: str = ""


def standing(result: Result) -> Iterator[Figure]:
    view = View(result)
    of_tasks = next(tasks_tables(view, for_paper=True), None)
    if scores := of_tasks or systems_table(view, for_paper=True):
        yield Figure(scores.caption[0], [scores])
    for metric in result.metrics:
        word = metric.metric
        for name, rows, of_slice in (
            (metric.name, result.whole(word), None),
            (f"{AVERAGE} of {metric.name}", result.averages(word), MACRO_AVERAGE),
        ):
            compared = [row for row in result.compared(word) if row.slice == of_slice]
            if rows:
                dots = [
                    Dot(row.system, row.score, row.interval)
                    for row in _best_first(rows)
                    if row.score is not None
                ]
                unit = f"{name} (lower is better)" if row_of(word).lower_is_better else name
                chart = Dots(dots, unit) if len(dots) > 1 else None
                yield Figure(name, chart=chart, sentence=best(name, rows, compared))
            if table := differences_table(view, compared):
                # The chart shows only the pairs with the first baseline.
                from_first = [row for row in compared if row.baseline == compared[0].baseline]
                named = [("", row) for row in _best_first(from_first)]
                yield _differences(name, name, named, table)


def best(name: str, scores: Sequence[ScoreRow], comparisons: Sequence[ComparisonRow] = ()) -> str:
    """A sentence: which system is best by this metric, and which cannot be told apart from it."""
    ranked = [row for row in _best_first(scores) if row.score is not None]
    if not ranked:
        return f"No system has a score of the whole corpus by {name}."
    first = ranked[0]
    (number,) = estimates([score_number(first, decimals_of(first.metric, scores))])
    if len(scores) == 1:
        return f"{first.system} has {number} {name}."
    leaders = [row.system for row in ranked if row.score == first.score]
    kind = "lowest, and so the best," if row_of(first.metric).lower_is_better else "best"
    verb = "has" if len(leaders) == 1 else "have"
    text = f"{joined(leaders, _NAMED)} {verb} the {kind} {name}: {number}."
    verdicts = {
        row.baseline if row.system == first.system else row.system: verdict(row)
        for row in comparisons
        if first.system in (row.system, row.baseline) and row.p_value_holm is not None
    }
    if unsure := [system for system, known in verdicts.items() if not known]:
        text += f" This test set does not separate {first.system} from {joined(unsure, _NAMED)}."
    elif len(verdicts) == len(scores) - 1:
        text += " It is significantly better than each of the others."
    return text


Row = TypeVar("Row", ScoreRow, ComparisonRow)


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=gain, reverse=True)


def _differences(
    name: str, title: str, compared: Sequence[tuple[str, ComparisonRow]], table: Table
) -> Figure:
    baseline = compared[0][1].baseline
    dots = [
        Dot(
            f"{where}: {row.system}" if where else row.system,
            row.difference,
            row.interval,
            verdict(row) or "chance",
        )
        for where, row in compared
    ]
    kept = "worst" if compared[0][0] else "first"
    chart = Dots(dots, f"points of {name} above {baseline}", from_zero=True, kept=kept)
    return Figure(f"{title}: differences from {baseline}", [table], chart)


def places(result: Result) -> Iterator[Figure]:
    view = View(result)
    for metric in result.metrics:
        items = slices_of(result, metric.metric).items()
        tables = slice_tables(view, metric, for_paper=True)
        for (item, slices), table in zip(items, tables, strict=True):
            title = f"{metric.name} by {item}"
            yield Figure(title, [table], _chart_of_slices(result, metric, item, slices))
            if differences := differences_in_slices(view, item, slices):
                compared = [(own.name, row) for own in slices for row in own.differences]
                compared.sort(key=lambda named: by_difference(named[1]))
                if item == LENGTH:
                    names, shown = [own.name for own in slices], compared[:MOST_ROWS]
                    compared[:MOST_ROWS] = sorted(shown, key=lambda named: names.index(named[0]))
                yield _differences(metric.name, title, compared, differences)


def _chart_of_slices(
    result: Result, metric: MetricNames, item: str, slices: Sequence[Slice]
) -> Chart | None:
    """For slices by length, the curves of all systems; for others, the dots of the best system."""
    whole = result.whole(metric.metric) or result.averages(metric.metric)
    rows = [row for own in slices for row in own.scores.values()]
    systems = list(dict.fromkeys(row.system for row in (*_best_first(whole), *rows)))
    if item == LENGTH and len(slices) > 1:
        series = {
            system: series_of([own.scores.get(system) for own in slices]) for system in systems
        }
        names = [own.name for own in slices]
        return Curves(names, series, metric.name, "tokens of the references")
    own_scores = {own.name: own.scores[systems[0]] for own in slices if systems[0] in own.scores}
    dots = [
        Dot(name, row.score or 0.0, row.interval)
        for name, row in sorted(own_scores.items(), key=lambda named: gain(named[1]))
    ]
    unit = f"{metric.name} of {systems[0]}, the worst slices first"
    return Dots(dots, unit) if len(dots) > 1 else None


def series_of(rows: Sequence[ScoreRow | None], breaks: Collection[int] = ()) -> Series:
    scores = [row.score if row else None for row in rows]
    return Series(scores, [row.interval if row else None for row in rows], breaks)


def reasons(result: Result) -> Iterator[Figure]:
    if result.diversity:
        yield Figure("How varied the outputs are", [diversity_table(View(result))])
    for metric in result.metrics:
        table = systems_table(View(dataclasses.replace(result, metrics=(metric,))))
        if table is not None and len(table.header) > len(("system", "score")):
            title = f"The parts of {metric.name}"
            yield Figure(title, [dataclasses.replace(table, caption=[title])])
    for metric in result.metrics:
        yield from _distributions(result, metric)


def _distributions(result: Result, metric: MetricNames) -> Iterator[Figure]:
    by_edges: dict[tuple[float | None, ...], dict[str, Sequence[int]]] = {}
    for entry in result.distributions or ():
        if entry["metric"] == metric.metric:
            by_edges.setdefault(tuple(entry["edges"]), {})[entry["system"]] = entry["counts"]
    for edges, counts in by_edges.items():
        if not any(any(own[1:-1]) for own in counts.values()):
            continue  # such as 0 and 100 of exact match, of which the score already says all
        buckets = [_bucket(low, high) for low, high in itertools.pairwise(edges)]
        rows: list[list[Cell]] = [
            [bucket, *(Number(f"{number:,}") for number in numbers)]
            for bucket, *numbers in zip(buckets, *counts.values(), strict=True)
        ]
        title = f"{metric.name} of segments"
        if len(by_edges) > 1:
            title += f" of {joined([*counts])}"
        series = {
            system: Series([100 * number / (sum(own) or 1) for number in own])
            for system, own in counts.items()
        }
        chart = Curves(buckets, series, "% of segments", f"{metric.name} of a segment")
        yield Figure(title, [Table([title], ["score", *counts], rows)], chart)


_EDITS = {"substitution": "Substitutions", "deletion": "Deletions", "insertion": "Insertions"}
_MOST_CONFUSIONS = 20


def confusions(entries: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[Figure]:
    """The tables of each system's most frequent edits, by the names of the metrics."""
    by_title: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for entry in entries:
        title = f"What {entry['system']} confuses most often, by {names[entry['metric']]}"
        by_title.setdefault(title, {}).setdefault(_EDITS[entry["edit"]], []).append(entry)
    for title, by_kind in by_title.items():
        yield Figure(title, [_edits(kind, own[:_MOST_CONFUSIONS]) for kind, own in by_kind.items()])


def _edits(kind: str, entries: Sequence[Mapping[str, Any]]) -> Table:
    columns: list[Column] = [
        (f"in the {side}", [entry[side] for entry in entries])
        for side in ("reference", "candidate")
        if entries[0][side]
    ]
    times = [Number(f"{entry['times']:,}") for entry in entries]
    return table_of([*columns, ("times", times)], [kind])


def _bucket(low: float | None, high: float | None) -> str:
    if low is None:
        return "anything" if high is None else f"below {high:g}"
    return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


def past(history: History) -> Iterator[Figure]:
    metrics: dict[str, list[NightSeries]] = {}
    for series in history.series:
        metrics.setdefault(series.key.metric, []).append(series)
    for systems in metrics.values():
        yield _night_figure(history, systems)
    if history.gaps:
        rows = [[gap.night, gap.until, gap.text] for gap in history.gaps]
        table = Table(["Gaps in the history"], ["night", "until", "what"], rows)
        sentence = f"The history has {counted(len(history.gaps), 'gap')}."
        yield Figure("Gaps", [table], sentence=sentence)


def _night_figure(history: History, systems: Sequence[NightSeries]) -> Figure:
    name = systems[0].name
    missing = [gap.night for gap in history.gaps if gap.kind == "missing"]
    nights = sorted([*history.nights, *missing])  # sorted as texts, dates are in order of time
    curves = {}
    for series in systems:
        by_night = {score.night: score for score in series.scores}
        line = [by_night.get(night) for night in nights]
        breaks = {
            number
            for number, score in enumerate(line)
            if score and score.change.against and not score.change.row
        }
        curves[series.key.system] = series_of([own.row if own else None for own in line], breaks)
    losses = [
        f"{score.row.system} on {score.night}"
        for series in systems
        for score in series.scores
        if score.verdict == "worse"
    ]
    text = "No night is significantly worse than the one before."
    if losses:
        text = f"Significantly worse than the night before: {joined(losses, _NAMED)}."
    tables = [series_table(series, history.gaps) for series in systems]
    return Figure(f"{name} by night", tables, Curves(nights, curves, name), text)


def facts(saved: SavedResult) -> Iterator[Figure]:
    result, streams = saved.result, saved.streams
    rows: list[list[Cell]] = [[name, Number(f"{number:,}")] for name, number in _counters(result)]
    table = Table(["What was counted"], ["what", "number"], rows)
    labels = [label for label in result.partitions if label is not None]
    partitions = f"; partition{'s'[: len(labels) - 1]} {joined(labels)}" if labels else ""
    yield Figure("Counts", [table], sentence=f"Scored: {units_of(result)}{partitions}.")
    if streams:
        files = sum(len(stream["files"]) for stream in streams)
        yield Figure("Inputs", [_inputs(streams)], sentence=f"Files that were read: {files:,}.")
    if versions := _versions(saved):
        software = [[name.replace("_", "-"), version] for name, version in versions.items()]
        table = Table(["Versions"], ["software", "version"], software)
        sentence = f"beam-bleu {versions['beam_bleu']} scored these texts."
        yield Figure("Versions", [table], sentence=sentence)


def _versions(saved: SavedResult) -> dict[str, str]:
    record = f"{saved.folder}/{RUN_RECORD}"
    if not saved.folder or not exists(record):
        return {}
    with named_if_damaged(record):
        versions = json.loads(read(record))["versions"]
        # Without the platform, because a report must not depend on the machine.
        return {name: own for name, own in versions.items() if name != "platform"}


def _counters(result: Result) -> Iterator[tuple[str, int]]:
    for name, number in result.counters.items():
        if isinstance(number, int):
            yield name.replace("_", " "), number
    for rejected in result.counters.get("rejected_records", ()):
        yield f"rejected records: {rejected['reason']}", rejected["records"]
    for system in (result.coverage or {"systems": ()})["systems"]:
        yield f"segments that {system['system']} lacks", system["missing"]
        yield f"records of {system['system']} that no reference has", system["unknown"]


def _inputs(streams: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [
            stream["role"] + (f" of {stream['system']}" if stream["system"] is not None else ""),
            stream["pattern"],
            Number(f"{len(stream['files']):,}"),
            Number(f"{stream['lines']:,}"),
            Number(f"{stream['bytes']:,}"),
            stream["digest"],
        ]
        for stream in streams
    ]
    header = ["texts", "pattern", "files", "lines", "bytes", "digest"]
    return Table(["What was read", "Equal digests mean equal texts"], header, rows)
