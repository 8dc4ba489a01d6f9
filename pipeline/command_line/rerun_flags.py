"""The flags for repeated runs: the label of a partition, and what happens to a former result."""

from __future__ import annotations

import argparse
import dataclasses

from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.pipeline.reruns.if_exists import DEFAULT_IF_EXISTS, IF_EXISTS, IfExistsName
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.shown_names import can_be_shown


def add_rerun_flags(parser: argparse._ActionsContainer) -> None:
    """Adds --partition and --if_exists."""
    add = parser.add_argument
    add(
        "--partition",
        metavar="LABEL",
        help="a label of the part of a corpus that is scored, such as a day: 2026-11-21. It is "
        "written into the result, and beam-bleu merge adds up the results of different labels",
    )
    add(
        "--if_exists",
        choices=tuple(IF_EXISTS),
        metavar="ACTION",
        help="what to do if DIR has a complete result. "
        + "; ".join(f"{row.name}: {row.description}" for row in IF_EXISTS.values())
        + f"; default {DEFAULT_IF_EXISTS}",
    )


def partition(flags: argparse.Namespace) -> str | None:
    """The label of the partition, for a command line; None if it has none.

    Raises:
      UsageError: the label cannot be printed, or has a "/".
    """
    if flags.partition is None:
        return None
    label = utf8(flags.partition)
    if not can_be_shown(label) or label != label.strip():
        raise UsageError(
            f"--partition {label!r} cannot be shown, or has white space at an end",
            "choose a label of printable characters, such as 2026-11-21",
        )
    if "/" in label:
        raise UsageError(f"--partition {label} has a /", "choose a label without it")
    return label


def with_partition(evidence: Evidence, label: str | None) -> Evidence:
    """What a job finds out about its scores, with the label of its partition."""
    if label is None:
        return evidence
    resampling = evidence.resampling
    if resampling is not None:  # the weights of a unit follow from its partition, too
        resampling = dataclasses.replace(resampling, partition=label)
    return dataclasses.replace(evidence, partition=label, resampling=resampling)


def if_exists(flags: argparse.Namespace) -> IfExistsName:
    """What a run does with the result that is already there, for a command line.

    Raises:
      UsageError: there is no folder that could have one.
    """
    if flags.if_exists is None:
        return DEFAULT_IF_EXISTS
    if flags.output is None:
        raise UsageError(
            f"--if_exists {flags.if_exists} needs --output", "name a folder, or leave it out"
        )
    found: IfExistsName = flags.if_exists
    return found
