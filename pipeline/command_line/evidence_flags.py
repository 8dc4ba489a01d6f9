"""Flags for evidence (standard errors, comparisons, replicates) and for thresholds (gates)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.history.nights import are_nights_around, inside, last_passed
from beam_bleu.pipeline.result.rows import choices_in, definition_of
from beam_bleu.pipeline.saved.saved_result import SavedResult, result_at
from beam_bleu.pipeline.scoring.job import Evidence, ScoringsOfMetrics
from beam_bleu.pipeline.scoring.thresholds import (
    DEFAULT_DROP_RULE,
    DROP_RULES,
    THRESHOLD_FLAGS,
    DropRuleName,
    Gates,
    Threshold,
    require_metrics,
    require_systems,
)
from beam_bleu.transforms.definition.flags import flag, unknown_value, whole_number
from beam_bleu.transforms.definition.resampling import (
    DEFAULT_SEED,
    LARGEST_SEED,
    MOST_RESAMPLES,
    RESAMPLING_METHODS,
    Resampling,
    ResamplingMethodName,
)
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import InputError, UsageError

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config


BEST = "best"


@dataclasses.dataclass(frozen=True)
class ComparisonFlags:
    baseline: str | None = flag(
        None,
        "the system with which the others are compared; best, with --compare all: stars of paper "
        "tables compare with each metric's best system",
        "NAME",
        shown_default="default: the first system",
    )
    compare: str | None = flag(
        None,
        "all: compare every pair of systems on the whole corpus, and put systems into clusters",
        "WHAT",
        choices=("all",),
        shown_default="default: each system with the baseline",
    )


def baseline_among(systems: Sequence[str], flags: ComparisonFlags) -> str | None:
    """The system that --baseline names; None for the first one, also if tables show the best."""
    name = flags.baseline
    if name == BEST and systems and BEST not in systems:
        if flags.compare is None:
            raise UsageError(
                "--baseline best needs --compare all, because only the result shows which system "
                "is best, so p-values must be adjusted for all pairs",
                "add --compare all, or name the system",
            )
        return None
    if name is not None and systems and name not in systems:
        raise unknown_value("--baseline", name, systems)
    return name


@dataclasses.dataclass(frozen=True)
class EvidenceFlags(ComparisonFlags):
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
    """The evidence that flags ask for; `systems` is empty if only the input names the systems."""
    label, resampling = flags.partition, None
    compares = flags.baseline is not None or flags.compare is not None
    if flags.resample is not None:
        # The random weights of a unit also depend on its partition.
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
    return Evidence(
        uncertainty=not flags.no_uncertainty,
        baseline=baseline_among(systems, flags),
        compare_all=flags.compare == "all",
        documents=flags.documents,
        resampling=resampling,
        save_totals=flags.save_totals,
        diversity=flags.diversity,
        partition=label,
    )


def _thresholds(flag_name: str) -> Any:
    row = THRESHOLD_FLAGS[flag_name]
    number = "POINTS" if row.kind == "drop" else "SCORE"
    return flag((), row.help, f"[METRIC=][NAME=]{number}")


@dataclasses.dataclass(frozen=True)
class GateFlags:
    fail_under: tuple[str, ...] = _thresholds("--fail_under")
    warn_under: tuple[str, ...] = _thresholds("--warn_under")
    fail_over: tuple[str, ...] = _thresholds("--fail_over")
    warn_over: tuple[str, ...] = _thresholds("--warn_over")
    max_drop: tuple[str, ...] = _thresholds("--max_drop")
    against: str | None = flag(
        None,
        "the earlier result for --max_drop; the new one must have all its systems and slices: a "
        "scores.json, a totals.json or a folder with one; or a folder of nights, for the last "
        "earlier night that passed",
        "OLD",
    )
    drop: DropRuleName = flag(DEFAULT_DROP_RULE, "which drops fail", "RULE", choices=DROP_RULES)


def gates(
    flags: GateFlags, results: Sequence[str], *, replaced: str | None = None
) -> tuple[Gates, SavedResult | None]:
    """The thresholds of a command line, and the result of --against.

    `results` are judged. A folder that a run replaces can be OLD even if later runs there failed.
    """
    thresholds = tuple(
        Threshold.of(flag, text)
        for flag in THRESHOLD_FLAGS
        for text in getattr(flags, flag.removeprefix("--"))
    )
    chosen, path = Gates(thresholds, flags.drop), flags.against
    if path is not None and any(are_nights_around(path, result) for result in results):
        if len(results) > 1:
            raise UsageError(
                f"--against {path} is a folder of nights, and there are {len(results)} results",
                "judge them one by one, or name the earlier result",
            )
        path = last_passed(path, results[0])
        if path is None:
            warn(
                f"no night in {flags.against} before {results[0]} has passed, so --max_drop checks "
                "nothing"
            )
    if path is None:
        return chosen, None
    below = None if replaced is None else inside(replaced, path)
    is_replaced = below is not None and "/" not in below
    old = result_at(path, must_be_last=not is_replaced)
    # It is sent with the job, so only what a gate needs is kept.
    judged_by = dataclasses.replace(old.result, comparisons=(), resampling=None)
    return dataclasses.replace(chosen, old=judged_by, old_name=old.name), old


def gates_of_run(
    flags: Config, scorings_of: ScoringsOfMetrics, systems: Sequence[str], slicing: Slicing
) -> Gates:
    output = flags.output or None
    asked, _ = gates(flags, [output] if output else [], replaced=output)
    definitions = {
        name: f"{scorings.corpus.name}|"
        + choices_in(scorings.corpus.signatures(scorings.text, 0, 0)[0], scorings.languages)
        for name, scorings in scorings_of.items()
    }
    require_definitions(asked, definitions)
    # Without systems, because only the input names them, this checks nothing.
    require_systems(asked, systems, slicing)
    return asked


def require_definitions(asked: Gates, metrics: Mapping[str, str]) -> None:
    """Checks that the thresholds' metrics are scored, and that OLD has the same definitions."""
    require_metrics(asked, metrics)
    for name, chosen in metrics.items():
        if asked.old is None or not asked.of_kind("drop", name, metrics):
            continue
        has_metric = name in asked.old.words
        former = definition_of(asked.old, name).chosen if has_metric else f"no {name}"
        if former != chosen:
            raise InputError(
                f"--against {asked.old_name} has scores of another definition: {former} there, "
                f"{chosen} here",
                "name a result of the same definition, or score the earlier texts again",
            )
