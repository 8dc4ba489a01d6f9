"""The flags for evidence: how sure a score is, and which system is better."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import SEE_HELP, unknown_value
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.definition.resampling import (
    DEFAULT_SEED,
    RESAMPLING_METHODS,
    Resampling,
)
from beam_bleu.transforms.errors import UsageError

_MOST_DIGITS = 100
"""Python converts numbers of at most 4,300 digits, and nobody means a longer one."""


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
        type=_number,
        metavar="N",
        help="the number of replicates; default "
        + ", ".join(f"{row.name}: {row.resamples}" for row in RESAMPLING_METHODS.values()),
    )
    add(
        "--seed",
        type=_number,
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


def evidence(flags: argparse.Namespace, systems: Sequence[str]) -> Evidence:
    """What a job finds out about its scores, for a command line.

    Args:
      flags: the parsed flags.
      systems: the systems, if they are known before the input is read; otherwise none.

    Raises:
      UsageError: a value is impossible, or a flag has no effect.
    """
    resampling = _resampling(flags)
    _check_effects(flags, systems)
    if flags.baseline is not None and systems and flags.baseline not in systems:
        raise unknown_value("--baseline", flags.baseline, systems)
    return Evidence(
        uncertainty=not flags.no_uncertainty,
        baseline=flags.baseline,
        compare_all=flags.compare == "all",
        resampling=resampling,
    )


def _resampling(flags: argparse.Namespace) -> Resampling | None:
    if flags.resample is None:
        for flag, value in (("--resamples", flags.resamples), ("--seed", flags.seed)):
            if value is not None:
                raise UsageError(
                    f"{flag} needs --resample",
                    f"add --resample {' or '.join(RESAMPLING_METHODS)}, or leave {flag} out",
                )
        return None
    seed = DEFAULT_SEED if flags.seed is None else flags.seed
    try:
        return Resampling(flags.resample, flags.resamples, seed)
    except ValueError as error:
        raise UsageError(f"--{error}", SEE_HELP) from None


def _check_effects(flags: argparse.Namespace, systems: Sequence[str]) -> None:
    """Checks that each flag has an effect, and that the replicates are of the whole corpus."""
    comparing = [
        f"{flag} {value}"
        for flag, value in (("--baseline", flags.baseline), ("--compare", flags.compare))
        if value is not None
    ]
    if comparing and flags.no_uncertainty and flags.resample is None:
        raise UsageError(
            f"{comparing[0]} has no effect with --no_uncertainty, which leaves out comparisons",
            "leave out one of them, or add --resample",
        )
    if flags.resample == "randomization":
        comparing.append("--resample randomization")
    if comparing and len(systems) == 1:
        raise UsageError(
            f"{comparing[0]} compares systems, and there is only one: {systems[0]}",
            "name another system, or leave the flag out",
        )
    if flags.resample is None:
        return
    if flags.coverage == "each":
        raise UsageError(
            "--resample needs the same segments of all systems, and with --coverage each they "
            "can have different ones",
            "use --coverage common, or leave --resample out",
        )
    if flags.language_column is not None:
        raise UsageError(
            "--resample makes replicates of the whole corpus, and with --language_column each "
            "language is scored by itself",
            "leave out one of them, or score each language in a run of its own",
        )


def _number(text: str) -> int:
    digits = text.removeprefix("-")  # `Resampling` says which numbers are possible
    if not digits.isascii() or not digits.isdecimal() or len(text) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text}")
    return int(text)
