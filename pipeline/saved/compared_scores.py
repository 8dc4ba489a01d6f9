"""The differences of scores that two runs have in common, and how sure they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.transforms.score.differences import (
    DETECTABLE,
    Difference,
    difference_of_estimates,
    holm,
)

Entry = Mapping[str, Any]
"""A score, or a macro average, as a result document has it."""

Place = tuple[str, tuple[tuple[str, str | None], ...]]
"""A system and a slice: its labels and their values, () for the whole corpus and for means."""


@dataclasses.dataclass(frozen=True)
class ComparedScore:
    """The scores of a system in two runs.

    Attributes:
      system: its name.
      old: its score in the old run.
      new: its score in the new run.
      difference: new minus old.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is none.
      p_value: how probable such a difference is if there is none in truth; None if it is unknown.
      reason: why one of these is None; "" if none is.
      p_value_holm: the p-value, adjusted for all systems, or for all systems and slices.
      detectable: the smallest true difference that would usually be found significant (80 % power);
        None without a standard error, or if it is 0.
      of_slice: the labels of the slice and their values; None for the whole corpus and for means.
      segments: the segments of the new score, or how many languages or tasks a mean is of.
    """

    system: str
    old: float
    new: float
    difference: float
    standard_error: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    reason: str = ""
    p_value_holm: float | None = None
    detectable: float | None = None
    of_slice: Mapping[str, str | None] | None = None
    segments: int = 0


def in_both(old: Iterable[Entry], new: Iterable[Entry]) -> dict[Place, tuple[Entry, Entry]]:
    """The entries that have a score in both runs, in the order of the new one."""
    of_old, of_new = (
        {
            (entry["system"], tuple((entry.get("slice") or {}).items())): entry
            for entry in entries
            if entry["score"] is not None
        }
        for entries in (old, new)
    )
    return {place: (of_old[place], entry) for place, entry in of_new.items() if place in of_old}


def independent(entries: Mapping[Place, tuple[Entry, Entry]]) -> list[ComparedScore]:
    """Compares scores by their own standard errors."""
    return [
        compared_score(place, old, new, _difference(old, new))
        for place, (old, new) in entries.items()
    ]


def _difference(old: Entry, new: Entry) -> Difference:
    errors = new["standard_error"], old["standard_error"]
    if old == new and None not in errors:
        # Nothing has changed, as a gate says too. Other texts would have other errors.
        errors = 0.0, 0.0
    segments = min(_size_of(old), _size_of(new))
    return difference_of_estimates(new["score"], old["score"], errors, segments)


def _size_of(entry: Entry) -> int:
    """How many segments a score is of, or how many languages or tasks a mean."""
    return int(next(entry[key] for key in ("segments", "languages", "tasks") if key in entry))


def compared_score(place: Place, old: Entry, new: Entry, difference: Difference) -> ComparedScore:
    """Puts the scores of a system, whose place is named, beside their difference."""
    system, of_slice = place
    error = difference.standard_error
    return ComparedScore(
        system,
        old["score"],
        new["score"],
        difference.difference,
        error,
        difference.interval,
        difference.p_value,
        difference.reason,
        detectable=None if error is None else DETECTABLE * error or None,
        of_slice=dict(of_slice) or None,
        segments=_size_of(new),
    )


def adjusted(family: Sequence[ComparedScore]) -> tuple[ComparedScore, ...]:
    """The comparisons of a family, with their p-values adjusted for all of them."""
    p_values = holm([score.p_value for score in family])
    return tuple(
        dataclasses.replace(score, p_value_holm=p_value)
        for score, p_value in zip(family, p_values, strict=True)
    )
