"""The flags for thresholds, of the command and of the subcommand gate."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.gates.thresholds import (
    DEFAULT_DROP_RULE,
    DROP_RULES,
    THRESHOLD_FLAGS,
    Gates,
    Threshold,
    require_metrics,
    require_systems,
)
from beam_bleu.pipeline.history.nights import are_nights_around, inside, last_passed
from beam_bleu.pipeline.result.saved_result import result_at
from beam_bleu.pipeline.result.series import choices_in, definition_of
from beam_bleu.transforms.errors import InputError, UsageError

if TYPE_CHECKING:
    from beam_bleu.pipeline.job import Job


def add_gate_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags for thresholds."""
    add = parser.add_argument
    for row in THRESHOLD_FLAGS.values():
        metavar = f"[METRIC=][NAME=]{row.number}"
        add(row.name, action="append", default=[], metavar=metavar, help=row.help)
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
    thresholds = tuple(
        Threshold.of(flag, text)
        for flag in THRESHOLD_FLAGS
        for text in getattr(flags, flag.removeprefix("--"))
    )
    drops = flags.max_drop
    if drops and flags.against is None:
        raise UsageError("--max_drop needs --against", "name the earlier result: --against OLD")
    for flag, value in (("--against", flags.against), ("--drop", flags.drop)):
        if value is not None and not drops:
            raise UsageError(f"{flag} needs --max_drop", f"add --max_drop, or leave {flag} out")
    chosen = Gates(thresholds, flags.drop or DEFAULT_DROP_RULE)
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
    below = None if output is None else inside(output, flags.against)
    replaced = below is not None and "/" not in below
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
    asked = gates(flags, flags.output or None)
    require_metrics(asked, job.scorings)
    # There are none if they are known only when the input is read.
    require_systems(asked, job.source.systems, job.slicing)
    definitions = {
        name: f"{scorings.shown}|"
        + choices_in(scorings.signature_of(scorings.corpus), scorings.languages)
        for name, scorings in job.scorings.items()
    }
    require_comparable(asked, definitions)
    return asked


def require_comparable(asked: Gates, metrics: Mapping[str, str]) -> None:
    """Checks that the result of --against has scores that --max_drop can compare.

    Args:
      asked: the thresholds.
      metrics: for each metric that is judged what a user has chosen (`Definition.chosen`).

    Raises:
      InputError: a metric is missing there, or has another definition.
    """
    for name, chosen in metrics.items():
        if asked.old is None or not asked.of_metric("drop", name, is_only=len(metrics) == 1):
            continue
        has_metric = name in asked.old.words
        former = definition_of(asked.old, name).chosen if has_metric else f"no {name}"
        if former != chosen:
            raise InputError(
                f"--against {asked.old_name} has scores of another definition: {former} there, "
                f"{chosen} here",
                "name a result of the same definition, or score the earlier texts again",
            )


def _escaped(text: str) -> str:
    """The text for argparse, which replaces % in it."""
    return text.replace("%", "%%")
