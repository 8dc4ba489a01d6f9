"""The columns of perplexity: the integers of a segment from which it is computed, and their facts.

Each fact is an inequality that is linear in the columns, as for BLEU. So it is true of the columns
of every unit, of their sums and of their weighted sums.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import ExactIntegers
from beam_bleu.transforms.native.fixed_point import (
    SIGNED_COLUMNS,
    signed_is_possible,
    signed_sum,
)
from beam_bleu.transforms.totals.unit_sums import columns_of_units

SymbolName = Literal["token", "word", "byte", "segment"]


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A row of `SYMBOLS`.

    Attributes:
      name: its name.
      column: its column: how many of it the texts have. It is 0 if they are not counted.
      fewest: how many of it each text has, at least.
    """

    name: SymbolName
    column: int
    fewest: int


SYMBOLS: Mapping[SymbolName, Symbol] = table(
    Symbol("token", 1, 1),
    Symbol("word", 2, 1),  # an empty text has an empty word
    Symbol("byte", 3, 0),
    Symbol("segment", SEGMENTS, 1),
)
"""What a perplexity can be per, in the order in which they are shown."""

LOG_PROBABILITY = slice(4, 4 + SIGNED_COLUMNS)
"""The columns of the logarithm of the probability of the text."""

WIDTH = LOG_PROBABILITY.stop
"""The number of columns, W."""


@functools.cache
def perplexity_basis() -> Basis:
    """The columns of perplexity."""
    parts = (f"log_probability_{part}" for part in reversed(range(SIGNED_COLUMNS)))
    return Basis(("segments", "tokens", "words", "bytes", *parts), shared=(SEGMENTS,))


def surprisal(columns: Sequence[Any]) -> Any:
    """The negative logarithm of the probability of texts, times `SIGNED_ONE`.

    Args:
      columns: W columns: integers, numbers that carry their derivatives, or arrays of one shape.
    """
    return -signed_sum(columns[LOG_PROBABILITY], columns[SEGMENTS])


def columns_are_possible(columns: ExactIntegers, counted: Sequence[SymbolName]) -> bool:
    """Whether columns can be a sum of units with weights of 0 or more.

    Args:
      columns: (..., W), the columns of perplexity.
      counted: the symbols that are counted.
    """
    # Fixed point needs unbounded integers.
    rows = columns_of_units(np.asarray(columns).astype(object))
    if rows is None:
        return False
    segments = rows[..., SEGMENTS]
    facts = [
        rows[..., symbol.column] >= segments * symbol.fewest
        if symbol.name in counted
        else rows[..., symbol.column] == 0
        for symbol in SYMBOLS.values()
        if symbol.column != SEGMENTS
    ]
    by_column = np.moveaxis(rows, -1, 0)
    facts.append(surprisal([*by_column]) >= 0)
    return all(bool(fact.all()) for fact in facts) and signed_is_possible(
        rows[..., LOG_PROBABILITY], segments
    )


def segments_are_possible(full: NDArray[Any], sums: ExactIntegers) -> bool:
    """Whether products can be those of segments: of these columns, any products can be."""
    return True
