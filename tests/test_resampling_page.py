"""The page about resampling: its numbers are those of the code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from command_line import PROJECT
from markdown_tables import sections, tables
from philox import coin, weight

from beam_bleu.transforms.totals.replicates.replicate_adder import unit_keys

PAGE = (PROJECT / "docs" / "resampling.md").read_text()
SECTIONS = sections(PAGE)
(VECTORS,) = tables(SECTIONS["The random numbers"])


@pytest.mark.parametrize("row", VECTORS[1:], ids=[" ".join(row[:5]) for row in VECTORS[1:]])
def test_units_have_the_weights_and_coins_of_the_page(row):
    seed, partition, unit, shown, first, weights, coins = row
    partition = "" if partition == "none" else partition.strip("`")
    kind, name = unit.split(" ", 1)
    if kind == "segment":
        keys = unit_keys(partition, np.array([int(name)]))
    else:
        keys = unit_keys(partition, None, pa.array([name.strip("`")]).dictionary_encode())
    (key,) = keys.tolist()
    assert f"`{key:016x}`" == shown
    replicates = range(int(first), int(first) + 12)
    assert [weight(int(seed), key, each) for each in replicates] == [*map(int, weights.split())]
    assert [coin(int(seed), key, each) for each in replicates] == [*map(int, coins.split())]
