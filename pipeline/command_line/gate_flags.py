"""The flags for thresholds, of the command and of the subcommand gate."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.pipeline.command_line.suggestions import nearest
from beam_bleu.pipeline.gates.reading import read_result
from beam_bleu.pipeline.gates.thresholds import (
    DEFAULT_DROP_RULE,
    DROP_RULES,
    Gates,
    Threshold,
    impossible,
)
from beam_bleu.pipeline.output.result_files import is_local
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import InputError, UsageError


def add_gate_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags for thresholds."""
    add = parser.add_argument
    add(
        "--fail_under",
        action="append",
        default=[],
        metavar="[NAME=]SCORE",
        help="exit code 4 if a score is below SCORE; a run writes its result first. NAME is a "
        "system, a slice such as [domain=news], or both: SYSTEM[domain=news]; default: each "
        "system, on the whole corpus. Repeat the flag for more thresholds",
    )
    add(
        "--warn_under",
        action="append",
        default=[],
        metavar="[NAME=]SCORE",
        help="warn if a score is below SCORE; NAME as above",
    )
    add(
        "--max_drop",
        action="append",
        default=[],
        metavar="[NAME=]BLEU",
        help="exit code 4 if a score can be more than BLEU lower than that of --against: --drop "
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
    return dataclasses.replace(
        found, old=read_result(flags.against, must_be_last=not replaced).result
    )


def gates_of_run(
    flags: argparse.Namespace, made: str, systems: Sequence[str], slicing: Slicing
) -> Gates:
    """The thresholds of a run.

    Args:
      flags: the parsed flags of the command.
      made: how its scores will be made, as `definition_of` tells it.
      systems: the systems, if they are known before the input is read; otherwise none.
      slicing: the slices.

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
    for each in (*found.fail_under, *found.warn_under, *found.max_drop):
        found_out = impossible(each.name, systems, slicing)
        if found_out is not None:
            cause, remedy = found_out
            near = nearest(each.name, systems, most=3)
            remedy = f"did you mean {near}? {remedy}" if near else remedy
            raise UsageError(f"{each.shown}: {cause}", remedy)
    if found.old is not None and found.old.definition != made:
        raise InputError(
            f"--against {flags.against} has scores that were made in another way: "
            f"{found.old.definition} there, {made} here",
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
