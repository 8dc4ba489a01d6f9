"""Sums as rows of a table that a user keeps: integers with names, which SQL can add up.

A row has all that every definition with the same tokens needs: the sums of the columns of
`totals.units`, those of the products of each pair of columns, and the smallest and the largest
number of references of a segment.
"""

from __future__ import annotations

import contextlib
import decimal
import itertools
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from beam_bleu.transforms.totals import units
from beam_bleu.transforms.totals.corpus_sums import CorpusSums, ReferenceLengths
from beam_bleu.transforms.totals.moments.exact import exact
from beam_bleu.transforms.totals.unit_facts import columns_are_possible, products_are_possible
from beam_bleu.transforms.totals.units import PARTS_OF_A_TOKEN, UnitSums

MIN_REFERENCES, MAX_REFERENCES = "min_references", "max_references"
"""The columns that are not added up: of several rows, the least and the greatest count."""

_LENGTHS = (
    "segments",
    "candidate_length",
    "ref_shortest",
    "ref_closest_more",
    "ref_closest_first_more",
    "ref_longest_more",
    "ref_average_more",
)
"""The names of the first columns of a unit, in their order."""


def summed_columns(max_order: int) -> list[str]:
    """The names of all columns that are added up: of sums, then of products.

    >>> columns = summed_columns(4)
    >>> columns[0], columns[7], columns[11], columns[15], columns[-1], len(columns)
    ('segments', 'matches_1', 'short_1', 'segments_x_segments', 'short_4_x_short_4', 135)
    """
    orders = range(1, max_order + 1)
    names = [
        *_LENGTHS,
        *(f"matches_{order}" for order in orders),
        *(f"short_{order}" for order in orders),
    ]
    products = (f"{names[j]}_x_{each}" for i, each in enumerate(names) for j in range(i + 1))
    return [*names, *products]


def row_of_sums(sums: CorpusSums) -> dict[str, int]:
    """The row of sums that have `units`."""
    assert sums.units is not None
    values = (*sums.units.sums, *sums.units.products)
    return {
        **dict(zip(summed_columns(sums.max_order), values, strict=True)),
        MIN_REFERENCES: sums.min_reference_count,
        MAX_REFERENCES: sums.max_reference_count,
    }


def sums_of_row(row: Mapping[str, Any]) -> CorpusSums:
    """The sums of a row, or of rows that are added up. They have no bytes and no signs.

    Raises:
      ValueError: a column is missing or is no integer, there is no segment, or no segments have
        these sums.
    """
    max_order = next(order for order in itertools.count() if f"matches_{order + 1}" not in row)
    columns = summed_columns(max_order)
    values = tuple(_count(name, row.get(name)) for name in columns)
    fewest, most = (_count(name, row.get(name)) for name in (MIN_REFERENCES, MAX_REFERENCES))
    if max_order < 1 or values[units.SEGMENTS] < 1:
        raise ValueError("the sums of one or more segments have matches_1, and segments above 0")
    if not 1 <= fewest <= most:
        raise ValueError(
            f"{MIN_REFERENCES} must be 1 or more, and at most {MAX_REFERENCES}: "
            f"got {fewest} and {most}"
        )
    of_unit = units.width(max_order)
    found = UnitSums(max_order, values[units.SEGMENTS], values[:of_unit], values[of_unit:])
    sums = _corpus_sums(found, fewest, most)
    _require_possible(sums, found)
    return sums


def _require_possible(sums: CorpusSums, found: UnitSums) -> None:
    """Checks that there can be segments with these sums.

    Raises:
      ValueError: there are none.
    """
    for order, (matches, ngrams) in enumerate(zip(sums.matches, sums.totals, strict=True), 1):
        if matches > ngrams:
            raise ValueError(
                f"matches_{order} is {matches}, but the candidates have {max(ngrams, 0)} n-grams "
                f"of order {order}"
            )
    columns, packed = (exact(np.array(each, object)) for each in (found.sums, found.products))
    references = sums.max_reference_count
    if not columns_are_possible(columns, found.max_order, references):
        raise ValueError(
            "no segments have these sums: segments, lengths, matches_* and short_* contradict "
            f"each other, or {MAX_REFERENCES}; {_ALL_ROWS}"
        )
    if not products_are_possible(
        *(np.array(found.units), columns, packed, found.max_order, references),
        are_segments=True,
    ):
        raise ValueError(
            f"the products A_x_B are not those of segments with these sums; {_ALL_ROWS}"
        )


_ALL_ROWS = (
    "add up the same rows for each column, and take the smallest min_references and the largest "
    "max_references"
)


def _count(name: str, value: Any) -> int:
    """An integer of any type that databases return: Python's, numpy's, or a `Decimal`.

    Raises:
      ValueError: it is another value. A float is one, too: above 2^53 it is not exact.
    """
    count: int | None = None
    if isinstance(value, decimal.Decimal):
        if value.is_finite() and value == value.to_integral_value():
            count = int(value)
    elif not isinstance(value, bool | np.bool_):
        with contextlib.suppress(TypeError):
            count = operator.index(value)
    if count is None or count < 0:
        raise ValueError(f"{name} must be an integer, 0 or more, got {value!r}")
    return count


def _corpus_sums(found: UnitSums, fewest: int, most: int) -> CorpusSums:
    sums, orders = found.sums, found.max_order
    length, shortest = sums[units.CANDIDATE_LENGTH], sums[units.SHORTEST]
    closest = shortest + sums[units.CLOSEST]
    short = sums[units.first_short(orders) :]
    matches = sums[units.FIRST_MATCHES : units.FIRST_MATCHES + orders]
    return CorpusSums(
        matches=matches,
        # t_n = c - (n - 1) s + h_1 + ... + h_(n-1), for s segments
        totals=tuple(
            length - order * sums[units.SEGMENTS] + sum(short[:order]) for order in range(orders)
        ),
        short_candidates=short,
        candidate_length=length,
        reference_lengths=ReferenceLengths(
            closest,
            closest + sums[units.CLOSEST_FIRST],
            shortest,
            shortest + sums[units.LONGEST],
            ((PARTS_OF_A_TOKEN, PARTS_OF_A_TOKEN * shortest + sums[units.AVERAGE]),),
        ),
        segments=sums[units.SEGMENTS],
        min_reference_count=fewest,
        max_reference_count=most,
        units=found,
    )
