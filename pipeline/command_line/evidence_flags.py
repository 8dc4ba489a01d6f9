"""The flags for evidence: how sure a score is, and which system is better."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import unknown_value, whole_number
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.definition.resampling import (
    DEFAULT_SEED,
    LARGEST_SEED,
    MOST_RESAMPLES,
    RESAMPLING_METHODS,
    Resampling,
)
from beam_bleu.transforms.errors import UsageError


def add_evidence_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags for standard errors, comparisons and resampling."""
    add = parser.add_argument
    add(
        "--no_uncertainty",
        action="store_true",
        help="leave out the standard error and the interval of each score, and the comparisons of "
        "systems that follow from them",
    )
    add_comparison_flags(parser)
    add(
        "--resample",
        choices=tuple(RESAMPLING_METHODS),
        metavar="METHOD",
        help="also compare systems by random replicates of the corpus. "
        + "; ".join(f"{row.name}: {row.description}" for row in RESAMPLING_METHODS.values()),
    )
    add(
        "--resamples",
        type=whole_number(1, MOST_RESAMPLES),
        metavar="N",
        help="the number of replicates; default "
        + ", ".join(f"{row.name}: {row.resamples}" for row in RESAMPLING_METHODS.values()),
    )
    add(
        "--seed",
        type=whole_number(0, LARGEST_SEED),
        metavar="N",
        help=f"the seed of the random replicates; default {DEFAULT_SEED}. The variable "
        "SACREBLEU_SEED is not read",
    )


def add_comparison_flags(parser: argparse._ActionsContainer, default: str = "") -> None:
    """Adds the flags that say which systems are compared.

    Args:
      parser: where to add them.
      default: what the help says in place of the usual defaults.
    """
    add = parser.add_argument
    add(
        "--baseline",
        metavar="NAME",
        help="the system with which the others are compared; "
        + (default or "default: the first system"),
    )
    add(
        "--compare",
        choices=("all",),
        metavar="WHAT",
        help="all: compare every pair of systems, on the whole corpus, and clusters of systems; "
        + (default or "default: each system with the baseline"),
    )


def evidence(flags: argparse.Namespace, systems: Sequence[str], documents: str | None) -> Evidence:
    """What a job finds out about its scores, for a command line.

    Args:
      flags: the parsed flags.
      systems: the systems, if they are known before the input is read; otherwise none.
      documents: the label with the document of each segment.

    Raises:
      UsageError: a value is impossible, or a flag has no effect.
    """
    label, resampling = flags.partition, None
    compares = flags.baseline is not None or flags.compare is not None
    if flags.resample is not None:
        seed = DEFAULT_SEED if flags.seed is None else flags.seed
        # The weights of a unit follow from its partition, too.
        resampling = Resampling(flags.resample, flags.resamples, seed, label or "")
    elif flags.no_uncertainty and (compares or documents is not None):
        raise UsageError(
            "--baseline, --compare and --documents have no effect with --no_uncertainty, which "
            "leaves out standard errors and comparisons",
            "leave out one of them, or add --resample",
        )
    if len(systems) == 1 and (compares or flags.resample == "randomization"):
        raise UsageError(
            "--baseline, --compare and --resample randomization compare systems, and there is only "
            f"one: {systems[0]}",
            "name another system, or leave them out",
        )
    if flags.baseline is not None and systems and flags.baseline not in systems:
        raise unknown_value("--baseline", flags.baseline, systems)
    return Evidence(
        uncertainty=not flags.no_uncertainty,
        baseline=flags.baseline,
        compare_all=flags.compare == "all",
        documents=documents,
        resampling=resampling,
        save_totals=flags.save_totals,
        partition=label,
    )
