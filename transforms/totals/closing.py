"""Checks at the end of a job that each system's segments were all scored once, or left out."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from beam_bleu.transforms.errors import InputError, lost_data
from beam_bleu.transforms.pairing.paired import REJECTED, BadRecord, FoundSegments, Tally

FIRST = 3  # how many of the first rejected records an error names
MostRejected = int | Decimal
"""How many segments may be rejected: a number, or a fraction of those read, which is written with
a point: 1 is one segment, 1.0 is all. A Decimal is exact: 0.29 of 100 segments is 29."""

DEFAULT_MAX_REJECTED = 0.01
DEFAULT_MOST_REJECTED = Decimal(str(DEFAULT_MAX_REJECTED))

_AS_JSON = "values are compared as JSON writes them, such as true (not True) or 2.0 (not 2)"


@dataclasses.dataclass(frozen=True)
class Rejected:
    """The rejected records in a part of the input: numbers by reason, the first ones, the files."""

    files: tuple[str, ...] = ()
    reasons: Mapping[str, int] = dataclasses.field(default_factory=dict)
    first: tuple[BadRecord, ...] = ()

    @classmethod
    def of(cls, bad: BadRecord) -> Rejected:
        return cls((), {bad.reason: 1}, (dataclasses.replace(bad, raw=b""),))

    @classmethod
    def sum(cls, parts: Iterable[Rejected]) -> Rejected:
        files: list[str] = []
        reasons: collections.Counter[str] = collections.Counter()
        first: list[BadRecord] = []
        for part in parts:
            files += part.files
            reasons.update(part.reasons)
            first = sorted([*first, *part.first], key=lambda bad: bad.place_in_input)[:FIRST]
        return cls(tuple(sorted(files)), dict(sorted(reasons.items())), tuple(first))

    @property
    def records(self) -> int:
        return sum(self.reasons.values())


def tally_of(segments: FoundSegments, tallies: Iterable[Tally] | None) -> Tally:
    """The tally of all segments. A source that gives no tallies scores all for each system."""
    if tallies is None:
        return Tally(segments.count, dict.fromkeys(segments.systems, segments.count))
    tally = sum(tallies, start=Tally())
    unexplained = [system for system in segments.systems if tally.unexplained(system)]
    if tally.read != segments.count or unexplained:
        raise lost_data(
            f"{segments.count} segments were planned and {tally.read} were read"
            + (f"; those of {', '.join(unexplained)} do not add up" if unexplained else "")
        )
    return tally


def require_all_scored(
    planned: Mapping[str, int], scored: Mapping[str, int], tokens: str = ""
) -> None:
    """Checks that each system's totals have the planned segments, and no other system has any."""
    for system in {**planned, **scored}:
        were_planned, were_scored = planned.get(system, 0), scored.get(system, 0)
        if were_scored != were_planned:
            raise lost_data(
                f"the number of segments scored is not the number planned: {were_planned} were "
                f"planned, {were_scored} of system {system} were scored"
                + (f" with the tokens of {tokens}" if tokens else "")
            )


def most_rejected_of(value: object) -> MostRejected:
    """How many segments may be rejected, as a text such as "100" or "0.05", an int or a float."""
    # A small float would be written with an exponent, as in 1e-05; a Decimal is not.
    text = f"{Decimal(repr(value)):f}" if isinstance(value, float) else str(value)
    if re.fullmatch("[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[0-9]+\.[0-9]*|\.[0-9]+", text) and Decimal(text) <= 1:
        return Decimal(text)
    raise ValueError(f"must be a whole number, or a fraction from 0.0 to 1.0, got {value}")


def check_rejected(parts: Iterable[Rejected], tally: Tally, most: MostRejected | None) -> Rejected:
    """Adds up the rejected records; checks that none is missing, and there are at most `most`."""
    rejected = Rejected.sum(parts)
    if rejected.records != tally.bad_records:
        raise lost_data(
            f"{tally.bad_records} records are bad, but {rejected.records} were written as rejected"
        )
    of_all = tally.read if isinstance(most, Decimal) else 1
    if most is not None and tally.left_out.get(REJECTED, 0) > most * of_all:
        raise InputError(
            f"{_told(tally, rejected)}, more than --max_rejected {most} allows: "
            f"{'; '.join(bad.told for bad in rejected.first)}",
            "repair the input, or raise --max_rejected",
        )
    return rejected


def require_segments_left(tally: Tally, rejected: Rejected) -> None:
    if tally.read and not any(tally.scored.values()):
        first = "".join(f"; {bad.told}" for bad in rejected.first)
        raise InputError(
            f"no segment is left to score: all {tally.read:,} were left out "
            f"({_in_words(tally.left_out)}){first}",
            "; ".join(
                ["repair the input, or check the conditions of --where", *_unmet_conditions(tally)]
            ),
        )


def rejected_warnings(tally: Tally, rejected: Rejected) -> list[str]:
    """Warns of bad records even if no segment is rejected: in a join, they may have no id."""
    return [_told(tally, rejected)] if rejected.records else []


def _told(tally: Tally, rejected: Rejected) -> str:
    counted = tally.left_out.get(REJECTED, 0)
    were = "was" if counted == 1 else "were"
    return f"{counted:,} of {tally.read:,} segments {were} rejected ({_in_words(rejected.reasons)})"


def _in_words(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {number:,}" for name, number in numbers.items())


def condition_warnings(tally: Tally) -> list[str]:
    """Warns of each condition that all records meet, or none: its value may be misspelled."""
    met_by_all = [
        f"every record meets --where {condition}, so it leaves nothing out; {_AS_JSON}"
        for condition, judged in tally.judged.items()
        if 0 < judged == tally.met.get(condition, 0)
    ]
    return met_by_all + _unmet_conditions(tally)


def _unmet_conditions(tally: Tally) -> list[str]:
    return [
        f"no record meets --where {condition}; {_AS_JSON}"
        for condition, met in tally.met.items()
        if not met and tally.judged.get(condition, 1)
    ]
