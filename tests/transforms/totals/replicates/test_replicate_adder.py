"""Replicates equal sums of weighted units, in Python's integers, for any split and order."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_statistics import made_statistics, rows_of
from philox import coin, weight

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.totals.replicates import ReplicateAdder, unit_keys

LABELS = ("document",)
BASIS = bleu_basis(4)
METHODS = {"bootstrap": weight, "randomization": coin}


def added(resampling, batches, documents=None):
    adder = ReplicateAdder(resampling, LABELS, BASIS, documents)
    for each in batches:
        adder.add(each)
    return adder.sums()


def by_hand(resampling, statistics, replicates, documents=None):
    """The sums of some replicates, in unbounded integers, as (systems, replicates, W)."""
    label = None if documents is None else statistics.labels[0]
    units = unit_keys(resampling.partition, statistics.numbers, label).tolist()
    draw = METHODS[resampling.method]
    drawn = [[draw(resampling.seed, unit, number) for unit in units] for number in replicates]
    return np.array(drawn, object) @ statistics.counts[0].astype(object)


@pytest.mark.parametrize("documents", [None, "document"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("longest", "references"), [(40, 1), (40, 3), (2**31, 1), (2**31, 3)])
def test_replicates_are_weighted_sums(method, longest, references, documents):
    statistics = made_statistics(37, longest=longest, references=references)
    resampling = Resampling(method, 1100, seed=2**64 - 5, partition="x")
    found = added(resampling, [statistics], documents)
    assert found.shape == (2, 1100, BASIS.width)
    checked = [0, 1, 2, 3, 4, 7, 8, 63, 64, 127, 128, 129, 300, 511, 512, 513, 1023, 1024, 1099]
    expected = by_hand(resampling, statistics, checked, documents)
    assert found[:, checked].tolist() == expected.tolist()


def test_sums_of_more_units_than_float32_holds_are_exact():
    # The largest digit in all units and columns, and more units than are summed up in float32.
    statistics = made_statistics(1300)
    statistics.counts[0][:] = 4095
    for method in METHODS:
        resampling = Resampling(method, 2)
        expected = by_hand(resampling, statistics, range(2))
        assert added(resampling, [statistics]).tolist() == expected.tolist()


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_any_split_and_order_give_the_same_replicates(data):
    statistics = made_statistics(23, longest=5000, references=2)
    resampling = Resampling(data.draw(st.sampled_from(list(METHODS))), 1030, seed=3)
    documents = data.draw(st.sampled_from([None, "document"]))
    whole = added(resampling, [statistics], documents)
    order = data.draw(st.permutations(range(23)))
    bounds = sorted({0, 23, *data.draw(st.lists(st.integers(0, 23), max_size=4))})
    parts = [rows_of(statistics, order[start:stop]) for start, stop in itertools.pairwise(bounds)]
    bundles = data.draw(st.integers(1, len(parts)))
    found = added(resampling, parts[:bundles], documents)
    if parts[bundles:]:
        rest = added(resampling, parts[bundles:], documents)
        found = found + rest if rest.size else found
    assert found.tobytes() == whole.tobytes()


def test_partitions_have_other_weights():
    statistics = made_statistics(10)
    first, second = (
        added(Resampling("bootstrap", 100, partition=label), [statistics])
        for label in ("monday", "tuesday")
    )
    assert (first - second).any(axis=(0, 2)).all()


def test_a_batch_that_lacks_a_system_is_an_error():
    batches = [made_statistics(3), made_statistics(3, ("a",))]
    with pytest.raises(JobError, match="not all segments have the same systems"):
        added(Resampling("bootstrap", 5), batches)
