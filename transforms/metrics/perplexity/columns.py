"""The columns of perplexity: the integers of a segment from which it is computed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.fixed_point import VALUE_COLUMNS, value_sum

SymbolName = Literal["token", "word", "byte", "segment"]


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A row of `SYMBOLS`.

    Attributes:
      name: its name.
      column: its column: how many of it the texts have. It is 0 if they are not counted.
    """

    name: SymbolName
    column: int


SYMBOLS: Mapping[SymbolName, Symbol] = table(
    Symbol("token", 1),
    Symbol("word", 2),  # an empty text has an empty word
    Symbol("byte", 3),
    Symbol("segment", SEGMENTS),
)
"""What a perplexity can be per, in the order in which they are shown."""

SURPRISAL = slice(4, 4 + VALUE_COLUMNS)
"""The columns of the negative logarithm of the probability of the text, a `value_sum`."""

WIDTH = SURPRISAL.stop
"""The number of columns, W."""


@functools.cache
def perplexity_basis() -> Basis:
    """The columns of perplexity."""
    parts = (f"surprisal_{place}" for place in reversed(range(VALUE_COLUMNS)))
    return Basis(("segments", "tokens", "words", "bytes", *parts), shared=(SEGMENTS,))


def surprisal(columns: Sequence[Any]) -> Any:
    """The negative logarithm of the probability of texts, times `VALUE_ONE`.

    Args:
      columns: W columns: integers, numbers that carry their derivatives, or arrays of one shape.
    """
    return value_sum(columns[SURPRISAL])
