"""`beam-bleu meta`: shows how well metrics agree with human scores of segments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from beam_bleu.pipeline.command_line.parser import format_flag
from beam_bleu.pipeline.display.table import IN_PAPERS, Column, as_text, table_of
from beam_bleu.pipeline.errors.printable import json_text
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.saved.saved_result import named
from beam_bleu.pipeline.saved.segment_scores import (
    SEGMENT_FILE,
    SegmentScores,
    scores_in_file,
    scores_in_run,
)
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag, unknown_value
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.pairing.files.streams import name_and_pattern
from beam_bleu.transforms.score.agreement import MEASURES, Agreement, MeasureName
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    decimals_for,
    estimate,
)

_USUAL_DECIMALS = 3


def meta_command(argv: Sequence[str]) -> int:
    description = (
        "Shows how well metrics agree with people. The scores of segments come from a run with "
        f"--segment_scores, from files NAME{SEGMENT_FILE} of mt-metrics-eval, or both."
    )
    shown = f"the human scores: a file NAME{SEGMENT_FILE}, or a metric of the run, such as mean:esa"
    human = Flag("human", shown, "NAME", ("--human",))
    shown = f"more metrics: a file NAME{SEGMENT_FILE}, or a pattern; higher is better; repeatable"
    metrics = Flag("metric", shown, "[NAME=]FILE", ("-m", "--metric"), ())
    result = Flag("result", "the folder of a run; all its metrics are shown", "DIR", nargs="?")
    groups = {
        "input": [result, human, metrics],
        "output": [format_flag("text", "json", *IN_PAPERS)],
    }
    return run("meta", description, groups, argv, _meta)


class _Judged(NamedTuple):
    """How well a metric agrees with people, on the scores that both have of some systems."""

    metric: str
    systems: int
    by_measure: Mapping[MeasureName, Agreement]


def _meta(flags: argparse.Namespace) -> bytes:
    human, metrics = _scores(flags)
    warnings: dict[str, None] = {}
    judged = []
    for name, metric in metrics.items():
        systems = _common_systems(human, metric, warnings)
        scores = [np.stack([of.by_system[each] for each in systems]) for of in (human, metric)]
        by_measure = {each.name: each.agreement(*scores) for each in MEASURES.values()}
        judged.append(_Judged(name, len(systems), by_measure))
        for measure, agreement in by_measure.items():
            if agreement.reason:
                warnings[f"{name}: {MEASURES[measure].label}: {agreement.reason}"] = None
    for warning in warnings:
        warn(warning)
    if flags.format == "json":
        return _as_json(flags.human, judged).encode()
    table = table_of(_columns(judged), [f"agreement with {flags.human}; {HALF_INTERVAL}"])
    in_format = IN_PAPERS.get(flags.format)
    return (as_text(table) if in_format is None else in_format([table], ())).encode()


def _scores(flags: argparse.Namespace) -> tuple[SegmentScores, Mapping[str, SegmentScores]]:
    if flags.human is None:
        raise UsageError("there are no human scores", f"name them: --human NAME{SEGMENT_FILE}")
    metrics = {} if flags.result is None else scores_in_run(flags.result)
    if flags.human.endswith(SEGMENT_FILE):
        human = scores_in_file(flags.human)
    elif flags.human in metrics:
        human = metrics.pop(flags.human)
    else:
        raise unknown_value("--human", flags.human, [*metrics, f"NAME{SEGMENT_FILE}"])
    for word in flags.metric:
        name, pattern = name_and_pattern(word)
        for path in named(pattern):
            own = name or os.path.basename(path).removesuffix(SEGMENT_FILE)
            if own in metrics:
                raise UsageError(f"two metrics are called {own}", "name them: -m NAME=FILE")
            metrics[own] = scores_in_file(path)
    if not metrics:
        raise UsageError("there is no metric", "name a run with other metrics, or -m FILE")
    return human, metrics


def _common_systems(
    human: SegmentScores, metric: SegmentScores, warnings: dict[str, None]
) -> list[str]:
    """The systems with scores of both, sorted by name, as p-values of equal systems need."""
    if human.segments != metric.segments:
        raise InputError(
            f"{metric.source} has scores of {metric.segments} segments, and {human.source} of "
            f"{human.segments}",
            "name scores of the same test set, of all its segments",
        )
    rated, scored = (
        {name for name, scores in of.by_system.items() if not np.isnan(scores).all()}
        for of in (human, metric)
    )
    if not rated & scored:
        raise InputError(
            f"{metric.source} and {human.source} have no system in common: "
            f"{joined(sorted(scored))}; {joined(sorted(rated))}",
            "give systems the same names in both, such as -i NAME=FILE when you score them",
        )
    for source, lacking in ((metric.source, rated - scored), (human.source, scored - rated)):
        if lacking:
            warnings[f"{source} has no scores of {joined(sorted(lacking))}"] = None
    return sorted(rated & scored)


def _columns(judged: Sequence[_Judged]) -> Iterator[Column]:
    yield "metric", [each.metric for each in judged]
    yield "systems", [Number(str(each.systems)) for each in judged]
    segments = [max(own.segments for own in each.by_measure.values()) for each in judged]
    yield "segments", [Number(str(number)) for number in segments]
    for measure in MEASURES.values():
        found = [each.by_measure[measure.name] for each in judged]
        decimals = decimals_for([each.standard_error for each in found], _USUAL_DECIMALS)
        yield measure.label, [estimate(each.value, each.interval, decimals) for each in found]
        if any(each.threshold is not None for each in found):
            thresholds = ["" if x is None else f"{x:.4g}" for x in (e.threshold for e in found)]
            yield "threshold", list(map(Number, thresholds))


def _as_json(human: str, judged: Sequence[_Judged]) -> str:
    agreements = [
        {"metric": each.metric, "measure": name, "systems": each.systems}
        | {field: getattr(agreement, field) for field in _FIELDS}
        for each in judged
        for name, agreement in each.by_measure.items()
    ]
    return json_text({"human": human, "agreements": agreements}, indent=1) + "\n"


_FIELDS = ("segments", "value", "standard_error", "interval", "threshold", "reason")
