"""The subcommand `beam-bleu compare`: compares the scores of two runs."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

from beam_bleu.pipeline.command_line.output_flags import RowFlags
from beam_bleu.pipeline.command_line.parser import format_flag
from beam_bleu.pipeline.display.comparison_tables import interval_number
from beam_bleu.pipeline.display.latex import latex
from beam_bleu.pipeline.display.printable import json_text, value_text
from beam_bleu.pipeline.display.row_order import (
    RowChoice,
    chosen_rows,
    decimals_of,
    verdict,
)
from beam_bleu.pipeline.display.score_tables import meaning_of_stars, notes_of, stars
from beam_bleu.pipeline.display.table import (
    LOWER,
    Column,
    Table,
    as_lines,
    as_text,
    markdown,
    table_of,
)
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.result.comparing import ComparedResults, compared_results, without
from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    MACRO_AVERAGE,
    ComparedRow,
    FamilyName,
    MetricNames,
    labels_of,
)
from beam_bleu.pipeline.result.saved_result import named_if_damaged, result_at
from beam_bleu.pipeline.subcommands.saved_results import run
from beam_bleu.transforms.definition.flags import Flag, filled, flags_of
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    estimate,
    p_value,
    rounded,
    signed,
)

_DESCRIPTION = (
    "Compares the scores of two runs, and says how sure their differences are. The comparison is "
    "paired if both runs have --save_totals, the same references, the same --partition and the "
    "same random replicates (--resample). Otherwise, and on slices, the runs are taken for random "
    "samples of the same kind of text, so harder texts can look like a drop in quality."
)

_PAPER = {"markdown": markdown, "latex": latex}
"""What writes tables for a paper."""


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    which = "the folder of the {} run, or its scores.json or totals.json"
    groups = {
        "input": [Flag(name, which.format(name), name.upper()) for name in ("old", "new")],
        "output": [format_flag("text", "json", *_PAPER), *flags_of(RowFlags)],
    }
    return run("compare", _DESCRIPTION, groups, argv, _compare)


def _compare(flags: argparse.Namespace) -> bytes:
    choice = filled(RowFlags, vars(flags))
    with named_if_damaged(f"{flags.old} or {flags.new}"):
        compared = compared_results(result_at(flags.old), result_at(flags.new))
    names = {metric.metric: metric.name for metric in compared.metrics}
    rows = (*compared.family("corpus"), *compared.family("macro_average"))
    lacking = [f"{names[row.metric]}: {row.system}: {row.reason}" for row in rows if row.reason]
    for warning in (*compared.left_out, *lacking):
        warn(warning)
    if flags.format == "json":
        return _as_json(compared).encode()
    if flags.format in _PAPER:
        tables = (_tables(compared, each, choice, for_paper=True) for each in compared.metrics)
        return _PAPER[flags.format]([*itertools.chain.from_iterable(tables)], ()).encode()
    texts = [_text(compared, metric, choice) for metric in compared.metrics]
    return "\n".join(texts).encode()


def _as_json(compared: ComparedResults) -> str:
    """What all metrics have in common, and lists in which each entry names its metric."""
    names = ("metric", "name", "signature")
    old, new = compared.old.result.systems, compared.new.result.systems
    document = {
        "metrics": [{name: getattr(metric, name) for name in names} for metric in compared.metrics],
        "method": "paired" if compared.is_paired else "independent",
        "reason": compared.reason,
        **{
            "systems" if name == "corpus" else name: [
                {field: getattr(row, field) for field in _FIELDS}
                | {"slice": labels_of(row) or None}
                for row in compared.family(name)
            ]
            for name in FAMILIES
        },
        "only_old": without(old, new),
        "only_new": without(new, old),
    }
    return json_text(document, indent=1) + "\n"


_FIELDS = (
    *("metric", "system", "old", "new", "difference", "standard_error", "interval", "p_value"),
    *("reason", "p_value_holm", "detectable", "segments"),
)


def _text(compared: ComparedResults, metric: MetricNames, choice: RowChoice) -> str:
    signature = metric.signature or "each language has its own definition"
    method = "paired" if compared.is_paired else "independent"
    head = [f"{metric.name}|{signature}", f"{method}: {compared.reason}"]
    tables = [*_tables(compared, metric, choice)]
    if compared.is_paired and any(table.header[0] != "system" for table in tables):
        head.append(
            "slices and averages: independent, because replicates are of the whole corpus only"
        )
    return "\n".join([as_lines(head), *(as_text(table) for table in tables)])


def _tables(
    compared: ComparedResults,
    metric: MetricNames,
    choice: RowChoice,
    *,
    for_paper: bool = False,
) -> Iterator[Table]:
    """The tables of differences by a metric: of systems, of averages, and of each item of slices.

    For a paper a table has a caption, stars and definitions, instead of all numbers.
    """
    notes = notes_of(compared.new.result, metric) if for_paper else []
    for family in FAMILIES:
        rows = compared.family(family, metric.metric)
        if family == "slices":
            choice = dataclasses.replace(choice, sort=choice.sort or "difference")
        for item, group in itertools.groupby(rows, key=lambda row: "*".join(labels_of(row))):
            part = [*group]
            shown, hidden = chosen_rows(part, lambda row: [row], choice, "comparison")
            columns = [
                *_names(shown, family, item),
                *_columns(metric, shown, has_holm=len(rows) > 1, for_paper=for_paper),
            ]
            caption = _caption(compared, metric, part, hidden) if for_paper else hidden
            yield table_of(columns, caption, notes)
            notes = []


def _names(rows: Sequence[ComparedRow], family: FamilyName, item: str) -> list[Column]:
    heading = "macro average" if family == "macro_average" else "system"
    systems: Column = (heading, [row.system for row in rows])
    if family != "slices":
        return [systems]
    slices = ["*".join(map(value_text, labels_of(row).values())) for row in rows]
    return [(item, slices), systems, ("segments", [Number(str(row.segments)) for row in rows])]


def _columns(
    metric: MetricNames, rows: Sequence[ComparedRow], *, has_holm: bool, for_paper: bool
) -> Iterator[Column]:
    """All that is known about differences; for a paper the scores and the differences."""
    decimals = decimals_of(metric.metric, rows)
    arrow = f" {LOWER}" if for_paper and row_of(metric.metric).lower_is_better else ""
    yield f"old{arrow}", [Number(rounded(row.old, decimals)) for row in rows]
    yield f"new{arrow}", [Number(rounded(row.new, decimals)) for row in rows]
    yield (
        "difference",
        [
            estimate(row.difference, row.interval, decimals, signed, stars(row))
            if for_paper
            else estimate(row.difference, None, decimals, signed, verdict(row))
            for row in rows
        ],
    )
    if for_paper:
        return
    yield "standard error", [estimate(row.standard_error, None, decimals) for row in rows]
    yield "95 % interval", [interval_number(row.interval, decimals) for row in rows]
    yield "p", [Number(p_value(row.p_value)) for row in rows]
    if has_holm:
        yield "Holm p", [Number(p_value(row.p_value_holm)) for row in rows]


def _caption(
    compared: ComparedResults,
    metric: MetricNames,
    rows: Sequence[ComparedRow],
    hidden: Sequence[str],
) -> list[str]:
    """What a reader must know of a table of differences."""
    group = rows[0].group
    about = f"{metric.name} by {'*'.join(group)}" if isinstance(group, Mapping) else metric.name
    if group == MACRO_AVERAGE:
        about = f"Macro averages of {metric.name}"
    in_pairs = compared.is_paired and group is None
    way = "in pairs" if in_pairs else "as if their segments were independent"
    caption = [f"{about}, compared with the old run {way}", *hidden]
    if any(row.p_value_holm is not None for row in rows):
        caption += [HALF_INTERVAL, meaning_of_stars("the old run")]
    return caption
