"""Replicates equal sums of weighted units, in Python's integers, for any split and order."""

import dataclasses
import itertools
import pickle

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.testing.util import assert_that
from combining import by_every_route
from hypothesis import given, settings
from hypothesis import strategies as st
from made_statistics import made_statistics, rows_of

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.totals.adding import of_replicates
from beam_bleu.transforms.totals.products import by_column
from beam_bleu.transforms.totals.replicates.generator import coin, weight
from beam_bleu.transforms.totals.replicates.replicate_adder import ReplicateAdder, unit_keys
from beam_bleu.transforms.totals.replicates.replicates import Replicates
from beam_bleu.transforms.totals.summing import sum_batches
from beam_bleu.transforms.wiring.add_up import AddUp, add_up
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

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
    columns = by_column(statistics.counts).astype(object)
    return np.array(drawn, object) @ columns.transpose(0, 2, 1)


@pytest.mark.parametrize("documents", [None, "document"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("longest", "references"), [(40, 1), (40, 3), (2**31, 1), (2**31, 3)])
def test_replicates_are_weighted_sums(method, longest, references, documents):
    statistics = made_statistics(37, longest=longest, references=references)
    resampling = Resampling(method, 1100, seed=2**64 - 5, partition="x")
    found = added(resampling, [statistics], documents)
    assert found.sums.shape == (2, 1100, BASIS.width)
    checked = [0, 1, 2, 3, 4, 7, 8, 63, 64, 127, 128, 129, 300, 511, 512, 513, 1023, 1024, 1099]
    expected = by_hand(resampling, statistics, checked, documents)
    assert found.sums[:, checked].tolist() == expected.tolist()
    assert found.unweighted.tolist() == by_column(statistics.counts).sum(axis=2).tolist()


def test_each_replicate_of_a_tile_has_its_own_weights():
    statistics = made_statistics(3)
    for method in METHODS:
        resampling = Resampling(method, 520)
        expected = by_hand(resampling, statistics, range(520))
        assert added(resampling, [statistics]).sums.tolist() == expected.tolist()


def test_sums_of_more_units_than_float32_holds_are_exact():
    # The largest digit in all units and columns, and more units than are summed up in float32.
    statistics = made_statistics(1300)
    statistics.counts[:] = 4095
    for method in METHODS:
        resampling = Resampling(method, 2)
        expected = by_hand(resampling, statistics, range(2))
        assert added(resampling, [statistics]).sums.tolist() == expected.tolist()


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
        found += added(resampling, parts[bundles:], documents)
    assert found.sums.tobytes() == whole.sums.tobytes()
    assert found.unweighted.tobytes() == whole.unweighted.tobytes()
    assert (found.systems, found.width) == (whole.systems, whole.width)


def test_replicates_of_partitions_add_up_whatever_the_order():
    statistics = made_statistics(30)
    first, second = (
        added(Resampling("bootstrap", 100, partition=label), [rows_of(statistics, rows)])
        for label, rows in (("monday", range(20)), ("tuesday", range(10)))
    )
    total = first + second
    assert total.sums.tolist() == (second + first).sums.tolist()
    assert total.resampling == Resampling("bootstrap", 100)
    # Both have the segments 0 to 9, but these are other units, with other weights.
    assert (first.sums - second.sums).any(axis=(0, 2)).all()


def test_systems_have_the_same_weights():
    statistics = made_statistics(50)
    statistics.counts[1] = statistics.counts[0]
    sums = added(Resampling("bootstrap", 50), [statistics]).sums
    assert (sums[0] == sums[1]).all()


def test_a_batch_that_lacks_a_system_is_an_error():
    batches = [made_statistics(3), made_statistics(3, ("a",))]
    with pytest.raises(JobError, match="not all segments have the same systems"):
        added(Resampling("bootstrap", 5), batches)


def test_segments_without_numbers_are_an_error():
    statistics = dataclasses.replace(made_statistics(3), numbers=None)
    with pytest.raises(JobError, match="without numbers"):
        added(Resampling("bootstrap", 5), [statistics])


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (Replicates.zero(Resampling("randomization", 5), 4, "ab"), "methods"),
        (Replicates.zero(Resampling("bootstrap", 6), 4, "ab"), "numbers of replicates"),
        (Replicates.zero(Resampling("bootstrap", 5, 1), 4, "ab"), "seeds"),
        (Replicates.zero(Resampling("bootstrap", 5), 2, "ab"), "numbers of columns"),
    ],
)
def test_replicates_that_were_drawn_in_another_way_do_not_add_up(other, what):
    with pytest.raises(ValueError, match=f"replicates of different {what}"):
        _ = Replicates.zero(Resampling("bootstrap", 5), 4, "ab") + other


def test_replicates_of_other_systems_do_not_add_up():
    resampling = Resampling("bootstrap", 5)
    with pytest.raises(JobError, match="not all segments have the same systems"):
        _ = Replicates.zero(resampling, 4, "ab") + Replicates.zero(resampling, 4, "abc")


def test_a_pickle_leaves_out_the_columns_that_are_0():
    found = added(Resampling("bootstrap", 1000), [made_statistics(20)])
    pickled = pickle.dumps(found)
    loaded = pickle.loads(pickled)
    assert loaded.sums.tobytes() == found.sums.tobytes()
    assert loaded.unweighted.tobytes() == found.unweighted.tobytes()
    assert (loaded.resampling, loaded.systems, loaded.width) == (
        found.resampling,
        found.systems,
        found.width,
    )
    assert len(pickled) < found.nbytes


@pytest.mark.parametrize("method", METHODS)
def test_every_route_of_an_engine_gives_the_same_replicates(method):
    statistics = made_statistics(40)
    resampling = Resampling(method, 20)
    parts = [added(resampling, [rows_of(statistics, range(n, 40, 5))]) for n in range(5)]
    whole = added(resampling, [statistics]).sums.tolist()
    combine = AddUp()
    for route, output in by_every_route(combine, parts):
        assert output.sums.tolist() == whole, route


def test_no_replicates_add_up_to_none():
    nothing = Replicates.zero(Resampling("bootstrap", 5), BASIS.width, ())
    assert nothing + nothing is nothing


@pytest.mark.parametrize("documents", [None, "document"])
def test_the_step_gives_one_value_for_all_batches(documents):
    statistics = made_statistics(50)
    resampling = Resampling("bootstrap", 600)
    expected = added(resampling, [statistics], documents)

    def check(found):
        ((key, only),) = found
        assert key == ("replicates", ALL_SYSTEMS)
        assert only.sums.tolist() == expected.sums.tolist()
        assert only.systems == ("a", "b")

    parts = [rows_of(statistics, range(n, 50, 7)) for n in range(7)]
    parts.append(rows_of(statistics, []))
    with beam.Pipeline("FnApiRunner") as root:
        batches = root | beam.Create(parts)
        replicates = of_replicates(resampling, LABELS, BASIS, documents=documents)
        parts = sum_batches(batches, "replicates", replicates, threads=2)
        assert_that(add_up([parts]), check)


def test_the_step_gives_nothing_without_a_batch():
    with beam.Pipeline("FnApiRunner") as root:
        batches = root | beam.Create([])
        replicates = of_replicates(Resampling("bootstrap", 5), LABELS, BASIS)
        parts = sum_batches(batches, "replicates", replicates)
        assert_that(
            add_up([parts]), lambda values: None if not values else pytest.fail(str(values))
        )
