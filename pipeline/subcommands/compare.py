"""The subcommand `beam-bleu compare`: compares the scores of two runs."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.command_line.output_flags import add_row_flags, row_choice
from beam_bleu.pipeline.command_line.parser import add_text_or_json_flag, parser_of
from beam_bleu.pipeline.display.comparison_tables import intervals
from beam_bleu.pipeline.display.fitted_rows import drawn, fitted
from beam_bleu.pipeline.display.latex import latex
from beam_bleu.pipeline.display.markdown import markdown
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.display.row_order import (
    VERDICT_STYLES,
    RowChoice,
    chosen_rows,
    verdict,
)
from beam_bleu.pipeline.display.slices import SHOWN_SLICES, value_text
from beam_bleu.pipeline.display.table import on_lines_of
from beam_bleu.pipeline.display.terminal import Screen, screen_of_stdout
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.result.compared_results import (
    ComparedMetric,
    ComparedResults,
    compared_results,
)
from beam_bleu.pipeline.result.rows import ComparedRow
from beam_bleu.pipeline.result.saved_result import named_if_damaged, result_at
from beam_bleu.pipeline.subcommands.compared_tables import (
    compared_tables,
    entry_of,
    labels_of,
)
from beam_bleu.pipeline.subcommands.saved_results import add_common_flags, run
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import aligned, estimates, p_value, rounded, signed

_DESCRIPTION = (
    "Compares the scores of two runs, on the whole corpus, on each slice and language, and on "
    "average, and says how sure their differences are. The comparison is paired if both runs have "
    "--save_totals, the same references, the same --partition and the same random replicates "
    "(--resample). Otherwise, and on slices, the runs are taken for random samples of the same "
    "kind of text, so a night of harder texts can look like a drop in quality."
)

_MORE_DECIMALS = 1
"""How many decimals more than a score a difference without a standard error has."""


_PAPER = {"markdown": markdown, "latex": latex}
"""What writes tables for a paper."""


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    parser = parser_of("compare", _DESCRIPTION)
    files = parser.add_argument_group("input")
    for name, which in (("old", "the old run"), ("new", "the new run")):
        files.add_argument(
            name,
            metavar=name.upper(),
            help=f"the folder of {which}, or its scores.json or totals.json",
        )
    output = parser.add_argument_group("output")
    add_text_or_json_flag(output, *_PAPER)
    add_row_flags(output)
    add_common_flags(parser.add_argument_group("messages and help"))
    return run(parser, argv, _compare)


def _compare(flags: argparse.Namespace) -> bytes:
    choice = row_choice(flags)
    with named_if_damaged(f"{flags.old} or {flags.new}"):
        compared = compared_results(result_at(flags.old), result_at(flags.new))
    for warning in (*compared.warnings, *_without_numbers(compared.metrics)):
        warn(warning)
    if flags.format == "json":
        return _as_json(compared).encode()
    if flags.format in _PAPER:
        return _PAPER[flags.format](compared_tables(compared, choice), ()).encode()
    screen = screen_of_stdout()
    texts = [_text(compared, metric, choice, screen) for metric in compared.metrics]
    return "\n".join(texts).encode()


def _without_numbers(metrics: Sequence[ComparedMetric]) -> Iterator[str]:
    """Which differences lack numbers, and why, in sentences."""
    for metric in metrics:
        named = f"{metric.name}: " if len(metrics) > 1 else ""
        for row in (*metric.systems, *metric.macro_average):
            if row.reason:
                yield f"{named}{row.system}: {row.reason}"
        if unknown := sum(row.standard_error is None for row in metric.slices):
            has = "has" if unknown == 1 else "have"
            yield (
                f"{named}{unknown} of {len(metric.slices)} differences in slices {has} no standard "
                "error, because a score has none"
            )


def _as_json(compared: ComparedResults) -> str:
    """What all metrics have in common, and lists in which each entry names its metric."""
    metrics = compared.metrics
    names = ("metric", "name", "signature")
    document = {
        "metrics": [{name: getattr(metric, name) for name in names} for metric in metrics],
        "method": "paired" if compared.is_paired else "independent",
        "reason": compared.reason,
        **{
            name: [entry_of(row) for metric in metrics for row in getattr(metric, name)]
            for name in ("systems", "macro_average", "slices")
        },
        "only_old": compared.only_old,
        "only_new": compared.only_new,
    }
    return json_text(document, indent=1) + "\n"


def _text(
    compared: ComparedResults, metric: ComparedMetric, choice: RowChoice, screen: Screen
) -> str:
    signature = metric.signature or "each language has its own definition"
    method = "paired" if compared.is_paired else "independent"
    head = [f"{metric.name}|{signature}", f"{method}: {compared.reason}"]
    if compared.is_paired and (metric.slices or metric.macro_average):
        head.append(
            "slices and averages: independent, because replicates are of the whole corpus only"
        )
    elif compared.remedy:
        head.append(compared.remedy)
    parts = [on_lines_of(head, screen)]
    parts += _table(metric, metric.systems, ["system"], choice, screen)
    parts += _table(metric, metric.macro_average, ["macro average"], choice, screen)
    usual = choice if choice.sort else dataclasses.replace(choice, sort="difference")
    for labels, of_item in itertools.groupby(metric.slices, key=labels_of):
        parts += _table(metric, list(of_item), ["*".join(labels), "system"], usual, screen)
    return "\n".join(parts)


def _table(
    metric: ComparedMetric,
    scores: Sequence[ComparedRow],
    names: Sequence[str],
    choice: RowChoice,
    screen: Screen,
) -> Iterator[str]:
    """A table of differences; none without any.

    Args:
      metric: what is compared.
      scores: the differences.
      names: the headings of the slice, if it is about slices, and of the system.
      choice: which rows are shown, and in which order.
      screen: where they are shown.
    """
    if not scores:
        return
    lower_is_better = row_of(metric.metric).lower_is_better
    most = None if screen.columns is None else SHOWN_SLICES
    rows, hidden = chosen_rows(
        [entry_of(score) for score in scores],
        [{"score": score.new, "standard_error": score.standard_error} for score in scores],
        choice,
        most,
        lower_is_better=lower_is_better,
    )
    errors = [row["standard_error"] for row in rows]
    decimals = decimals_of(metric.metric, None, errors)
    more = decimals if any(errors) else decimals + _MORE_DECIMALS
    verdicts = [verdict(row, lower_is_better=lower_is_better) for row in rows]
    differences = aligned([signed(row["difference"], more) for row in rows])
    columns = [[names[-1], *(row["system"] for row in rows)]]
    if len(names) > 1:
        slices = ["*".join(map(value_text, row["slice"].values())) for row in rows]
        # The only system is in the table above. Without it, 80 columns have room for p-values.
        is_only = len(metric.systems) == 1
        columns = [[names[0], *slices], *([] if is_only else columns)]
        columns.append(["segments", *(str(row["segments"]) for row in rows)])
    columns += [
        ["old", *aligned([rounded(row["old"], decimals) for row in rows])],
        ["new", *aligned([rounded(row["new"], decimals) for row in rows])],
        ["difference", *estimates([(number, "") for number in differences], verdicts)],
        ["standard error", *("" if error is None else f"{error:.{more}f}" for error in errors)],
        ["95 % interval", *intervals(rows, more, signed)],
        ["p", *(p_value(row["p_value"]) for row in rows)],
    ]
    if sum(score.p_value is not None for score in scores) > 1:
        columns.append(["Holm p", *(p_value(row["p_value_holm"]) for row in rows)])
    place = [column[0] for column in columns].index("difference")
    styles = {
        (number, place): VERDICT_STYLES[word] for number, word in enumerate(verdicts, 1) if word
    }
    table = list(zip(*columns, strict=True))
    yield drawn(fitted(table, screen), screen, styles=styles) + (f"{hidden}\n" if hidden else "")
