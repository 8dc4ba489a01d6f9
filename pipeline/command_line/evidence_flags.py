"""The flags for evidence: how sure a score is, and which system is better."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.scoring.scorings import Evidence
from beam_bleu.transforms.definition.flags import flag, unknown_value, whole_number
from beam_bleu.transforms.definition.resampling import (
    DEFAULT_SEED,
    LARGEST_SEED,
    MOST_RESAMPLES,
    RESAMPLING_METHODS,
    Resampling,
    ResamplingMethodName,
)
from beam_bleu.transforms.errors import UsageError

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config


@dataclasses.dataclass(frozen=True)
class ComparisonFlags:
    """The flags that say which systems are compared."""

    baseline: str | None = flag(
        None,
        "the system with which the others are compared",
        "NAME",
        shown_default="default: the first system",
    )
    compare: str | None = flag(
        None,
        "all: compare every pair of systems, on the whole corpus, and clusters of systems",
        "WHAT",
        choices=("all",),
        shown_default="default: each system with the baseline",
    )


@dataclasses.dataclass(frozen=True)
class EvidenceFlags(ComparisonFlags):
    """The flags for standard errors, comparisons and resampling."""

    no_uncertainty: bool = flag(
        False, "leave out standard errors, intervals, and comparisons that follow from them"
    )
    resample: ResamplingMethodName | None = flag(
        None,
        "also compare systems by random replicates of the corpus",
        "METHOD",
        choices=RESAMPLING_METHODS,
    )
    resamples: int | None = flag(
        None,
        "the number of replicates",
        "N",
        convert=whole_number(1, MOST_RESAMPLES),
        shown_default="default "
        + ", ".join(f"{row.name}: {row.resamples}" for row in RESAMPLING_METHODS.values()),
    )
    seed: int = flag(
        DEFAULT_SEED,
        "the seed of the random replicates; the variable SACREBLEU_SEED is not read",
        "N",
        convert=whole_number(0, LARGEST_SEED),
    )


def evidence(flags: Config, systems: Sequence[str]) -> Evidence:
    """What a job finds out about its scores; there are no systems before the input is read."""
    label, resampling = flags.partition, None
    compares = flags.baseline is not None or flags.compare is not None
    if flags.resample is not None:
        # The weights of a unit follow from its partition, too.
        resampling = Resampling(flags.resample, flags.resamples, flags.seed, label or "")
    elif flags.no_uncertainty and (compares or flags.documents is not None):
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
        documents=flags.documents,
        resampling=resampling,
        save_totals=flags.save_totals,
        partition=label,
    )
