"""Random samples of segments, which depend neither on their order nor on how they are divided."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_bleu.transforms.native.arrays import Floats, Integers

Hashes = NDArray[np.uint64]
_SAMPLE_SEED = 12345
STEP = np.uint64(0x9E3779B97F4A7C15)


def first_rows(ranks: Floats, drawn: Floats, numbers: Integers, most: int) -> list[int]:
    """The rows with the smallest ranks, float64 (rows,), in their order, and in the order of the
    random numbers `drawn`, float64 (rows,), where ranks are equal; nan leaves a row out.
    """
    rows = np.flatnonzero(~np.isnan(ranks))
    if not len(rows):
        return []  # of nothing, Arrow can choose nothing
    table = pa.table({"rank": ranks[rows], "drawn": drawn[rows], "number": numbers[rows]})
    order = [(name, "ascending") for name in table.column_names]
    first: list[int] = rows[pc.select_k_unstable(table, min(most, len(rows)), order)].tolist()
    return first


def sample_ranks(numbers: Integers) -> Floats:
    """A random number, float64 from 0 to 1, for each segment, which depends on its number alone.

    It is the value with this number in the sequence of SplitMix64 (Steele, Lea and Flood 2014,
    https://doi.org/10.1145/2660193.2660195) that begins at the seed. So the segments with the
    smallest values are a uniform sample of any corpus.
    """
    with np.errstate(over="ignore"):
        states = (numbers.astype(np.uint64) + np.uint64(1)) * STEP + np.uint64(_SAMPLE_SEED)
    ranks: Floats = (mixed(states) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return ranks


def mixed(states: Hashes) -> Hashes:
    """A word that looks random for each state, which differs from that of any other state."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        states = (states ^ (states >> np.uint64(shift))) * np.uint64(factor)
    states ^= states >> np.uint64(31)
    return states
