"""Totals of segments and of documents are those of brute force, however the corpus is divided."""

import dataclasses
import functools
import itertools
import operator
import pickle
import random

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that
from made_statistics import made_statistics, rows_of
from made_units import found_products, found_sums, products_of_rows, sums_of_rows
from scoring import statistics_of

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import NO_SLICES, SliceKey, Slicing
from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    PARTS_OF_A_TOKEN,
    SHORTEST,
    bleu_basis,
)
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.totals.batch_adder import Adding, BatchAdder, totals_of_rows
from beam_bleu.transforms.totals.closing import require_all_scored
from beam_bleu.transforms.totals.documents import DocumentAdder, DocumentTotals
from beam_bleu.transforms.totals.group_totals import CorpusSums, GroupTotals, MetricTotals
from beam_bleu.transforms.totals.summing import sum_documents
from beam_bleu.transforms.wiring.steps import AddUp

ORDER = 3
BASIS = bleu_basis(ORDER)
SLICING = Slicing((("domain",), ("length",)), (10, 20))
ADDING = Adding(
    BASIS, 0, SLICING, ("domain",), baseline="b", with_products=True, with_all_pairs=True
)
ABC = ("b", "c", "a")  # in the order of the result, which is not that of the names
OF_DOCUMENTS = dataclasses.replace(
    ADDING,
    baseline=None,
    slicing=Slicing((("domain",),)),
    labels=("domain", "doc"),
    documents="doc",
)


def made(seed, systems, segments, longest=40, references=3, documents=9):
    """Made statistics whose labels are the domain and the document, with random facts."""
    rng = np.random.default_rng(seed)
    statistics = made_statistics(
        segments,
        systems,
        ORDER,
        seed=rng,
        longest=longest,
        references=references,
        labels=("news", "talks", "10"),
    )
    signs = statistics.signs
    for sign in signs:
        sign[...] = rng.random(sign.shape) < 0.3
    signs.scripts[...] = rng.integers(0, 5, signs.scripts.shape)
    signs.given[...] = np.arange(references)[:, np.newaxis] < statistics.reference_counts
    statistics.candidate_bytes[...] = rng.integers(0, 99, statistics.candidate_bytes.shape)
    names = pa.array([f"doc {n}" for n in rng.integers(0, documents, segments)], pa.string())
    labels = (*statistics.labels, names.dictionary_encode())
    return dataclasses.replace(statistics, labels=labels)


def added_up(batches, adding=ADDING):
    adder = BatchAdder(adding)
    for each in batches:
        adder.add(each)
    return adder.totals()


def groups_of(statistics, segment):
    """The groups of a segment: the whole corpus, its domain, its range of lengths."""
    columns = statistics.counts[0][0, segment].tolist()
    average = (columns[SHORTEST] * PARTS_OF_A_TOKEN + columns[AVERAGE]) // PARTS_OF_A_TOKEN
    domain = statistics.labels[0][segment].as_py()
    return None, SliceKey(0, (domain,)), SliceKey(1, (sum(average >= 10 * n for n in (1, 2)),))


def require_sums(sums, rows):
    """Checks sums of (statistics, place of the system, segment), in Python's integers.

    The facts that depend on the number of the reference have tests of their own, of texts.
    """

    def total(values):
        return sum(map(int, values))

    references = [int(of.reference_counts[i]) for of, _, i in rows]
    units = [of.counts[0][s, i].tolist() for of, s, i in rows]
    scripts = [of.signs.scripts[s, i] for of, s, i in rows]
    expected = {
        "columns": tuple(sum(row[i] for row in units) for i in range(BASIS.width)),
        "min_reference_count": min(references, default=0),
        "max_reference_count": max(references, default=0),
        "candidate_bytes": total(of.candidate_bytes[s, i] for of, s, i in rows),
        "reference_bytes": total(of.reference_bytes[i] for of, _, i in rows),
        "tokenized": total(of.signs.tokenized[s, i] for of, s, i in rows),
        "candidate_returns": total(of.signs.candidate_returns[s, i] for of, s, i in rows),
        "scripts": tuple(scripts.count(script) for script in range(1, 5)),
    }
    assert {name: getattr(sums, name) for name in expected} == expected


def units_of(rows, documents):
    """The integers of each segment or document of (statistics, place of the system, segment)."""
    units = [of.counts[0][s, i].tolist() for of, s, i in rows]
    if not documents:
        return units
    sums = {}
    for (of, _, i), unit in zip(rows, units, strict=True):
        name = of.labels[1][i].as_py()
        sums[name] = [a + b for a, b in zip(sums.get(name, [0] * len(unit)), unit, strict=True)]
    return list(sums.values())


def require_sums_by_hand(totals, batches, baseline="b", documents=False):
    """Checks everything that totals give."""
    groups = {}
    for statistics in batches:
        for i in range(len(statistics)):
            for key in groups_of(statistics, i)[: 2 if documents else 3]:
                groups.setdefault(key, []).append((statistics, i))
    systems = {system for batch in batches for system in batch.systems}
    assert {*totals.corpus.systems} == systems
    assert {*totals.corpus.keys, *totals.slices.keys} == {*groups}
    for key, segments in groups.items():
        table = totals.corpus if key is None else totals.slices
        for system in systems:
            own = [(of, of.systems.index(system), i) for of, i in segments if system in of.systems]
            if not documents:
                require_sums(table.sums(system, key), own)
            if own:
                assert found_sums(table, system, key) == sums_of_rows(units_of(own, documents))
        common = [(of, i) for of, i in segments if {*of.systems} == systems]
        for pair in itertools.permutations(sorted(systems), 2):
            if key is not None and baseline not in pair:
                continue
            if table.pairs:
                units = [
                    units_of([(of, of.systems.index(name), i) for of, i in common], documents)
                    for name in pair
                ]
                expected = products_of_rows(*units, BASIS.width)
                assert found_products(table, *pair, key) == expected
            else:
                assert not common


@pytest.mark.parametrize(("longest", "references"), [(40, 7), (2**26, 1), (2**31, 7)])
def test_totals_are_those_of_brute_force(longest, references):
    rng = np.random.default_rng(references)
    batches = [made(rng, ABC, segments, longest, references) for segments in (9, 1, 0, 7, 140)]
    first = dataclasses.replace(ADDING, baseline=None)
    require_sums_by_hand(added_up(batches, first), batches)
    other = dataclasses.replace(ADDING, baseline="a", with_all_pairs=False)
    few = added_up(batches, other)
    assert few.corpus.pairs == few.slices.pairs == ((0, 1), (0, 2))
    every = added_up(batches)
    assert found_products(few.corpus, "a", "c") == found_products(every.corpus, "a", "c")


def by_every_route(combine, inputs):
    """Yields (route, output) for each way in which an engine may drive a CombineFn.

    After each way, asserts that no input was changed, and of accumulators only the first.
    """
    before = pickle.dumps(inputs)

    def accumulated(elements):
        return combine.add_inputs(combine.create_accumulator(), elements)

    def merged(*shards):
        accumulators = [pickle.loads(pickle.dumps(accumulated(shard))) for shard in shards]
        kept = pickle.dumps(accumulators[1:])
        merged = combine.merge_accumulators(iter(accumulators))
        assert pickle.dumps(accumulators[1:]) == kept
        return merged

    first, *others = [[each] for each in inputs]
    ways = {
        "sequentially": lambda: accumulated(inputs),
        "reversed": lambda: merged(*reversed(others), first),
        "with empty shards": lambda: merged([], first, [], *others, []),
        "in a tree": lambda: combine.merge_accumulators([merged(first), None, merged(*others)]),
        "added to after a merge": lambda: combine.add_inputs(merged(first), inputs[1:]),
    }
    for place in range(len(inputs) + 1):
        shards = inputs[:place], inputs[place:]
        ways[f"split at {place}"] = lambda shards=shards: merged(*shards)
    for route, run in ways.items():
        yield route, combine.extract_output(run())
        assert pickle.dumps(inputs) == before, f"{route} changed its inputs"


@pytest.mark.parametrize("number_of_sets", [1, 3, 5])
def test_any_division_and_order_give_the_same_totals(number_of_sets):
    draw = random.Random(number_of_sets)
    systems = [ABC, ("a", "b"), ("b", "a"), ("c",), ("a", "d")][:number_of_sets]
    batches = [
        made(n, draw.choice(systems), draw.randrange(8), draw.choice([9, 2**32])) for n in range(12)
    ]
    batches += [rows_of(batches[0], [])]
    adding = ADDING
    if number_of_sets == 1:  # replicates need the same systems in all batches
        adding = dataclasses.replace(ADDING, resampling=Resampling("bootstrap", 20))
    whole = added_up(batches, adding)
    require_sums_by_hand(whole, batches)
    draw.shuffle(batches)
    parts = [added_up(batches[n::3], adding) for n in range(3)]
    for route, found in by_every_route(AddUp(), parts):
        assert values_of(in_order(found)) == values_of(in_order(whole)), route
        assert np.array_equal(found.replicates, whole.replicates), route


def values_of(totals):
    """Everything in totals, and the types of their arrays."""
    return [
        (value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value
        for table in (totals.corpus, totals.slices)
        for name, value in vars(table).items()
        if name != "own" and not isinstance(value, dict)  # cached properties
    ]


def in_order(totals):
    keys = SLICING.in_order([key for key in totals.slices.keys if key])
    corpus, slices = totals.corpus.arranged([None]), totals.slices.arranged(keys)
    return MetricTotals(corpus, slices)


def test_more_sets_of_systems_than_are_added_up_side_by_side():
    sets = ["a", "ab", "abc", "c", "b", "bc", "ac", "abcd", "d", "cd", "abcd"]
    batches = [made(n, tuple(systems), 4) for n, systems in enumerate(sets)]
    require_sums_by_hand(added_up(batches), batches)


def test_sums_that_no_longer_fit_in_64_bits_are_exact():
    # Of each batch they fit, and with its own bits each value is usual.
    statistics = rows_of(made(6, ABC, 40), np.arange(4000) % 40)
    counts = np.full_like(statistics.counts[0], 2**25 - 1)
    counts[..., SEGMENTS] = 1
    adding = dataclasses.replace(ADDING, slicing=NO_SLICES)
    totals = added_up([dataclasses.replace(statistics, counts=(counts,))] * 6, adding)
    sums = found_sums(totals.corpus, "a")
    assert (sums[0], sums[1 + BASIS.width]) == (24_000, 24_000)
    assert max(sums) == 24_000 * (2**25 - 1) ** 2 > 2**63
    assert found_sums((totals + totals).corpus, "a") == [2 * value for value in sums]


def test_too_many_slices_are_refused():
    slicing = dataclasses.replace(SLICING, items=(("domain",),), most=5)
    adding = dataclasses.replace(ADDING, slicing=slicing)
    parts = [
        added_up([made_statistics(30, ABC, ORDER, seed=n, labels=labels)], adding)
        for n, labels in enumerate([("id-1", "id-2", "id-3"), ("id-3", "id-4", "id-5"), ("id-6",)])
    ]
    assert len((parts[0] + parts[1]).slices.keys) == 5
    with pytest.raises(InputError, match="more than 5 slices, for example 'id-"):
        _ = parts[0] + parts[1] + parts[2]
    batch = made_statistics(200, ABC, ORDER, labels=tuple(f"id-{k}" for k in range(99)))
    with pytest.raises(InputError, match="more than 5 slices, for example 'id-"):
        added_up([batch], adding)


def test_the_facts_of_a_segment_with_thousands_of_references_are_few():
    batch = to_batch([("a .", ["b", "c"]), ("a", ["a"] * 5000)])
    totals = added_up([statistics_of(batch, BleuConfig(), ORDER)], Adding(BASIS)).corpus
    sums = totals.sums("1")
    assert (sums.min_reference_count, sums.max_reference_count) == (2, 5000)
    assert (sums.tokenized, sums.given[:3]) == (1, (2, 2, 1))
    assert totals.facts.size < 100


def test_some_rows_of_a_batch_have_their_own_totals():
    statistics = made(1, ABC, 9)
    for start, stop in itertools.combinations(range(10), 2):
        rows = slice(start, stop)
        both = totals_of_rows(statistics, [BASIS], rows, [("c", "b")], with_products=True)
        (found,) = both.metrics
        own = [[(statistics, place, i) for i in range(start, stop)] for place in range(3)]
        for place, system in enumerate(ABC):
            require_sums(found.sums(system), own[place])
        units = [[of.counts[0][s, i].tolist() for of, s, i in own[place]] for place in (1, 0)]
        assert found_products(found, "c", "b") == products_of_rows(*units, BASIS.width)


def test_totals_of_nothing():
    nothing = added_up([])
    zero = CorpusSums((0,) * BASIS.width)
    assert nothing.corpus.sums("a") == zero
    batch = made(1, ABC, 3)
    total = nothing + added_up([batch])
    assert total.corpus.sums("a") == added_up([batch]).corpus.sums("a")
    assert AddUp().merge_accumulators([]) is None
    assert GroupTotals.zero(BASIS.width).units == 0


# Documents, whose segments are in several batches and bundles


def totals_of_documents(bundles, workers=1):
    """What the steps of Beam compute from bundles."""
    buckets = {}
    for bundle in bundles:
        adder = DocumentAdder(OF_DOCUMENTS)
        for each in bundle:
            adder.add(each)
        for bucket, part in adder.buckets():
            buckets[bucket] = buckets[bucket] + part if bucket in buckets else part
    adders = [DocumentTotals(OF_DOCUMENTS) for _ in range(workers)]
    for number, documents in enumerate(buckets.values()):
        adders[number % workers].add(documents)
    parts = [totals for each in adders if (totals := each.totals()) is not None]
    return in_order(functools.reduce(operator.add, parts))


@pytest.mark.parametrize("number_of_sets", [1, 4])
@pytest.mark.parametrize("longest", [40, 2**32])
def test_documents_have_the_same_totals_however_they_are_divided(number_of_sets, longest):
    draw = random.Random(number_of_sets)
    systems = [ABC, ("c", "a"), ("b",), ("b", "c")][:number_of_sets]
    batches = [made(n, systems[n % number_of_sets], 7, longest) for n in range(8)]
    whole = totals_of_documents([batches])
    require_sums_by_hand(whole, batches, documents=True)
    pieces = [rows_of(each, rows) for each in batches for rows in ([4], [6, 0, 2], [1, 3, 5])]
    for bundles, workers in ((2, 2), (7, 3)):
        draw.shuffle(pieces)
        found = totals_of_documents([pieces[n::bundles] for n in range(bundles)], workers)
        assert values_of(found) == values_of(whole)


def test_without_a_common_unit_there_is_no_pair_however_the_corpus_is_divided():
    batches = [made(n, (system,), 20, documents=1) for n, system in enumerate("bc")]
    found = totals_of_documents([batches])
    assert (found.corpus.systems, found.corpus.units) == (("b", "c"), 0)
    assert found.corpus.pairs == found.slices.pairs == ()
    require_sums_by_hand(found, batches, documents=True)


def test_the_pipeline_gives_the_same_totals_of_documents():
    batches = [made(n, ABC[: 2 + n % 2], 8) for n in range(9)]

    def check(found):
        assert {name for name, _ in found} == {"totals"}
        total = functools.reduce(operator.add, (totals for _, totals in found))
        require_sums_by_hand(in_order(total), batches, documents=True)

    with beam.Pipeline("FnApiRunner") as pipeline:
        statistics = pipeline | beam.Create(batches)
        assert_that(sum_documents(statistics, {"totals": OF_DOCUMENTS}), check)


def test_all_planned_segments_and_no_others_must_be_scored():
    planned = {"a": 2, "b": 1}
    require_all_scored({**planned, "c": 0}, planned)
    for scored, message in [
        ({"a": 1, "b": 1}, "2 were planned, 1 of system a were scored"),
        ({"a": 3, "b": 1}, "2 were planned, 3 of system a were scored"),
        ({"a": 2}, "1 were planned, 0 of system b were scored"),
        ({"a": 2, "b": 1, "c": 2}, "0 were planned, 2 of system c were scored"),
    ]:
        with pytest.raises(JobError, match=f"{message} with the tokens of intl"):
            require_all_scored(planned, scored, "intl")
    with pytest.raises(JobError, match="0 of system b were scored;"):
        require_all_scored(planned, {"a": 2})
