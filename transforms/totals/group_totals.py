"""The sums of groups of units, exact and additive: everything that a score and its error need.

A unit is a segment, or a document with all of its segments. A group is the whole corpus, or a
slice. Each group and system has the number of units n, the sum S of each of W columns, and the
sums Q of the products of every two columns (packed, because Q is symmetric). Each pair of systems
has the sums of the products of a column of one and a column of the other.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.errors import InputError, JobError, joined
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import (
    ExactIntegers,
    Integers,
    Sums,
    compact,
    expanded,
    rows_added,
)
from beam_bleu.transforms.text.tokenizers import SCRIPTS

GroupKey = SliceKey | None  # a group of units: a slice, or None for the whole corpus
Pair = tuple[int, int]  # the places of two systems, the smaller place first

# The places of the facts of segments, which change no score: first those of `CorpusSums`, in its
# order, then three for each reference.
CANDIDATE_BYTES, REFERENCE_BYTES, FEWEST, MOST, TOKENIZED, CANDIDATE_RETURNS = range(6)
FIRST_SCRIPT = 6
FIRST_REFERENCE = FIRST_SCRIPT + len(SCRIPTS)
GIVEN, RETURNS, IDENTICAL = range(3)
OF_REFERENCE = 3

JUDGED_REFERENCES = 16
"""Facts are counted for this many references of a segment, which can have thousands."""


def products(width: int) -> int:
    return width * (width + 1) // 2


@functools.cache
def packed_places(width: int) -> Integers:
    """int64 (W, W), the place of the product of two columns in the packed lower triangle of Q."""
    places = np.arange(width)
    high, low = np.maximum.outer(places, places), np.minimum.outer(places, places)
    packed: Integers = high * (high + 1) // 2 + low
    return packed


@dataclasses.dataclass(frozen=True)
class CorpusSums:
    """The sums of one system in one group: columns of the basis, and facts of segments. `tokenized`
    are candidates that end in " .", and `scripts` are those in each of `SCRIPTS`, if a reference is
    in any of them, too. Item k of the last three is about reference k + 1: how many are not
    missing, end in a carriage return, or equal the candidate.
    """

    columns: tuple[int, ...]
    candidate_bytes: int = 0
    reference_bytes: int = 0
    min_reference_count: int = 0
    max_reference_count: int = 0
    tokenized: int = 0
    candidate_returns: int = 0
    scripts: tuple[int, ...] = (0,) * len(SCRIPTS)
    given: tuple[int, ...] = ()
    reference_returns: tuple[int, ...] = ()
    identical: tuple[int, ...] = ()

    @property
    def segments(self) -> int:
        return self.columns[SEGMENTS]


@dataclasses.dataclass(frozen=True, eq=False)
class GroupTotals(Sums):
    """The sums of groups, for several systems. Those of all parts of a corpus are added up.

    Common units are those that all of `systems` have, and pairs are compared on these. If one part
    of the corpus has a system that another part lacks, the units of the other part stop being
    common when the two are added, and move to `rest`.

    Attributes:
      systems: the names of the systems, sorted.
      pairs: the pairs of systems, sorted; none without any common unit.
      common: (groups, systems, 1 + W + W (W + 1) / 2), for the common units of each group: n, S,
        and the lower triangle of Q, row by row (`packed_places`); without Q for scores without
        standard errors.
      crosses: (groups, pairs, W, W), over the common units: row i is of the first system's column
        i, column j of the second system's column j.
      rest: what the other units add for each system, in the shape of `common`; None for nothing.
      facts: int64 (groups, systems, facts), of all segments of each system. Sums of documents have
        no facts.
      most: the largest number of groups; None if there is no limit.
    """

    width: int
    systems: tuple[str, ...]
    keys: tuple[GroupKey, ...]
    pairs: tuple[Pair, ...]
    common: ExactIntegers
    crosses: ExactIntegers
    rest: ExactIntegers | None
    facts: Integers
    most: int | None = None

    @classmethod
    def zero(cls, width: int, *, with_products: bool = False) -> GroupTotals:
        columns = 1 + width + (products(width) if with_products else 0)
        common, crosses, facts = (
            np.zeros((1, 0, *shape), np.int64)
            for shape in ((columns,), (width, width), (FIRST_REFERENCE,))
        )
        return cls(width, (), (None,), (), common, crosses, None, facts)

    @property
    def has_products(self) -> bool:
        return bool(self.common.shape[2] > 1 + self.width)

    @property
    def segments(self) -> dict[str, int]:
        return {system: self.sums(system, self.keys[0]).segments for system in self.systems}

    @functools.cached_property
    def own(self) -> ExactIntegers:
        """All units of each system, in the shape of `common`."""
        if self.rest is None:
            return self.common
        every = slice(None)
        return rows_added(self.common.shape, [(every, self.common), (every, self.rest)])

    @property
    def units(self) -> int:
        return int(self.common[0, 0, 0]) if self.systems and self.keys else 0

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    @functools.cached_property
    def group_of(self) -> dict[GroupKey, int]:
        return {key: group for group, key in enumerate(self.keys)}

    @functools.cached_property
    def place_of(self) -> dict[str, int]:
        return {system: place for place, system in enumerate(self.systems)}

    def sums(self, system: str, key: GroupKey = None) -> CorpusSums:
        group, place = self.group_of.get(key), self.place_of.get(system)
        if group is None or place is None:
            return CorpusSums((0,) * self.width)
        facts = self.facts[group, place].tolist() or [0] * FIRST_REFERENCE
        given, returns, identical = (
            facts[FIRST_REFERENCE + kind :: OF_REFERENCE] for kind in (GIVEN, RETURNS, IDENTICAL)
        )
        while given and not given[-1]:  # no segment has such a reference
            given.pop()
        values: list[Any] = [
            tuple(self.own[group, place, 1 : 1 + self.width].tolist()),
            *facts[:FIRST_SCRIPT],
            tuple(facts[FIRST_SCRIPT:FIRST_REFERENCE]),
            *(tuple(own[: len(given)]) for own in (given, returns, identical)),
        ]
        return CorpusSums(*values)

    @functools.cached_property
    def number_of_pair(self) -> dict[Pair, int]:
        return {pair: number for number, pair in enumerate(self.pairs)}

    def __getstate__(self) -> dict[str, Any]:
        # Compact, because most columns are 0 and most integers are short; and with flat keys,
        # because named tuples are slow, and a million documents have a million keys.
        names = (field.name for field in dataclasses.fields(self))
        state = {name: compact(getattr(self, name)) for name in names}
        flat = itertools.chain.from_iterable(filter(None, self.keys))
        return state if None in self.keys else {**state, "keys": [*flat]}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update({name: expanded(value) for name, value in state.items()})
        if isinstance(self.keys, list):
            pairs = zip(self.keys[::2], self.keys[1::2], strict=True)
            vars(self)["keys"] = tuple(map(SliceKey._make, pairs))

    def __add__(self, other: GroupTotals) -> GroupTotals:
        return added_totals([self, other])

    def arranged(self, keys: Sequence[GroupKey]) -> GroupTotals:
        """The same totals with the groups in this order, without facts of references of nobody."""
        totals = self.rows([self.group_of[key] for key in keys])
        used = np.flatnonzero(totals.facts.any(axis=(0, 1)))
        end = max(FIRST_REFERENCE, used[-1] + 1 if used.size else 0)
        end += -(end - FIRST_REFERENCE) % OF_REFERENCE
        return dataclasses.replace(totals, facts=totals.facts[:, :, :end])

    def rows(self, groups: Sequence[int]) -> GroupTotals:
        return dataclasses.replace(
            self,
            keys=tuple(self.keys[group] for group in groups),
            common=self.common[groups, :],
            crosses=self.crosses[groups, :],
            rest=None if self.rest is None else self.rest[groups, :],
            facts=self.facts[groups, :],
        )


def added_totals(totals: Sequence[GroupTotals]) -> GroupTotals:
    """The totals of one or more parts of a corpus."""
    first = totals[0]
    if len(totals) == 1:
        return first
    most = min((part.most for part in totals if part.most is not None), default=None)
    keys = first.keys
    groups: list[Any] = [slice(None)] * len(totals)
    if any(part.keys != keys for part in totals):
        every = itertools.chain.from_iterable(part.keys for part in totals)
        row_of = {key: row for row, key in enumerate(dict.fromkeys(every))}
        keys = tuple(row_of)
        if most is not None:
            require_bounded(keys, most)
        groups = [np.array([row_of[key] for key in part.keys], np.int64) for part in totals]
    width, number = first.width, len(keys)
    if any((part.width, part.has_products) != (width, first.has_products) for part in totals):
        raise ValueError("totals of different columns cannot be added")
    systems = tuple(sorted({system for part in totals for system in part.systems}))
    column_of = {system: column for column, system in enumerate(systems)}
    pairs: set[tuple[Pair, ...]] = set()
    commons, crosses, rests, facts = [], [], [], []
    for part, rows in zip(totals, groups, strict=True):
        places = rows
        if part.systems != systems:
            places = np.ix_(np.arange(number)[rows], [column_of[system] for system in part.systems])
        facts.append((places, part.facts))
        if part.rest is not None:
            rests.append((places, part.rest))
        if part.systems == systems and part.common[:, :1, 0].any():
            pairs.add(part.pairs)
            commons.append((rows, part.common))
            crosses.append((rows, part.crosses))
        else:  # a system has no unit here, so no unit is common
            rests.append((places, part.common))
    if len(pairs) > 1:
        raise ValueError("totals of different pairs of systems cannot be added")
    (of_pairs,) = pairs or {()}
    shape = number, len(systems), first.common.shape[2]
    rest = rows_added(shape, rests) if rests else None
    return GroupTotals(
        width,
        systems,
        keys,
        of_pairs,
        rows_added(shape, commons),
        rows_added((number, len(of_pairs), width, width), crosses),
        rest if rest is not None and rest.any() else None,
        _facts(shape[:2], facts),
        most,
    )


_SAMPLES = 3
_SHOWN_CHARACTERS = 40


def require_bounded(keys: Sequence[GroupKey], most: int) -> None:
    if len(keys) > most:
        slices = [key for key in keys if key is not None]
        item = statistics.mode(key.item for key in slices)
        samples = [key.values for key in slices if key.item == item][:_SAMPLES]
        shown = ["*".join(ascii(each)[:_SHOWN_CHARACTERS] for each in own) for own in samples]
        raise InputError(
            f"there are more than {most} slices, for example {', '.join(shown)}",
            "slice by labels that have few different values, and not by ids; or raise --max_slices",
        )


def _facts(shape: tuple[int, ...], parts: Sequence[tuple[Any, Integers]]) -> Integers:
    facts = np.zeros((*shape, max(own.shape[2] for _, own in parts)), np.int64)
    for places, own in parts:
        if not own.size:
            continue
        before = facts[places]
        after = before.copy()
        after[..., : own.shape[2]] += own
        # Fewest is 0 where there is no segment.
        few, more = before[..., FEWEST], own[..., FEWEST]
        is_first = (few == 0) | (more == 0)
        after[..., FEWEST] = np.where(is_first, few + more, np.minimum(few, more))
        after[..., MOST] = np.maximum(before[..., MOST], own[..., MOST])
        facts[places] = after
    return facts


def pairs_with(baseline: str, systems: Sequence[str]) -> tuple[Pair, ...]:
    if baseline not in systems:
        return ()
    place = systems.index(baseline)
    others = (number for number in range(len(systems)) if number != place)
    return tuple((min(place, number), max(place, number)) for number in others)


def all_pairs(systems: int) -> tuple[Pair, ...]:
    return tuple(itertools.combinations(range(systems), 2))


@dataclasses.dataclass(frozen=True, eq=False)
class MetricTotals(Sums):
    """Everything that is added up for a metric, with one way to make tokens. `replicates`, int64
    (systems, replicates, W), are sums over the whole corpus in which each unit has a random weight:
    for the bootstrap Poisson(1), but at most 8, and for randomization 0 or 1.
    """

    corpus: GroupTotals
    slices: GroupTotals | None = None
    replicates: Integers | None = None

    def __add__(self, other: MetricTotals) -> MetricTotals:
        if self.replicates is not None and other.replicates is not None:
            require_same_systems(self.corpus.systems, other.corpus.systems)
        return MetricTotals(
            self.corpus + other.corpus,
            _sum_of_any(self.slices, other.slices),
            _sum_of_any(self.replicates, other.replicates),
        )

    @property
    def nbytes(self) -> int:
        parts = self.corpus, self.slices, self.replicates
        return sum(part.nbytes for part in parts if part is not None)


def _sum_of_any(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def require_same_systems(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    if one != other:
        raise JobError(
            "not all segments have the same systems, so they cannot be resampled together: "
            f"some have {joined(one)}, others have {joined(other)}",
            "score only the segments that all systems have, or do not ask for replicates",
        )
