"""Compiled counting of the first orders of a long segment, without hashing.

Let W be the number of different tokens plus 2. An n-gram is a number of n digits with the base W,
so it is the index of its own cell. All such orders are counted in one loop. Two digits do not stand
for tokens of the references: 0 comes before a reference, and the last one comes before a candidate
and stands for all other tokens. So an n-gram with one of them never matches, and there is no branch
for it.

A cell has 32 bits, the LIMIT: the largest count in any single reference, less the occurrences in
the candidate that is counted. If there are several references, as many cells after these are USED:
the count in one reference, plus the number of its first token. The next reference has a larger
first token than any such sum, so a smaller value counts as none, and no pass sets it back to 0.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import load_count, store_count, store_int
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

CELL_BYTES = 4

MOST_DIRECT = 4
"""The most orders that are counted without hashing."""

# The number of orders. numba makes a function for each value of a plain number, but one for all of
# these; LLVM knows the value in each copy of the function.
_ONE, _TWO, _THREE, _FOUR = (np.int64(orders) for orders in range(1, MOST_DIRECT + 1))

# What happens to a cell. COUNT raises the limit: for the only reference, or after a candidate.
# ADD to the used count, if there are several references. TAKE an occurrence in a candidate.
COUNT, ADD, TAKE = range(3)


@inlined
def act(cell, used, first_token, action):
    """Does the action to a cell; returns 1 if it takes an occurrence that matches.

    `first_token` is the number of the first token of the reference; only ADD needs it.
    """
    limit = np.int64(np.int32(load_count(cell)))
    if action == TAKE:
        store_count(cell, limit - 1)
        return np.int64(limit > 0)
    if action == COUNT:
        store_count(cell, limit + 1)
        return 0
    count = max(load_count(used), first_token) + 1
    store_count(used, count)
    store_count(cell, max(limit, count - first_token))
    return 0


def _walking(action: int) -> Any:
    """Makes the function that does an action to a whole text, for one to four orders."""

    @inlined
    def walk_orders(
        number, end, to_gram, before, base, cells, to_used, first_token, matches, orders
    ):
        """Does the action to the cells of each n-gram of a text, for the first orders.

        Args:
          number: address of the number of its first token.
          end: address of the end of its numbers.
          to_gram: from the number of a token to that of the n-gram that ends with it.
          before: the digit before the text.
          base: the number of digits.
          cells: address of the cells of all orders.
          to_used: from the limit of a cell to its used count.
          first_token: the number of the text's first token.
          matches: address of N int64, for the matches of each order.
          orders: how many orders; the number of the n-gram of the last one is stored.
        """
        first = cells
        second = first + base * CELL_BYTES
        third = second + base * base * CELL_BYTES
        fourth = third + base * base * base * CELL_BYTES
        one = before
        two = one * base + before
        three = two * base + before
        ones = twos = threes = fours = 0
        while number < end:
            digit = load_count(number)
            four = three * base + digit
            three = two * base + digit
            two = one * base + digit
            one = last = digit
            cell = first + one * CELL_BYTES
            ones += act(cell, cell + to_used, first_token, action)
            if orders > 1:
                cell = second + two * CELL_BYTES
                twos += act(cell, cell + to_used, first_token, action)
                last = two
            if orders > 2:
                cell = third + three * CELL_BYTES
                threes += act(cell, cell + to_used, first_token, action)
                last = three
            if orders > 3:
                cell = fourth + four * CELL_BYTES
                fours += act(cell, cell + to_used, first_token, action)
                last = four
            store_count(number + to_gram, last)
            number += NUMBER_BYTES
        if action == TAKE:
            store_int(matches, 0, ones)
            if orders > 1:
                store_int(matches, 1, twos)
            if orders > 2:
                store_int(matches, 2, threes)
            if orders > 3:
                store_int(matches, 3, fours)

    @inner
    def walk(number, end, to_gram, before, base, cells, to_used, first_token, matches, orders):
        if orders == 1:
            walk_orders(
                number, end, to_gram, before, base, cells, to_used, first_token, matches, _ONE
            )
        elif orders == 2:
            walk_orders(
                number, end, to_gram, before, base, cells, to_used, first_token, matches, _TWO
            )
        elif orders == 3:
            walk_orders(
                number, end, to_gram, before, base, cells, to_used, first_token, matches, _THREE
            )
        else:
            walk_orders(
                number, end, to_gram, before, base, cells, to_used, first_token, matches, _FOUR
            )

    return walk


walk_count, walk_add, walk_take = _walking(COUNT), _walking(ADD), _walking(TAKE)


@inner
def direct_orders(base, most, max_order):
    """(How many orders have cells, the cells): at most `most` cells, if there are two orders."""
    orders, cells, of_order = 1, base, base
    while orders < min(max_order, MOST_DIRECT) and cells + of_order * base <= most:
        of_order *= base
        cells += of_order
        orders += 1
    return orders, cells
