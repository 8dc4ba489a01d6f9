"""Units with random integers, and their sums, computed in the plainest way."""

from __future__ import annotations

import brute_force
import numpy as np

from beam_bleu.transforms.metrics.bleu import columns
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import exact
from beam_bleu.transforms.totals.group_totals import (
    FEWEST,
    FIRST_REFERENCE,
    MOST,
    GroupTotals,
    all_pairs,
)


def named_columns(max_order=4, **named):
    """The columns of BLEU that have these values by their names. The other ones are 0."""
    names = columns.bleu_basis(max_order).names
    assert {*named} <= {*names}
    return tuple(named.get(name, 0) for name in names)


def reference_columns(length, references):
    """By column, what a segment has in the columns for the lengths of its references.

    `length` is that of the candidate; `references` are those of its references, in their order.
    """
    found = {}
    # The columns of a rule are those of other rules and then its own one.
    for rule in sorted(columns.REFERENCE_LENGTHS.values(), key=lambda rule: len(rule.columns)):
        *others, (own, factor) = rule.columns
        total = rule.divisor * brute_force.REFERENCE_LENGTHS[rule.name](length, references)
        found[own] = (total - sum(found[other] * times for other, times in others)) // factor
    return found


def made_units(number, max_order=4, *, seed=0, matching=0.6, longest=30, ratio=1.0):
    """Random units of one segment each, with two references. Rows of W integers, as a list.

    `matching` is the share of tokens that match, `ratio` the length of references by candidates.
    """
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        length = int(random.integers(0, longest + 1))
        shortest, longer = sorted(
            int(max(1, round(ratio * length)) + random.integers(0, 3)) for _ in range(2)
        )
        row = [0] * columns.width(max_order)
        row[SEGMENTS], row[columns.CANDIDATE_LENGTH] = 1, length
        for column, value in reference_columns(length, [longer, shortest]).items():
            row[column] = value
        matches = length
        for n in range(1, max_order + 1):
            matches = int(random.binomial(min(matches, max(0, length - n + 1)), matching))
            row[columns.FIRST_MATCHES + n - 1] = matches
            row[columns.FIRST_MATCHES + max_order + n - 1] = int(length < n)
        rows.append(row)
    return rows


def changed(rows, *, share=0.5, seed=1):
    """The same units as another system might have them: some of the units lose matches."""
    random = np.random.default_rng(seed)
    max_order = columns.order_of(len(rows[0]))
    matches = slice(columns.FIRST_MATCHES, columns.FIRST_MATCHES + max_order)
    result = []
    for row in rows:
        other = list(row)
        if random.random() < share:
            other[matches] = [each * 3 // 4 for each in row[matches]]
        result.append(other)
    return result


def sums_of_rows(rows, width=None):
    """[n, *S, *Q] of rows of W integers, in Python's integers, packed as in `GroupTotals`."""
    width = len(rows[0]) if width is None else width
    sums = [sum(row[i] for row in rows) for i in range(width)]
    products = [sum(row[i] * row[j] for row in rows) for i in range(width) for j in range(i + 1)]
    return [len(rows), *sums, *products]


def products_of_rows(system, baseline, width):
    """[[...]]: the sum of the products of each column of a system with each one of another."""
    pairs = list(zip(system, baseline, strict=True))
    return [[sum(x[i] * y[j] for x, y in pairs) for j in range(width)] for i in range(width)]


def made_totals(*systems):
    """The totals of systems, whose names are "a", "b", ...; each has the same units as rows.

    All segments have two references.
    """
    width, names = len(systems[0][0]), tuple("abc"[: len(systems)])
    pairs = all_pairs(len(systems))
    facts = np.zeros((1, len(systems), FIRST_REFERENCE), np.int64)
    facts[..., [FEWEST, MOST]] = 2
    crosses = [products_of_rows(systems[i], systems[j], width) for i, j in pairs]
    return GroupTotals(
        width,
        names,
        (None,),
        pairs,
        exact(np.array([[sums_of_rows(rows) for rows in systems]], object)),
        exact(np.array([crosses], object).reshape(1, len(pairs), width, width)),
        None,
        facts,
    )


def found_sums(totals, system, key=None):
    """[n, *S, *Q] of a system in totals."""
    return totals.own[totals.group_of[key], totals.place_of[system]].tolist()


def found_products(totals, system, baseline, key=None):
    """The products of two systems in totals, as `products_of_rows` gives them."""
    places = totals.place_of[system], totals.place_of[baseline]
    found = totals.crosses[totals.group_of[key], totals.number_of_pair[min(places), max(places)]]
    return (found if places[0] < places[1] else found.T).tolist()
