"""`beam-bleu compare` shows how two runs differ; `beam-bleu gate` judges results by thresholds."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.command_line.evidence_flags import GateFlags, gates, require_definitions
from beam_bleu.pipeline.command_line.parser import check_rules, format_flag
from beam_bleu.pipeline.display.comparison_tables import interval_number
from beam_bleu.pipeline.display.row_order import (
    RowChoice,
    chosen_rows,
    decimals_of,
    usual_sort,
    verdict,
)
from beam_bleu.pipeline.display.score_tables import meaning_of_stars, notes_of, stars
from beam_bleu.pipeline.display.table import (
    IN_PAPERS,
    LOWER,
    Column,
    Table,
    as_lines,
    as_text,
    table_of,
)
from beam_bleu.pipeline.errors.printable import json_text, printable
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.errors.terminal import write_to_stdout
from beam_bleu.pipeline.output.run_record import keep_verdict
from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    MACRO_AVERAGE,
    ComparedRow,
    FamilyName,
    MetricNames,
    definition_of,
)
from beam_bleu.pipeline.saved.comparing import ComparedResults, compared_results, pairing, without
from beam_bleu.pipeline.saved.judging import GATE_REMEDY, Check, gate_error, judge
from beam_bleu.pipeline.saved.saved_result import named_if_damaged, result_at
from beam_bleu.pipeline.scoring.thresholds import THRESHOLD_FLAGS
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag, filled, flags_of
from beam_bleu.transforms.errors import GateError, UsageError
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    estimate,
    p_value,
    rounded,
    signed,
)


def compare_command(argv: Sequence[str]) -> int:
    description = (
        "Compares the scores of two runs, and says how sure their differences are. The comparison "
        "is paired if both runs have --save_totals, the same references, the same --partition and "
        "the same random replicates (--resample). Otherwise, and on slices, the runs are taken "
        "for random samples of the same kind of text, so harder texts can look like a drop in "
        "quality."
    )
    which = "the folder of the {} run, or its scores.json or totals.json"
    groups = {
        "input": [Flag(name, which.format(name), name.upper()) for name in ("old", "new")],
        "output": [format_flag("text", "json", *IN_PAPERS), *flags_of(RowChoice)],
    }
    return run("compare", description, groups, argv, _compare)


def _compare(flags: argparse.Namespace) -> bytes:
    choice = filled(RowChoice, vars(flags))
    with named_if_damaged(f"{flags.old} or {flags.new}"):
        compared = compared_results(result_at(flags.old), result_at(flags.new))
    names = {metric.metric: metric.name for metric in compared.metrics}
    rows = (*compared.family("corpus"), *compared.family("macro_average"))
    lacking = [f"{names[row.metric]}: {row.system}: {row.reason}" for row in rows if row.reason]
    for warning in (*compared.warnings, *lacking):
        warn(warning)
    if flags.format == "json":
        return _as_json(compared).encode()
    if flags.format in IN_PAPERS:
        tables = (_tables(compared, each, choice, for_paper=True) for each in compared.metrics)
        return IN_PAPERS[flags.format]([*itertools.chain.from_iterable(tables)], ()).encode()
    texts = [_text(compared, metric, choice) for metric in compared.metrics]
    return "\n".join(texts).encode()


def _as_json(compared: ComparedResults) -> str:
    names = ("metric", "name", "signature")
    old, new = compared.old.result.systems, compared.new.result.systems
    document = {
        "metrics": [{name: getattr(metric, name) for name in names} for metric in compared.metrics],
        "method": "paired" if compared.is_paired else "independent",
        "reason": compared.reason,
        **{
            "systems" if name == "corpus" else name: [
                {field: getattr(row, field) for field in _FIELDS} | {"slice": row.labels or None}
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
    compared: ComparedResults, metric: MetricNames, choice: RowChoice, *, for_paper: bool = False
) -> Iterator[Table]:
    """The tables of differences by a metric; for a paper, with stars instead of p-values."""
    notes = notes_of(compared.new.result, metric) if for_paper else []
    for family in FAMILIES:
        rows = compared.family(family, metric.metric)
        for item, group in itertools.groupby(rows, key=lambda row: row.item):
            part, sort = [*group], choice.sort or (usual_sort(item) if item else None)
            own = dataclasses.replace(choice, sort=sort)
            shown, hidden = chosen_rows(part, lambda row: [row], own, "comparison")
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
    slices = [row.slice_name for row in rows]
    return [(item, slices), systems, ("segments", [Number(str(row.segments)) for row in rows])]


def _columns(
    metric: MetricNames, rows: Sequence[ComparedRow], *, has_holm: bool, for_paper: bool
) -> Iterator[Column]:
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
    about = f"{metric.name} by {rows[0].item}" if rows[0].item else metric.name
    if rows[0].slice == MACRO_AVERAGE:
        about = f"Macro averages of {metric.name}"
    in_pairs = compared.is_paired and rows[0].slice is None
    way = "in pairs" if in_pairs else "as if their segments were independent"
    caption = [f"{about}, compared with the old run {way}", *hidden]
    if any(row.p_value_holm is not None for row in rows):
        resampling = compared.new.result.resampling if in_pairs else None
        caption += [HALF_INTERVAL, meaning_of_stars("the old run", resampling)]
    return caption


def gate_command(argv: Sequence[str]) -> int:
    description = (
        "Compares saved results with thresholds, and prints a line for each check, unless with "
        "--quiet. It scores nothing, so a scheduler can repeat it alone. The exit code is 4 if a "
        "check fails."
    )
    shown = "a scores.json, a totals.json or a folder with one"
    results = Flag("results", shown, "RESULT", nargs="+")
    groups = {"input": [results], "thresholds": flags_of(GateFlags)}
    return run("gate", description, groups, argv, _gate)


def _gate(flags: argparse.Namespace) -> bytes:
    chosen = filled(GateFlags, vars(flags))
    check_rules(chosen)
    asked, old = gates(chosen, flags.results)
    if not asked:
        raise UsageError(
            "there is no threshold",
            "give --fail_under, --fail_over, --warn_under, --warn_over or --max_drop: see --help",
        )
    # All files are read first, so that a damaged one is found before the first line is printed.
    results = [result_at(path) for path in flags.results]
    for saved in results:
        require_definitions(
            asked, {word: definition_of(saved.result, word).chosen for word in saved.result.words}
        )
    kinds = {THRESHOLD_FLAGS[threshold.flag].kind for threshold in asked.thresholds}
    checks: list[Check] = []
    for saved in results:
        pairs = "nothing is compared" if old is None else pairing(old, saved)
        own = judge(saved.result, asked, saved.name, pairs)
        # Only for a folder: a scores.json named by itself may be a copy, or used to try thresholds.
        if saved.folder and kinds != {"warn"}:
            error = gate_error(own)
            keep_verdict(saved.folder, "" if error is None else error.cause)
        name = f"{saved.name}: " if len(results) > 1 else ""
        checks += (Check(check.verdict, name + check.text) for check in own)
    error = gate_error(checks)
    if flags.quiet:  # then stderr gives the reasons, because stdout does not
        if error is not None:
            raise error
        return b""
    lines = [f"{check.verdict}  {printable(check.text)}\n" for check in checks]
    write_to_stdout("".join(lines).encode())
    verdicts = [check.verdict for check in checks]
    if warned := verdicts.count("warned"):
        warn(f"{warned} of {len(checks)} checks warned")
    if error is not None:
        raise GateError(f"{verdicts.count('failed')} of {len(checks)} checks failed", GATE_REMEDY)
    return b""
