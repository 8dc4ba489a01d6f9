"""The flags for thresholds, of the command and of the subcommand gate."""

from __future__ import annotations

import argparse
import dataclasses
import os
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.pipeline.command_line.suggestions import nearest
from beam_bleu.pipeline.gates.read_result import read_result
from beam_bleu.pipeline.gates.results import definition_of
from beam_bleu.pipeline.gates.thresholds import (
    DEFAULT_DROP_RULE,
    DROP_RULES,
    Gates,
    Threshold,
    impossible,
    impossible_metric,
)
from beam_bleu.pipeline.output.result_files import is_local
from beam_bleu.transforms.errors import InputError, UsageError

if TYPE_CHECKING:
    from beam_bleu.pipeline.job import Job


def add_gate_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags for thresholds."""
    add = parser.add_argument
    add(
        "--fail_under",
        action="append",
        default=[],
        metavar="[METRIC:][NAME=]SCORE",
        help="exit code 4 if a score is below SCORE; a run writes its result first. METRIC is "
        "needed if there are several. NAME is a system, a slice such as [domain=news], or both: "
        "SYSTEM[domain=news]; default: each system, on the whole corpus. Repeat the flag for more "
        "thresholds",
    )
    add(
        "--warn_under",
        action="append",
        default=[],
        metavar="[METRIC:][NAME=]SCORE",
        help="warn if a score is below SCORE; NAME as above",
    )
    add(
        "--max_drop",
        action="append",
        default=[],
        metavar="[METRIC:][NAME=]POINTS",
        help="exit code 4 if a score can be more than POINTS lower than that of --against: --drop "
        "says when; NAME as above",
    )
    add(
        "--against",
        metavar="OLD",
        help="the result for --max_drop: a scores.json, a totals.json or a folder with one. All of "
        "its systems and slices must be there again",
    )
    add(
        "--drop",
        choices=tuple(DROP_RULES),
        metavar="RULE",
        help="which drops fail. "
        + "; ".join(f"{row.name}: {_escaped(row.description)}" for row in DROP_RULES.values())
        + f"; default {DEFAULT_DROP_RULE}",
    )


def gates(flags: argparse.Namespace, output: str | None = None) -> Gates:
    """The thresholds of a command line; the result of --against is read.

    Args:
      flags: the parsed flags.
      output: the folder that a run is about to replace; None if nothing is about to run. Its last
        complete result is the right one also if a run has failed since.

    Raises:
      UsageError: a threshold is impossible, or a flag that is needed is missing.
      InputError: the result of --against cannot be read.
    """
    fail, warn, drops = (
        tuple(_threshold(flag, text) for text in texts)
        for flag, texts in (
            ("--fail_under", flags.fail_under),
            ("--warn_under", flags.warn_under),
            ("--max_drop", flags.max_drop),
        )
    )
    if drops and flags.against is None:
        raise UsageError("--max_drop needs --against", "name the earlier result: --against OLD")
    for flag, value in (("--against", flags.against), ("--drop", flags.drop)):
        if value is not None and not drops:
            raise UsageError(f"{flag} needs --max_drop", f"add --max_drop, or leave {flag} out")
    try:
        found = Gates(fail, warn, drops, flags.drop or DEFAULT_DROP_RULE)
    except ValueError as error:
        raise UsageError(str(error), "give only one of them") from None
    if flags.against is None:
        return found
    replaced = output is not None and _is_in(flags.against, output)
    old = read_result(flags.against, must_be_last=not replaced)
    return dataclasses.replace(found, old=old.metrics)


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
    found = gates(flags, flags.output)
    systems = job.source.systems  # none if they are known only when the input is read
    for each in found.thresholds:
        found_out = impossible_metric(each, job.metrics)
        if found_out is not None:
            raise UsageError(f"{each.shown}: {found_out[0]}", found_out[1])
        found_out = impossible(each.name, systems, job.slicing)
        if found_out is not None:
            cause, remedy = found_out
            near = nearest(each.name, systems, most=3)
            remedy = f"did you mean {near}? {remedy}" if near else remedy
            raise UsageError(f"{each.shown}: {cause}", remedy)
    for name, scorings in job.scorings.items():
        is_judged = bool(found.of_metric(name, is_only=len(job.metrics) == 1).max_drop)
        if found.old is None or not is_judged:
            continue
        if name not in found.old:
            raise InputError(
                f"--against {flags.against} has no scores of {scorings.shown}",
                f"name a result of a run with --metrics {name}",
            )
        made = definition_of(scorings.signature_of(scorings.corpus), scorings.languages)
        if found.old[name].definition != made:
            raise InputError(
                f"--against {flags.against} has scores that were made in another way: "
                f"{found.old[name].definition} there, {made} here",
                "name a result of the same definition, or score the earlier texts again",
            )
    return found


def _is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder, or a file in it."""
    path, folder = (
        os.path.realpath(each) if is_local(each) else each.rstrip("/")
        for each in (path.removeprefix("file://"), folder.removeprefix("file://"))
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
