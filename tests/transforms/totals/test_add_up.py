"""Adding up gives the same sums in every order in which an engine may add them."""

import dataclasses
import itertools
import random
from fractions import Fraction

import apache_beam as beam
import brute_force
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from combining import by_every_route
from scoring import statistics_of

from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS, BleuColumns, width
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.totals.corpus_sums import CorpusSums, InputSigns
from beam_bleu.transforms.totals.summing import SumGroups, sums_of_each_system
from beam_bleu.transforms.wiring.add_up import AddUp

WIDTH = width(4)
ADD_UP = AddUp()
WORDS = ["a", "a", "é", "."]


def made_batch(systems=1, segments=9, seed=1):
    """Segments with 1 to 3 references each and some empty candidates."""
    rng = random.Random(seed)

    def line():
        return " ".join(rng.choices(WORDS, k=rng.randrange(14)))

    references = [[line() for _ in range(rng.randrange(1, 4))] for _ in range(segments)]
    candidates = [[line() for _ in range(segments)] for _ in range(systems)]
    for texts in candidates:
        texts[rng.randrange(segments)] = ""
    batches = [to_batch(list(zip(texts, references, strict=True))) for texts in candidates]
    columns = tuple(batch.candidates[0] for batch in batches)
    return SegmentBatch(columns, batches[0].references)


def made_statistics(systems=1, seed=1):
    return statistics_of(made_batch(systems, seed=seed), BleuConfig())


def each_segment(statistics, system=0):
    return [CorpusSums.of(statistics, system, slice(i, i + 1)) for i in range(len(statistics))]


def summed_by_hand(inputs):
    """The sums, field by field and without CorpusSums's own addition."""
    return CorpusSums(
        columns=tuple(sum(each.columns[n] for each in inputs) for n in range(WIDTH)),
        min_reference_count=min(each.min_reference_count for each in inputs),
        max_reference_count=max(each.max_reference_count for each in inputs),
        candidate_bytes=sum(each.candidate_bytes for each in inputs),
        reference_bytes=sum(each.reference_bytes for each in inputs),
        signs=InputSigns(
            tokenized=sum(each.signs.tokenized for each in inputs),
            candidate_returns=sum(each.signs.candidate_returns for each in inputs),
            **{
                field: tuple(
                    sum(each[position] for each in columns if position < len(each))
                    for position in range(max(map(len, columns)))
                )
                for field in ("identical", "given", "reference_returns", "scripts")
                for columns in [[getattr(each.signs, field) for each in inputs]]
            },
        ),
    )


def test_every_route_gives_the_same_totals():
    statistics = made_statistics()
    inputs = each_segment(statistics)
    expected = summed_by_hand(inputs)
    assert expected == CorpusSums.of(statistics, 0)
    routes = 0
    for route, output in by_every_route(ADD_UP, inputs):
        assert output == expected, route
        routes += 1
    assert routes > 100


def test_the_inputs_of_the_routes_are_not_trivial():
    sums = CorpusSums.of(made_statistics(), 0)
    assert sums.min_reference_count < sums.max_reference_count
    columns = BleuColumns(sums.columns)
    assert sums.segments > columns.short_candidates[0] > 0
    assert all(columns.matches)
    assert columns.totals > columns.matches
    assert sums.signs.tokenized
    assert sums.signs.given[0] > sums.signs.given[-1] > 0


def test_beyond_64_bits_totals_stay_exact():
    large = dataclasses.replace(
        CorpusSums.of(made_statistics(), 0), columns=(2**63 - 1, *[2**70] * (WIDTH - 1))
    )
    for route, output in by_every_route(ADD_UP, [large] * 5):
        assert output.columns == (5 * (2**63 - 1), *[5 * 2**70] * (WIDTH - 1)), route


def test_the_sum_of_nothing_is_none_and_the_sum_of_zeros_is_zero():
    combine = ADD_UP
    zero = CorpusSums.zero(WIDTH)
    nothing = combine.create_accumulator()
    assert combine.extract_output(nothing) is None
    assert combine.merge_accumulators([]) is None
    assert combine.merge_accumulators([nothing, nothing]) is None
    assert combine.merge_accumulators([nothing, zero, zero]) == zero
    assert (zero.segments, zero.columns) == (0, (0,) * WIDTH)


def test_addition_is_commutative_and_associative_with_zero():
    sums = [*each_segment(made_statistics(seed=2)), CorpusSums.zero(WIDTH)]
    zero = CorpusSums.zero(WIDTH)
    for a, b, c in itertools.product(sums, repeat=3):
        assert (a + b) + c == a + (b + c)
        assert a + b == b + a
        assert a + zero == zero + a == a


def test_zero_does_not_lower_the_smallest_number_of_references():
    (three,) = each_segment(statistics_of(to_batch([("a", ["a", "b", "c"])]), BleuConfig()))
    total = three + CorpusSums.zero(WIDTH)
    assert (total.min_reference_count, total.max_reference_count) == (3, 3)


def test_sums_of_different_orders_do_not_add_up():
    four, two = (CorpusSums.zero(width(order)) for order in (4, 2))
    shown = f"{width(4)} and {width(2)} columns"
    with pytest.raises(ValueError, match=shown):
        _ = four + two
    with pytest.raises(ValueError, match=shown):
        ADD_UP.add_input(four, two)


def test_rows_of_a_batch_add_up_to_the_batch():
    statistics = made_statistics(systems=3)
    size = len(statistics)
    for system in range(3):
        inputs = each_segment(statistics, system)
        for first, last in itertools.combinations(range(size + 1), 2):
            of_part = CorpusSums.of(statistics, system, slice(first, last))
            assert of_part == summed_by_hand(inputs[first:last])
    assert CorpusSums.of(statistics, 0, slice(4, 4)) == CorpusSums.zero(WIDTH)


def test_sums_of_a_segment_are_its_statistics():
    batch = to_batch([("a b é", ["a b", "a b c d", None]), ("", ["x", "", None])])
    statistics = statistics_of(batch, BleuConfig())
    lengths = {
        rule: brute_force.REFERENCE_LENGTHS[rule](3, [2, 4])
        + brute_force.REFERENCE_LENGTHS[rule](0, [1, 0])
        for rule in REFERENCE_LENGTHS
    }
    sums = CorpusSums.of(statistics, 0)
    columns = BleuColumns(sums.columns)
    assert (columns.segments, columns.candidate_length) == (2, 3)
    assert (columns.matches, columns.totals) == ((2, 1, 0, 0), (3, 2, 1, 0))
    assert columns.short_candidates == (1, 1, 1, 2)
    # 2 and 4 are equally close to 3: the shorter one is also the first; "" is closest to "".
    assert {rule: Fraction(*columns.reference_length(rule)) for rule in lengths} == lengths
    assert sums == CorpusSums(
        columns=sums.columns,
        min_reference_count=2,
        max_reference_count=2,
        candidate_bytes=6,
        reference_bytes=3 + 7 + 1,
        # The second candidate equals its second reference; no segment has a third one.
        signs=InputSigns(0, 0, identical=(0, 1), given=(2, 2), reference_returns=(0, 0)),
    )


def test_totals_are_plain_integers():
    sums = CorpusSums.of(made_statistics(), 0, with_products=True)

    def check(value):
        if isinstance(value, tuple):
            for each in value:
                check(each)
        else:
            assert type(value) is int

    check(dataclasses.astuple(sums))


def test_each_system_of_a_batch_has_its_own_totals():
    statistics = made_statistics(systems=3)
    (group,) = statistics.groups
    keyed = list(sums_of_each_system(statistics, group))
    assert keyed == [
        ((str(system + 1), None), CorpusSums.of(statistics, system)) for system in range(3)
    ]
    assert len({sums for _, sums in keyed}) == 3


def test_a_system_has_the_same_totals_alone_and_with_others():
    batch = made_batch(systems=3)
    together = statistics_of(batch, BleuConfig())
    sums = [CorpusSums.of(together, system) for system in range(3)]
    for system, candidates in enumerate(batch.candidates):
        alone = statistics_of(SegmentBatch((candidates,), batch.references), BleuConfig())
        assert sums[system] == CorpusSums.of(alone, 0)
    assert len({each.columns for each in sums}) == 3


def test_beam_gives_the_direct_sums():
    batches = [made_statistics(systems=2, seed=seed) for seed in range(12)]
    expected = [
        (
            (str(system + 1), None),
            summed_by_hand([CorpusSums.of(batch, system) for batch in batches]),
        )
        for system in range(2)
    ]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        sums = (
            pipeline
            | beam.Create(batches)
            | beam.Reshuffle()
            | beam.ParDo(SumGroups(sums_of_each_system, with_products=False))
            | beam.CombinePerKey(ADD_UP)
        )
        assert_that(sums, equal_to(expected))
