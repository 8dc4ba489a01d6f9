"""Tables of comparisons: differences between systems, in slices too, clusters, and replicates."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from beam_bleu.pipeline.display.row_order import Part, View, chosen_rows, usual_sort, verdict
from beam_bleu.pipeline.display.score_tables import (
    AVERAGE,
    Slice,
    drawn_from,
    macro_average,
    meaning_of_stars,
    notes_of,
    ranks_of,
    reading_of,
    score_number,
    score_numbers,
    segments_of,
    slices_of,
    stars,
    units_of,
)
from beam_bleu.pipeline.display.table import LOWER, Cell, Column, Table, table_of
from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    ComparisonRow,
    DifferenceRow,
    Entry,
    Labels,
    MetricNames,
)
from beam_bleu.transforms.known_metrics import metric_type, row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL, TWO_SIDED_95
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    counted,
    decimals_for,
    estimate,
    p_value,
    rounded,
    signed,
)

_EXACT = "McNemar p: exact, not adjusted"


def comparison_tables(view: View, metric: MetricNames) -> Iterator[Table]:
    result = view.result
    clusters = [own for own in result.clusters or () if own["metric"] == metric.metric]
    if sum(len(cluster["systems"]) for cluster in clusters) > 1:
        yield _clusters(view, metric, clusters)
    for family in ("corpus", "macro_average"):
        rows = [row for row in result.compared(metric.metric) if row.family == family]
        if table := differences_table(view, rows):
            yield table
    for item, slices in slices_of(result, metric.metric).items():
        if table := differences_in_slices(view, item, slices):
            yield table
    yield from resampled_tables(view, metric)


def differences_table(view: View, compared: Sequence[ComparisonRow]) -> Table | None:
    """A row for each difference; None if none has a p-value, since the scores then say as much."""
    adjusted = _adjusted(view, compared)
    if not adjusted and not any(row.mcnemar for row in compared):
        return None
    metric, segments = compared[0].metric, compared[0].segments
    scores = {score.system: score for score in view.result.whole(metric)}

    def parts(row: ComparisonRow) -> list[Part]:
        return [row, scores[row.system]] if row.system in scores else [row]

    shown, hidden = chosen_rows(compared, parts, view.choice, "comparison")
    decimals = view.decimals_of(metric, shown)
    about, heading, names = _named(
        [(row.system, row.baseline) for row in compared],
        [(row.system, row.baseline) for row in shown],
    )
    on = FAMILIES[compared[0].family]
    if compared[0].family == "corpus" and segments != view.result.segments:
        on += f", over the {segments} segments that all systems have"
    columns: list[Column] = [
        (heading, names),
        ("difference", [difference_number(row, decimals) for row in shown]),
        ("p", [Number(p_value(row.p_value)) for row in shown]),
    ]
    legend = [HALF_INTERVAL] if adjusted else []
    if adjusted > 1:  # a family's only p-value is not adjusted
        legend.append(f"Holm p: p adjusted for {adjusted} comparisons")
        columns.append(("Holm p", [Number(p_value(row.p_value_holm)) for row in shown]))
    if any(row.mcnemar for row in shown):
        columns.append(("McNemar p", [exact_number(row) for row in shown]))
        legend += [_EXACT] if len(compared) > 1 else []
    if any(row.detectable is not None for row in shown):
        legend.append(
            "detectable: the smallest true difference that such a test set would usually find "
            f"(p < {SIGNIFICANCE_LEVEL} in 80 % of cases)"
        )
        columns.append(("detectable", [estimate(row.detectable, None, decimals) for row in shown]))
    return table_of(columns, [f"{about}, {on}", *hidden], legend=legend)


def differences_in_slices(view: View, item: str, slices: Sequence[Slice]) -> Table | None:
    """A row for each slice, a column for each system; None if no difference has a p-value."""
    compared = [row for own in slices for row in own.differences]
    adjusted = _adjusted(view, compared)
    if all(row.p_value is None for row in compared):
        return None
    choice = dataclasses.replace(view.choice, sort=view.choice.sort or usual_sort(item))
    systems = list(dict.fromkeys(row.system for row in compared))
    shown, hidden = chosen_rows(slices, lambda own: own.parts, choice, "slice")
    decimals = view.decimals_of(
        compared[0].metric, [row for own in shown for row in own.differences]
    )
    rows: list[list[Cell]] = []
    for own in shown:
        by_system = {row.system: row for row in own.differences}
        numbers = [difference_number(by_system.get(system), decimals) for system in systems]
        rows.append([own.name, segments_of(own.differences), *numbers])
    legend = [
        HALF_INTERVAL,
        f"worse or better where p < {SIGNIFICANCE_LEVEL}, adjusted by Holm for "
        f"{counted(adjusted, 'comparison')}",
    ]
    caption = [f"differences from {compared[0].baseline}, in slices by {item}", *hidden]
    return Table(caption, [item, "segments", *systems], rows, legend=legend)


def _adjusted(view: View, compared: Sequence[ComparisonRow]) -> int:
    """How many p-values are adjusted together in the family of these comparisons."""
    names = {(row.metric, row.family) for row in compared}
    return sum(
        row.p_value is not None
        for row in view.result.comparisons
        if (row.metric, row.family) in names
    )


def _clusters(view: View, metric: MetricNames, clusters: Sequence[Entry]) -> Table:
    scores = {score.system: score for score in view.result.whole(metric.metric)}
    decimals = view.decimals_of(metric.metric, scores.values())
    legend = [
        "rank: each system is better than each one of a later rank "
        f"(p < {SIGNIFICANCE_LEVEL}, adjusted by Holm)"
    ]
    rows: list[list[Cell]] = [
        [system, rank, score_number(scores[system], decimals)]
        for system, rank in ranks_of(clusters).items()
    ]
    return Table(["clusters"], ["system", "rank", metric.name], rows, legend=legend)


def resampled_tables(
    view: View, metric: MetricNames, *, for_paper: bool = False
) -> Iterator[Table]:
    """Scores and differences by replicates; for a paper, in one table if there is one baseline."""
    resampling = view.result.resampling
    if resampling is None:
        return
    tables = [
        _resampled(view, entries)
        for kind in ("scores", "comparisons")
        if (entries := [own for own in resampling[kind] if own["metric"] == metric.metric])
    ]
    if for_paper and len(tables) == 2 and tables[1].header[0] == "system":
        tables = [_side_by_side(*tables)]
    for table in tables:
        (about,) = table.caption
        drawn = f"{drawn_from(resampling)}, seed {resampling['seed']}"
        yield dataclasses.replace(table, caption=[f"{drawn}: {about}"])


def _side_by_side(scores: Table, differences: Table) -> Table:
    of_system = {row[0]: row[1:] for row in differences.rows}
    of_baseline = [Number()] * (len(differences.header) - 1)
    return Table(
        [f"{scores.caption[0]}, and {differences.caption[0]}"],
        [*scores.header, *(_OF_DIFFERENCE.get(name, name) for name in differences.header[1:])],
        [[*row, *of_system.get(row[0], of_baseline)] for row in scores.rows],
        legend=differences.legend,
    )


_OF_DIFFERENCE = {"mean": "its mean", "95 % interval": "its 95 % interval"}


def _resampled(view: View, entries: Sequence[Entry]) -> Table:
    def is_known(name: str) -> bool:
        return any(entry.get(name) is not None for entry in entries)

    about, heading, names = "scores", "system", [entry["system"] for entry in entries]
    write = rounded
    if is_known("baseline"):
        pairs = [(entry["system"], entry["baseline"]) for entry in entries]
        about, heading, names = _named(pairs, pairs)
        write = signed
    ends = [entry["interval"] for entry in entries]
    metric, decimals = entries[0]["metric"], view.decimals
    if decimals is None:  # as many as standard errors of this size would give
        errors = [own and (own[1] - own[0]) / (2 * TWO_SIDED_95) for own in ends]
        if not any(ends):
            errors = [row.standard_error for row in view.result.compared(metric)]
        decimals = decimals_for(errors, metric_type(metric).score_type.DECIMALS)
    columns: list[Column] = [(heading, names)]
    for name in filter(is_known, ("difference", "mean")):
        columns.append((name, [estimate(entry[name], None, decimals, write) for entry in entries]))
    if any(ends):
        columns.append(("95 % interval", [interval_number(own, decimals, write) for own in ends]))
    legend = []
    if is_known("p_value"):
        columns.append(("p", [Number(p_value(entry["p_value"])) for entry in entries]))
        if len(entries) > 1:
            legend.append("p: not adjusted for the number of comparisons")
    if is_known("p_sacrebleu"):
        of_sacrebleu = [Number(p_value(entry["p_sacrebleu"])) for entry in entries]
        columns.append(("p of sacreBLEU", of_sacrebleu))
        legend.append("p of sacreBLEU: as sacreBLEU computes it")
    return table_of(columns, [about], legend=legend)


def tasks_tables(view: View, *, for_paper: bool = False) -> Iterator[Table]:
    """A table for each item, with a row for each slice and each metric of its task; none unless
    tasks have metrics of their own.
    """
    tasks = [own["slice"] for own in view.result.tasks if "metrics" in own]
    items = {row.item: None for row in view.result.scores if row.labels}
    for item in sorted(items if tasks else (), key=lambda item: item not in tasks[0]):
        yield _tasks_table(view, item, tasks, for_paper)


def _tasks_table(view: View, item: str, tasks: Sequence[Labels], for_paper: bool) -> Table:
    result, (label,) = view.result, tasks[0]
    found: list[tuple[MetricNames, int, Slice]] = []
    for metric in result.metrics:
        slices = slices_of(result, metric.metric).get(item, [])
        decimals = view.decimals_of(
            metric.metric, (row for own in slices for row in own.scores.values())
        )
        found += [(metric, decimals, own) for own in slices]
        if item == label and len(slices) > 1:
            found.append((metric, decimals, macro_average(result, metric.metric)))
    # Task by task, and means last.
    names = [own[label] for own in tasks]

    def place(own: Slice) -> int:
        labels = own.parts[0].labels
        return names.index(str(labels[label])) if labels else len(names)

    found.sort(key=lambda row: place(row[2]))
    shown, hidden = chosen_rows(found, lambda row: row[2].parts, view.choice, "row")
    compared = {own.system: own.baseline for row in found for own in row[2].differences}
    has_exact = any(own.mcnemar for row in found for own in row[2].differences)
    of_pair = ("Holm p", *(["McNemar p"] if has_exact else []))
    header = [item, "metric", *result.systems]
    for system, baseline in compared.items():
        header += [f"{system} - {baseline}", *of_pair]
    together = len(result.systems) + 1 if for_paper and compared else 0
    place_of_segments = len(header) if for_paper else 2
    header.insert(place_of_segments, "segments")
    rows: list[list[Cell]] = []
    for metric, decimals, own in shown:
        by_system = {row.system: row for row in own.differences}
        segments = "" if own.name == AVERAGE else segments_of(own.scores.values())
        is_error = row_of(metric.metric).lower_is_better
        name = f"{metric.name} {LOWER}" if is_error else metric.name
        cells: list[Cell] = [own.name, name]
        scores = [own.scores.get(system) for system in result.systems]
        if for_paper:
            marks = {row.system: stars(row) for row in own.differences}
            cells += score_numbers(scores, decimals, marks)
        else:
            cells += [score_number(score, decimals) for score in scores]
        for system in compared:
            row = by_system.get(system)
            number = difference_number(row, decimals)
            cells.append(dataclasses.replace(number, mark="") if for_paper else number)
            cells.append(Number(p_value(row.p_value_holm if row else None)))
            cells += [exact_number(row)] if has_exact else []
        cells.insert(place_of_segments, segments)
        rows.append(cells)
    legend = reading_of(rows)
    if compared:
        holm = "Holm p: adjusted for all comparisons by the same metric"
        if any(row[2].name == AVERAGE for row in found):
            holm += ", of macro averages separately"
        if for_paper:
            legend += [meaning_of_stars(next(iter(compared.values()))), holm]
        else:
            legend.append(f"{holm}; worse or better where it is below {SIGNIFICANCE_LEVEL}")
    legend += [_EXACT] if has_exact else []
    about = f"{units_of(result)}, by {item}" if for_paper else f"by {item}"
    of_all = [note for metric in result.metrics for note in notes_of(result, metric)]
    notes = of_all if for_paper and item == label else []
    return Table([about, *hidden], header, rows, notes, legend, together)


def exact_number(row: DifferenceRow | None) -> Number:
    exact = row.mcnemar if row else None
    return Number(p_value(exact.p_value if exact else None))


def difference_number(row: DifferenceRow | None, decimals: int) -> Number:
    if row is None:
        return Number()
    return estimate(row.difference, row.interval, decimals, signed, verdict(row))


def interval_number(
    interval: Sequence[float] | None, decimals: int, write: Callable[[float, int], str] = signed
) -> Number:
    return Number(" to ".join(write(end, decimals) for end in interval or ()))


def _named(
    compared: Sequence[tuple[str, str]], shown: Sequence[tuple[str, str]]
) -> tuple[str, str, list[str]]:
    """What is compared, in words; the heading of the column of names; the names to show."""
    baselines = {baseline for _, baseline in compared}
    if len(baselines) == 1:
        return f"differences from {baselines.pop()}", "system", [system for system, _ in shown]
    about = "differences between systems (system minus baseline)"
    return about, "system vs baseline", [f"{system} vs {baseline}" for system, baseline in shown]
