"""The subcommand `beam-bleu compare`: compares the scores of two runs."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import add_text_or_json_flag, parser_of
from beam_bleu.pipeline.display.fitted_rows import drawn, fitted
from beam_bleu.pipeline.display.numbers import decimals_of, p_value, rounded, signed
from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.display.terminal import screen_of_stdout
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.saved.compared_runs import ComparedRuns, ComparedScore, compared
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.pipeline.subcommands.saved_results import add_common_flags, run
from beam_bleu.transforms.errors import joined

_DESCRIPTION = (
    "Compares the scores of two runs with --save_totals, and says how sure their differences are. "
    "The comparison is paired if both runs have the same references, the same --partition and the "
    "same random replicates (--resample). Otherwise the runs are taken for random samples of the "
    "same kind of text, so a night of harder texts can look like a drop in quality."
)


_MORE_DECIMALS = 1
"""How many decimals more than a score a difference has."""


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    parser = parser_of("compare", _DESCRIPTION)
    files = parser.add_argument_group("input")
    files.add_argument("old", metavar="OLD", help="the totals.json of the old run, or its folder")
    files.add_argument("new", metavar="NEW", help="the totals.json of the new run, or its folder")
    add_text_or_json_flag(parser.add_argument_group("output"))
    add_common_flags(parser.add_argument_group("messages and help"))
    return run(parser, argv, _compare)


def _compare(flags: argparse.Namespace) -> bytes:
    metrics, left_out = compared(
        *(flags.old, read_totals(flags.old)), *(flags.new, read_totals(flags.new))
    )
    for cause in left_out:
        warn(f"{cause}: not compared")
    for only, path in ((metrics[0].only_old, flags.old), (metrics[0].only_new, flags.new)):
        if only:
            warn(f"only {path} has {joined(only)}: not compared")
    for metric in metrics:
        named = f"{metric.name}: " if len(metrics) > 1 else ""
        for score in metric.systems:
            if score.reason:
                warn(f"{named}{score.system}: {score.reason}")
    return (_as_json(metrics) if flags.format == "json" else _as_text(metrics)).encode()


def _as_json(metrics: Sequence[ComparedRuns]) -> str:
    """What all metrics have in common, and lists in which each entry names its metric."""
    first = metrics[0]
    names = ("metric", "name", "signature")
    document = {
        "metrics": [{name: getattr(metric, name) for name in names} for metric in metrics],
        "method": first.method,
        "reason": first.reason,
        "systems": [
            {"metric": metric.metric, **dataclasses.asdict(score)}
            for metric in metrics
            for score in metric.systems
        ],
        "only_old": first.only_old,
        "only_new": first.only_new,
    }
    return json_text(document, indent=1) + "\n"


def _as_text(metrics: Sequence[ComparedRuns]) -> str:
    return "\n".join(map(_table, metrics))


def _table(metric: ComparedRuns) -> str:
    screen = screen_of_stdout()
    head = ("system", "old", "new", "difference", "standard error", "95 % interval", "p")
    decimals = decimals_of(metric.metric, None)
    rows = [head, *(_row(score, decimals) for score in metric.systems)]
    return f"{metric.name}|{metric.signature}\n{metric.method}: {metric.reason}\n\n" + drawn(
        fitted(rows, screen), screen
    )


def _row(score: ComparedScore, decimals: int) -> tuple[str, ...]:
    more = decimals + _MORE_DECIMALS
    return (
        score.system,
        rounded(score.old, decimals),
        rounded(score.new, decimals),
        signed(score.difference, more),
        "" if score.standard_error is None else f"{score.standard_error:.{more}f}",
        "" if score.interval is None else " to ".join(signed(end, more) for end in score.interval),
        p_value(score.p_value),
    )
