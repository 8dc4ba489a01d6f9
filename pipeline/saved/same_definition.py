"""Checks that saved totals were made in the same way, so that they can be added or compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.transforms.errors import InputError, joined

Facts = Mapping[str, Any]
"""What totals depend on, by names that users know."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A row of `KINDS`.

    Attributes:
      facts: what of saved totals must be the same.
      remedy: what to do if it is not.
    """

    facts: Callable[[SavedTotals], Facts]
    remedy: str


def _of_metrics(saved: SavedTotals) -> Facts:
    return {"metrics": " ".join(saved.scorings)}


def _of_text(saved: SavedTotals) -> Facts:
    """How texts became tokens."""
    first = next(iter(saved.scorings.values()))
    return {
        **{
            f"{name}{_of(scorings, saved)}": value
            for scorings in saved.scorings.values()
            for name, value in (
                ("tokenize", scorings.text.tokenize),
                ("lowercase", scorings.text.lowercase),
                ("normalize", scorings.text.normalize),
                ("spm_model", scorings.text.model),
            )
        },
        "language_column": first.languages,
        "the label of tasks without a common score": first.unpooled,
        **{f"the version of {name}": version for name, version in saved.versions.items()},
    }


def _of_scoring(saved: SavedTotals) -> Facts:
    """How sums become a score."""
    return {
        f"{name}{_of(scorings, saved)}": value
        for scorings in saved.scorings.values()
        for name, value in scorings.kind.encoded(scorings.corpus).items()
    }


def _of(scorings: Scorings, saved: SavedTotals) -> str:
    """Which metric a fact is about, if there are several."""
    return f" of {scorings.shown}" if len(saved.scorings) > 1 else ""


def _of_other_scores(saved: SavedTotals) -> Facts:
    facts: dict[str, Any] = {}
    for metric in saved.metrics:
        scorings, of = metric.scorings, _of(metric.scorings, saved)
        facts[f"compare_presets{of}"] = ",".join(scorings.presets) or None
        facts |= {f"presets{of}: {name}": preset for name, preset in scorings.presets.items()}
        facts[f"segment_scores{of}"] = scorings.segments is not None
        if scorings.segments is not None:
            encoded = scorings.kind.encoded(scorings.segments)
            facts |= {f"segments{of}: {name}": value for name, value in encoded.items()}
        facts[f"the counted columns{of}"] = tuple(
            scorings.kind.basis_of(totals.corpus.width).names[-1]
            for totals in metric.texts.values()
        )
    return facts


def _of_slicing(saved: SavedTotals) -> Facts:
    slicing = saved.slicing
    return {
        "slice_by": " ".join(map(slicing.name_of_item, range(len(slicing.items)))) or None,
        "length_edges": slicing.length_edges,
        "max_slices": slicing.most,
    }


def _of_evidence(saved: SavedTotals) -> Facts:
    evidence = saved.evidence
    return {
        "no_uncertainty": not evidence.uncertainty,
        "baseline": evidence.baseline,
        "compare all": evidence.compare_all,
        "documents": evidence.documents,
        **of_resampling(evidence),
    }


def of_resampling(evidence: Evidence) -> Facts:
    """The replicates, without the label of their partition."""
    resampling = evidence.resampling
    return {
        "resample": None if resampling is None else resampling.method,
        "resamples": None if resampling is None else resampling.number,
        "seed": None if resampling is None else resampling.seed,
    }


def _of_input(saved: SavedTotals) -> Facts:
    coverage = saved.totals.coverage
    return {
        "coverage": None if coverage is None else coverage.rule,
        "counters of records": saved.totals.is_tallied,
    }


_REPEAT = "repeat one of the runs with the flags of the other one"

OF_DEFINITION = (
    Kind(
        _of_metrics,
        "repeat one of the runs; or choose metrics that both have, in the same order: "
        "beam-bleu rescore FILE --metrics NAME ... --output DIR",
    ),
    Kind(_of_text, _REPEAT),
    Kind(
        _of_scoring,
        "give them the same definition first: BLEU, and the formula of chrF, with beam-bleu "
        "rescore; otherwise by repeating a run",
    ),
)
"""What makes scores, the most important one first."""

KINDS = (
    *OF_DEFINITION,
    Kind(_of_other_scores, _REPEAT),
    Kind(_of_slicing, _REPEAT),
    Kind(_of_evidence, _REPEAT),
    Kind(_of_input, "merge only results of inputs of the same form"),
)
"""All that must be the same if totals are added up, the most important one first."""


def differing(one: Facts, other: Facts) -> Iterator[tuple[str, Any, Any]]:
    """(name, its value in one, its value in the other) of all facts that differ."""
    for name in {**one, **other}:
        if one.get(name) != other.get(name):
            yield name, one.get(name), other.get(name)


def require_same(files: Sequence[tuple[str, SavedTotals]]) -> None:
    """Checks that the totals of several files can be added up.

    Args:
      files: the path of each file, and what it holds.

    Raises:
      InputError: they cannot; it names what differs, and both files.
    """
    first_path, first = files[0]
    for path, saved in files[1:]:
        for kind in KINDS:
            for name, one, other in differing(kind.facts(first), kind.facts(saved)):
                raise InputError(
                    f"{first_path} and {path} cannot be added up: {name} is {shown(one)} in the "
                    f"first one, and {shown(other)} in the second one",
                    kind.remedy,
                )
        _require_same_systems(first_path, first.totals.systems, path, saved.totals.systems)


def _require_same_systems(
    first_path: str, first: Sequence[str], path: str, systems: Sequence[str]
) -> None:
    pairs = ((path, systems, first_path, first), (first_path, first, path, systems))
    for lacking, own, having, others in pairs:
        missing = [name for name in others if name not in own]
        if missing:
            raise InputError(
                f"{lacking} has no system {joined(missing)}, but {having} does",
                "score the same systems in all partitions",
            )
    if systems != first:
        raise InputError(
            f"the systems of {path} are in a different order from those of {first_path}: "
            f"{joined(systems)}, and {joined(first)}",
            "name the systems in the same order in all runs",
        )


def shown(value: Any) -> str:
    """A fact, as a part of a message."""
    if value is None or value == "":
        return "not given"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)
