"""The flags for thresholds, of the command and of the subcommand gate."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.pipeline.command_line.suggestions import nearest
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.gates.thresholds import (
    DEFAULT_DROP_RULE,
    DROP_RULES,
    Gates,
    Threshold,
    impossible,
    impossible_metric,
)
from beam_bleu.pipeline.history.nights import are_nights_around, last_passed
from beam_bleu.pipeline.output.result_files import is_local
from beam_bleu.pipeline.result.saved_result import result_at
from beam_bleu.pipeline.result.series import choices_in, definition_of
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.known_metrics import METRICS

if TYPE_CHECKING:
    from beam_bleu.pipeline.job import Job


def add_gate_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags for thresholds."""
    add = parser.add_argument
    add(
        "--fail_under",
        action="append",
        default=[],
        metavar="[METRIC=][NAME=]SCORE",
        help="exit code 4 if a score is below SCORE; a run writes its result first. METRIC is "
        "needed if there are several. NAME is a system, a slice such as [domain=news], or both: "
        "SYSTEM[domain=news]; default: each system, on the whole corpus. Repeat the flag for more "
        "thresholds",
    )
    add(
        "--warn_under",
        action="append",
        default=[],
        metavar="[METRIC=][NAME=]SCORE",
        help="warn if a score is below SCORE; NAME as above",
    )
    add(
        "--fail_over",
        action="append",
        default=[],
        metavar="[METRIC=][NAME=]SCORE",
        help="exit code 4 if a score is above SCORE, for metrics where a lower score is better: "
        f"{', '.join(row.word for row in METRICS.values() if row.lower_is_better)}; NAME as above",
    )
    add(
        "--warn_over",
        action="append",
        default=[],
        metavar="[METRIC=][NAME=]SCORE",
        help="warn if a score of such a metric is above SCORE; NAME as above",
    )
    add(
        "--max_drop",
        action="append",
        default=[],
        metavar="[METRIC=][NAME=]POINTS",
        help="exit code 4 if a score can be more than POINTS worse than that of --against: --drop "
        "says when; NAME as above",
    )
    add(
        "--against",
        metavar="OLD",
        help="the result for --max_drop: a scores.json, a totals.json or a folder with one; or the "
        "folder of nights that the new result is in: its last earlier night that passed. All of "
        "its systems and slices must also be in the new result",
    )
    add(
        "--drop",
        choices=tuple(DROP_RULES),
        metavar="RULE",
        help="which drops fail. "
        + "; ".join(f"{row.name}: {_escaped(row.description)}" for row in DROP_RULES.values())
        + f"; default {DEFAULT_DROP_RULE}",
    )


def gates(
    flags: argparse.Namespace, output: str | None = None, results: Sequence[str] = ()
) -> Gates:
    """The thresholds of a command line; the result of --against is read.

    Args:
      flags: the parsed flags. If --against is a folder of nights, it becomes the path of the last
        one that passed.
      output: the folder that a run is about to replace; None if nothing is about to run. Its last
        complete result is the right one also if a run has failed since.
      results: the results that are judged; none if a run is about to make it.

    Raises:
      UsageError: a threshold is impossible, or a flag that is needed is missing.
      InputError: the result of --against cannot be read.
    """
    names = ("fail_under", "warn_under", "fail_over", "warn_over", "max_drop")
    thresholds = tuple(
        _threshold(f"--{name}", text) for name in names for text in getattr(flags, name)
    )
    drops = flags.max_drop
    if drops and flags.against is None:
        raise UsageError("--max_drop needs --against", "name the earlier result: --against OLD")
    for flag, value in (("--against", flags.against), ("--drop", flags.drop)):
        if value is not None and not drops:
            raise UsageError(f"{flag} needs --max_drop", f"add --max_drop, or leave {flag} out")
    try:
        chosen = Gates(thresholds, flags.drop or DEFAULT_DROP_RULE)
    except ValueError as error:
        raise UsageError(str(error), "give only one of them") from None
    if flags.against is None:
        return chosen
    judged = [output] if output else results
    if any(are_nights_around(flags.against, result) for result in judged):
        if len(judged) > 1:
            raise UsageError(
                f"--against {flags.against} is a folder of nights, and there are {len(judged)} "
                "results",
                "judge them one by one, or name the earlier result",
            )
        night = last_passed(flags.against, judged[0])
        if night is None:
            warn(
                f"no night in {flags.against} before {judged[0]} has passed, so --max_drop checks "
                "nothing"
            )
            return chosen
        flags.against = night
    replaced = output is not None and _is_in(flags.against, output)
    old = result_at(flags.against, must_be_last=not replaced)
    # It is sent with the job, so it has only what a gate looks at.
    judged_by = dataclasses.replace(old.result, comparisons=(), resampling=None)
    return dataclasses.replace(chosen, old=judged_by, old_name=old.name)


def gates_of_run(flags: argparse.Namespace, job: Job) -> Gates:
    """The thresholds of a run.

    Args:
      flags: the parsed flags of the command.
      job: the job without its gates.

    Raises:
      UsageError: a threshold is impossible or of a system or slice that cannot exist, or a flag
        that is needed is missing.
      InputError: the result of --against cannot be read, or cannot be compared.
    """
    if flags.max_drop and flags.no_uncertainty:
        raise UsageError(
            "--max_drop needs standard errors, and --no_uncertainty leaves them out",
            "leave one of them out",
        )
    asked = gates(flags, flags.output or None)
    systems = job.source.systems  # none if they are known only when the input is read
    require_metrics(asked, job.scorings)
    for threshold in asked.thresholds:
        why_impossible = impossible(threshold.name, systems, job.slicing)
        if why_impossible is not None:
            cause, remedy = why_impossible
            near = nearest(threshold.name, systems)
            remedy = f"did you mean {near}? {remedy}" if near else remedy
            raise UsageError(f"{threshold.shown}: {cause}", remedy)
    definitions = {
        name: f"{scorings.shown}|"
        + choices_in(scorings.signature_of(scorings.corpus), scorings.languages)
        for name, scorings in job.scorings.items()
    }
    require_comparable(asked, definitions, flags.against)
    return asked


def require_comparable(asked: Gates, metrics: Mapping[str, str], against: str | None) -> None:
    """Checks that the result of --against has scores that --max_drop can compare.

    Args:
      asked: the thresholds.
      metrics: for each metric that is judged what a user has chosen (`Definition.chosen`).
      against: the value of --against.

    Raises:
      InputError: a metric is missing there, or has another definition.
    """
    for name, chosen in metrics.items():
        drops = asked.of_metric(("--max_drop",), name, is_only=len(metrics) == 1)
        if asked.old is None or not drops:
            continue
        if name not in asked.old.words:
            raise InputError(
                f"--against {against} has no scores of {name}",
                f"name a result of a run with --metrics {name}",
            )
        former = definition_of(asked.old, name).chosen
        if former != chosen:
            raise InputError(
                f"--against {against} has scores of another definition: {former} there, "
                f"{chosen} here",
                "name a result of the same definition, or score the earlier texts again",
            )


def require_metrics(asked: Gates, metrics: Collection[str]) -> None:
    """Checks that a result with these metrics can have the scores that thresholds are for.

    Raises:
      UsageError: a threshold is for another metric or for none of several, or on the wrong side.
    """
    for threshold in asked.thresholds:
        why_impossible = impossible_metric(threshold, metrics)
        if why_impossible is not None:
            raise UsageError(f"{threshold.shown}: {why_impossible[0]}", why_impossible[1])


def _is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder, or a file in it."""
    path, folder = (
        os.path.realpath(place) if is_local(place) else place.rstrip("/")
        for place in (path.removeprefix("file://"), folder.removeprefix("file://"))
    )
    return folder in (path, os.path.dirname(path))


def _threshold(flag: str, text: str) -> Threshold:
    try:
        return Threshold.of(flag, text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}", SEE_HELP) from None


def _escaped(text: str) -> str:
    """The text for argparse, which replaces % in it."""
    return text.replace("%", "%%")
