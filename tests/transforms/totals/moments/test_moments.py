"""Moments equal sums in Python's integers: for each split, order, set of systems and length."""

import dataclasses
import itertools

import numpy as np
import pytest
from combining import by_every_route
from units_by_hand import (
    BASIS,
    LABELS,
    by_group,
    pair_by_hand,
    statistics_with_domains,
    sums_by_hand,
)

from beam_bleu.transforms.definition.slicing import NO_SLICES, SliceKey, slicing_of
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.unit_adder import MomentsAdder
from beam_bleu.transforms.totals.unit_sums import UnitSums
from beam_bleu.transforms.wiring.add_up import AddUp

SLICING = slicing_of(["domain", "length"], [10, 20])
ABC = ("b", "c", "a")


def added_up(batches, slicing=SLICING, baseline=None, with_all_pairs=True):
    adder = MomentsAdder(slicing, LABELS, BASIS, baseline, with_all_pairs=with_all_pairs)
    for each in batches:
        adder.add(each)
    return adder.moments()


def as_lists(moments):
    """A value that can be compared."""
    values = [getattr(moments, field.name) for field in dataclasses.fields(moments)]
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in values]


def require_sums_by_hand(moments, batches, pairs, slice_pairs):
    """Checks everything that moments give."""
    found = by_group(batches)
    assert set(moments.keys) == set(found)
    systems = {system for batch in batches for system in batch.systems}
    assert set(moments.systems) == systems
    for key, segments in found.items():
        for system in systems:
            units = [each[system] for each in segments if system in each]
            assert moments.of_system(system, key) == sums_by_hand(units)
        common = [each for each in segments if set(each) == systems]
        for one, other in pairs if key is None else slice_pairs:
            expected = pair_by_hand([x[one] for x in common], [x[other] for x in common])
            assert moments.of_pair(one, other, key) == expected
            assert moments.of_pair(other, one, key) == pair_by_hand(
                [x[other] for x in common], [x[one] for x in common]
            )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("longest", [40, 2**26, 2**31])
def test_moments_are_sums_of_products_for_segments_of_any_length(seed, longest):
    rng = np.random.default_rng(seed)
    batches = [
        statistics_with_domains(rng, ABC, segments, longest, references=1 + seed * 6)
        for segments in (9, 1, 0, 7)
    ]
    every = list(itertools.combinations(ABC, 2))
    require_sums_by_hand(added_up(batches), batches, every, [("b", "c"), ("b", "a")])
    with_a = added_up(batches, baseline="a")
    require_sums_by_hand(with_a, batches, every, [("a", "c"), ("a", "b")])
    # Without all pairs, their number grows with that of systems, and not with its square.
    few = added_up(batches, baseline="a", with_all_pairs=False)
    require_sums_by_hand(few, batches, [("a", "c"), ("a", "b")], [("a", "c"), ("a", "b")])
    assert len(few.pairs) == 2
    with pytest.raises(ValueError, match="not a pair"):
        few.of_pair("b", "c")


@pytest.mark.parametrize("other", [{"longest": 2**31}, {"references": 5}, {"longest": 0}, {}])
def test_batches_of_other_integers_than_those_before_them_are_exact(other):
    rng = np.random.default_rng(5)
    usual = [statistics_with_domains(rng, ABC, segments) for segments in (20, 300, 513)]
    batches = [*usual, statistics_with_domains(rng, ABC, 30, **other), *usual]
    every = list(itertools.combinations(ABC, 2))
    require_sums_by_hand(added_up(batches), batches, every, [("b", "c"), ("b", "a")])


def test_sums_that_no_longer_fit_in_64_bits_are_exact():
    # Of each batch they fit, and with its own bits each value is usual.
    made = statistics_with_domains(np.random.default_rng(6), ABC, 4000)
    counts = np.full_like(made.counts, 2**25 - 1)
    counts[..., SEGMENTS] = 1
    batch = dataclasses.replace(made, counts=counts, reference_counts=made.reference_counts * 0 + 1)
    moments = added_up([batch] * 6, NO_SLICES)
    sums = moments.of_system("a")
    assert sums.products[0] == 24_000
    assert max(sums.products) == 24_000 * (2**25 - 1) ** 2 > 2**63


@pytest.mark.parametrize("longest", [40, 2**31])
def test_parts_add_up_in_any_order_and_split(longest):
    rng = np.random.default_rng(longest)
    batches = [statistics_with_domains(rng, ABC, segments, longest) for segments in (5, 8, 3, 1)]
    expected = as_lists(added_up(batches))
    parts = [added_up([each]) for each in batches]
    for route, total in by_every_route(AddUp(), parts):
        assert as_lists(total) == expected, route


@pytest.mark.parametrize(
    "sets",
    [
        ["ab", "abc", "c", "abc"],
        ["abc", "ab", "d"],
        ["a", "b"],
        ["ab", "ba", "a"],
        ["a", "ab", "abc", "c", "b", "bc", "ac", "abcd", "d", "cd", "abcd"],
    ],
)
def test_common_units_are_those_that_all_systems_have(sets):
    rng = np.random.default_rng(len(sets))
    batches = [statistics_with_domains(rng, sorted(systems), 4) for systems in sets]
    systems = sorted(set("".join(sets)))
    every = list(itertools.combinations(systems, 2))
    with_first = [pair for pair in every if systems[0] in pair]
    total = added_up(batches)
    require_sums_by_hand(total, batches, every, with_first)
    reversed_total = added_up(batches[::-1])
    assert as_lists(reversed_total) == as_lists(total)
    parts = [added_up([each]) for each in batches]
    for route, found in by_every_route(AddUp(), parts):
        assert as_lists(found) == as_lists(total), route


def test_the_order_of_the_systems_of_a_batch_does_not_matter():
    rng = np.random.default_rng(1)
    batches = [statistics_with_domains(rng, systems, 5) for systems in ("ab", "ba", "ab")]
    total = added_up(batches, baseline="b")
    require_sums_by_hand(total, batches, [("a", "b")], [("a", "b")])


def test_slices_have_pairs_with_the_baseline_only():
    batches = [statistics_with_domains(np.random.default_rng(1), ABC, 9)]
    total = added_up(batches)
    key = next(each for each in total.keys if each is not None)
    with pytest.raises(ValueError, match="c and a are not a pair"):
        total.of_pair("c", "a", key)


def test_what_is_not_there_is_zero():
    total = added_up([statistics_with_domains(np.random.default_rng(1), "ab", 9)])
    zero = UnitSums.zero(BASIS.width)
    nothing = UnitSums.zero(2 * BASIS.width)
    absent = SliceKey(0, ("law",))
    assert total.of_system("c") == total.of_system("a", absent) == zero
    assert total.of_pair("a", "c") == total.of_pair("a", "b", absent) == nothing
    assert added_up([]).of_system("a") == zero
    assert as_lists(total + Moments.zero(BASIS.width)) == as_lists(total)


def test_a_group_is_found_without_a_look_at_all_others():
    # With a search through all groups, the last step took minutes for thousands of slices.
    compared = 0

    class Counted(SliceKey):
        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return super().__eq__(other)

        __hash__ = SliceKey.__hash__

    total = added_up([statistics_with_domains(np.random.default_rng(1), "ab", 200)])
    keys = [None, *(Counted(key.item, key.values) for key in total.keys[1:])]
    many = dataclasses.replace(total, keys=tuple(keys))
    for key in keys:
        same = None if key is None else SliceKey(key.item, key.values)
        assert many.of_system("a", key) == total.of_system("a", same)
        many.of_pair("a", "b", key)
    assert compared <= len(keys)


def test_other_orders_do_not_add_up():
    with pytest.raises(ValueError, match="3 and 4 columns cannot be added"):
        _ = Moments.zero(3) + Moments.zero(4)


def test_many_long_segments_are_exact():
    # More units than one range has, with products that fill a range's sums.
    batch = statistics_with_domains(np.random.default_rng(1), "a", 1, references=1)
    for length in (2**25 - 1, 2**25):
        batch.counts[..., SEGMENTS + 1 :] = length
        number = 9000
        repeated = dataclasses.replace(
            batch,
            counts=np.repeat(batch.counts, number, axis=1),
            reference_counts=np.repeat(batch.reference_counts, number),
        )
        found = added_up([repeated] * 3, NO_SLICES).of_system("a")
        one = added_up([batch], NO_SLICES).of_system("a")
        assert found.products.tolist() == [each * number * 3 for each in one.products.tolist()]


def test_too_many_slices():
    slicing = slicing_of(["domain"], most=2)
    batches = [statistics_with_domains(np.random.default_rng(seed), "ab", 1) for seed in range(9)]
    with pytest.raises(InputError, match="more than 2 slices"):
        added_up(batches, slicing)
    total = Moments.zero(BASIS.width)
    for batch in batches:
        total += dataclasses.replace(added_up([batch], slicing), most=2)
    # The memory is bounded, and the whole corpus is right.
    assert len(total.keys) <= 3
    assert total.of_system("a") == added_up(batches).of_system("a")
