"""The subcommand `beam-bleu compare`: compares the scores of two runs."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
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
from beam_bleu.pipeline.gates.read_result import named_if_damaged, read_result
from beam_bleu.pipeline.output.file_names import MANIFEST, TOTALS
from beam_bleu.pipeline.output.manifest import digests_of
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.pipeline.saved.compared_runs import (
    ComparedRuns,
    Run,
    compared_runs,
)
from beam_bleu.pipeline.saved.compared_scores import ComparedScore
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.pipeline.subcommands.compared_tables import (
    compared_tables,
    entry_of,
    labels_of,
)
from beam_bleu.pipeline.subcommands.saved_results import add_common_flags, run
from beam_bleu.transforms.errors import joined
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
    old, new = _with_replicates(_run_at(flags.old), _run_at(flags.new))
    with named_if_damaged(f"{flags.old} or {flags.new}"):
        metrics, left_out = compared_runs(old, new)
    for cause in left_out:
        warn(f"{cause}: not compared")
    for only, path in ((metrics[0].only_old, flags.old), (metrics[0].only_new, flags.new)):
        if only:
            warn(f"only {path} has {joined(only)}: not compared")
    for metric in metrics:
        named = f"{metric.name}: " if len(metrics) > 1 else ""
        for score in (*metric.systems, *metric.macro_average):
            if score.reason:
                warn(f"{named}{score.system}: {score.reason}")
        if unknown := sum(score.standard_error is None for score in metric.slices):
            of_all = f"{unknown} of {len(metric.slices)} differences in slices"
            has = "has" if unknown == 1 else "have"
            warn(f"{named}{of_all} {has} no standard error, because a score has none")
        for note in metric.notes:
            warn(f"{named}{note}")
    if flags.format == "json":
        return _as_json(metrics).encode()
    if flags.format in _PAPER:
        return _PAPER[flags.format](compared_tables(metrics, choice), ()).encode()
    screen = screen_of_stdout()
    return "\n".join(_text(metric, choice, screen) for metric in metrics).encode()


def _run_at(path: str) -> Run:
    """The run at a path: its scores.json if it has one, otherwise its totals.json.

    Raises:
      InputError: there is no result, or it is damaged.
    """
    result = read_result(path)
    if result.totals is not None:
        return Run.of(result.name, result.totals, result.document)
    manifest = f"{result.name.rstrip('/')}/{MANIFEST}"
    if result.name.endswith(".json") or not exists(manifest):
        return Run(result.name, result.document)
    with named_if_damaged(manifest):
        # `read_result` has checked that it belongs to the scores.
        references = digests_of(json.loads(read(manifest))["streams"], "references")
    return Run(result.name, result.document, references=references)


def _with_replicates(old: Run, new: Run) -> tuple[Run, Run]:
    """The runs with all that was added up, if both have replicates and so could be paired."""
    runs = old, new
    if not all("resampling" in one.document for one in runs):
        return runs
    one, other = (
        Run.of(one.path, read_totals(one.path), one.document)
        if one.totals is None and exists(f"{one.path.rstrip('/')}/{TOTALS}")
        else one
        for one in runs
    )
    return one, other


def _as_json(metrics: Sequence[ComparedRuns]) -> str:
    """What all metrics have in common, and lists in which each entry names its metric."""
    first = metrics[0]
    names = ("metric", "name", "signature")
    document = {
        "metrics": [{name: getattr(metric, name) for name in names} for metric in metrics],
        "method": first.method,
        "reason": first.reason,
        **{
            name: [entry_of(metric, score) for metric in metrics for score in getattr(metric, name)]
            for name in ("systems", "macro_average", "slices")
        },
        "only_old": first.only_old,
        "only_new": first.only_new,
    }
    return json_text(document, indent=1) + "\n"


def _text(metric: ComparedRuns, choice: RowChoice, screen: Screen) -> str:
    signature = metric.signature or "each language has its own definition"
    head = [f"{metric.name}|{signature}", f"{metric.method}: {metric.reason}"]
    if metric.method == "paired" and (metric.slices or metric.macro_average):
        head.append(
            "slices and averages: independent, because replicates are of the whole corpus only"
        )
    elif metric.remedy:
        head.append(metric.remedy)
    parts = [on_lines_of(head, screen)]
    parts += _table(metric, metric.systems, ["system"], choice, screen)
    parts += _table(metric, metric.macro_average, ["macro average"], choice, screen)
    usual = choice if choice.sort else dataclasses.replace(choice, sort="difference")
    for labels, of_item in itertools.groupby(metric.slices, key=labels_of):
        parts += _table(metric, list(of_item), ["*".join(labels), "system"], usual, screen)
    return "\n".join(parts)


def _table(
    metric: ComparedRuns,
    scores: Sequence[ComparedScore],
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
        [entry_of(metric, score) for score in scores],
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
