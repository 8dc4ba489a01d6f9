"""Finds the first segments of many by a number, and draws random numbers for a sample."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import Floats, Integers

SAMPLE_SEED = 12345
"""The seed of the uniform sample."""


def first_rows(
    ranks: Floats, numbers: Integers, most: int, behind: tuple[float, int] | None = None
) -> list[int]:
    """The rows with the smallest ranks, in the order of ranks, and of numbers where they are equal.

    Args:
      ranks: float64 (rows,); nan leaves a row out.
      numbers: int64 (rows,), all different.
      most: how many rows there are at most.
      behind: the rank and the number of a segment that the rows must be before; None for any.
    """
    if behind is not None:
        rows = np.flatnonzero(ranks <= behind[0])
        rows = rows[(ranks[rows] < behind[0]) | (numbers[rows] < behind[1])]
    else:
        rows = np.flatnonzero(~np.isnan(ranks))
    if not len(rows):
        return []  # of nothing, Arrow can choose nothing
    table = pa.table({"rank": ranks[rows], "number": numbers[rows]})
    order = [("rank", "ascending"), ("number", "ascending")]
    first: list[int] = rows[pc.select_k_unstable(table, min(most, len(rows)), order)].tolist()
    return first


def sample_ranks(numbers: Integers) -> Floats:
    """A random number for each segment, which depends on its number and on nothing else.

    SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators",
    https://doi.org/10.1145/2660193.2660195): the value with this number of the sequence that begins
    at the seed. So the segments with the smallest values are a uniform sample of any corpus.

    Returns:
      float64 (segments,), 0 to 1: the highest 53 bits.
    """
    with np.errstate(over="ignore"):
        states: NDArray[np.uint64] = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        ) + np.uint64(SAMPLE_SEED)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        states ^= states >> np.uint64(shift)
        states *= np.uint64(factor)
    states ^= states >> np.uint64(31)
    ranks: Floats = (states >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return ranks
