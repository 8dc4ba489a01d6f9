"""The totals of documents are those of brute force, however their segments are divided."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import random
from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that
from made_units import (
    found_products,
    found_sums,
    products_of_rows,
    sums_of_rows,
)

from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.statistics.signs import no_signs
from beam_bleu.transforms.totals.batch_adder import Adding
from beam_bleu.transforms.totals.documents import DocumentAdder, DocumentParts, DocumentTotals
from beam_bleu.transforms.totals.group_totals import GroupTotals, MetricTotals
from beam_bleu.transforms.totals.summing import sum_documents

ORDER = 2
BASIS = bleu_basis(ORDER)
LABELS = ("domain", "doc")
SLICING = Slicing((("domain",),))
ADDING = Adding(BASIS, 0, SLICING, LABELS, with_products=True, with_all_pairs=True, documents="doc")
SYSTEMS = ("b", "c", "a")  # in the order of the result, which is not that of the names


@dataclasses.dataclass(frozen=True)
class Segment:
    """A segment with the counts of each system that has it."""

    document: str
    domain: str
    counts: dict[str, list[int]]


def segments(
    draw: random.Random, number: int, documents: int, *, each: bool = False, long: bool = False
) -> list[Segment]:
    """Random segments of documents that are scattered.

    With `each`, systems can have different segments; with `long`, some products need more than
    64 bits.
    """
    found = []
    for _ in range(number):
        systems = SYSTEMS
        if each:
            systems = tuple(name for name in SYSTEMS if draw.random() < 0.8) or SYSTEMS[:1]
        largest = 2**40 if long and draw.random() < 0.1 else 30
        shared = [draw.randrange(largest) for _ in range(BASIS.width)]
        shared[SEGMENTS] = 1
        counts = {
            system: [
                shared[column] if column in BASIS.shared else draw.randrange(largest)
                for column in range(BASIS.width)
            ]
            for system in systems
        }
        domain = draw.choice(["news", "social"])
        found.append(Segment(f"doc {draw.randrange(documents)}", domain, counts))
    return found


def batch(rows: Sequence[Segment]) -> BatchStatistics:
    """The statistics of segments that have the same systems."""
    systems = tuple(name for name in SYSTEMS if name in rows[0].counts)
    counts = np.array([[row.counts[name] for row in rows] for name in systems], np.int64)
    labels = tuple(
        pa.array(texts, pa.string()).dictionary_encode()
        for texts in ([row.domain for row in rows], [row.document for row in rows])
    )
    return BatchStatistics(
        (counts,),
        np.ones(len(rows), np.int64),
        np.zeros(counts.shape[:2], np.int64),
        np.zeros(len(rows), np.int64),
        no_signs(systems=len(systems), reference_count=1, segments=len(rows)),
        systems,
        labels=labels,
    )


def batches(rows: Iterable[Segment], size: int) -> list[BatchStatistics]:
    """Batches of at most this size, as a source gives them: each one has the same systems."""
    by_systems: dict[tuple[str, ...], list[Segment]] = {}
    for row in rows:
        by_systems.setdefault(tuple(row.counts), []).append(row)
    return [
        batch(same[begin : begin + size])
        for same in by_systems.values()
        for begin in range(0, len(same), size)
    ]


def totals_of(
    bundles: Iterable[Sequence[BatchStatistics]], adding: Adding = ADDING, *, workers: int = 1
) -> MetricTotals:
    """What the steps of Beam compute from bundles, arranged."""
    buckets: dict[int, DocumentParts] = {}
    for bundle in bundles:
        adder = DocumentAdder(adding)
        for each in bundle:
            adder.add(each)
        for bucket, part in adder.buckets():
            buckets[bucket] = buckets[bucket] + part if bucket in buckets else part
    adders = [DocumentTotals(adding) for _ in range(workers)]
    for number, documents in enumerate(buckets.values()):
        adders[number % workers].add(documents)
    return arranged([found for each in adders if (found := each.totals()) is not None])


def arranged(parts: Sequence[MetricTotals]) -> MetricTotals:
    total = functools.reduce(operator.add, parts)
    slices = total.slices
    if slices is not None:
        slices = slices.arranged(SLICING.in_order([key for key in slices.keys if key]))
    return MetricTotals(total.corpus.arranged([None]), slices)


def units(rows: Iterable[Segment], system: str) -> dict[str, list[int]]:
    """The integers of each document, by brute force."""
    found: dict[str, list[int]] = {}
    for row in rows:
        columns = row.counts[system]
        so_far = found.setdefault(row.document, [0] * len(columns))
        found[row.document] = [a + b for a, b in zip(so_far, columns, strict=True)]
    return found


def assert_brute_force(totals: MetricTotals, rows: Sequence[Segment], baseline: str = "b") -> None:
    known = {system for row in rows for system in row.counts}
    groups: dict[Any, list[Segment]] = {None: list(rows)}
    for row in rows:
        groups.setdefault(SliceKey(0, (row.domain,)), []).append(row)
    assert totals.slices is not None
    assert {*totals.corpus.keys, *totals.slices.keys} == {*groups}
    for key, of_group in groups.items():
        found: GroupTotals = totals.corpus if key is None else totals.slices
        for system in known:
            own = units([row for row in of_group if system in row.counts], system)
            expected = sums_of_rows(list(own.values()), BASIS.width)
            assert not own or found_sums(found, system, key) == expected
        common = [row for row in of_group if known == set(row.counts)]
        for system, other in itertools.permutations(sorted(known), 2):
            if key is not None and baseline not in (system, other):
                continue
            left, right = units(common, system), units(common, other)
            assert list(left) == list(right)
            if found.pairs:
                rows_of_both = list(left.values()), list(right.values())
                expected = products_of_rows(*rows_of_both, BASIS.width)
                assert found_products(found, system, other, key) == expected
            else:
                assert not common


@pytest.mark.parametrize("seed", range(4))
def test_totals_are_those_of_brute_force(seed: int) -> None:
    each = seed > 1
    draw = random.Random(seed)
    rows = segments(draw, 60, 9, each=each, long=seed % 2 == 1)
    bundles = [batches(rows[begin : begin + 20], 7) for begin in range(0, 60, 20)]
    whole = totals_of(bundles, workers=2)
    assert_brute_force(whole, rows)
    for size, workers in ((1, 1), (9, 3), (30, 2)):
        shuffled = draw.sample(rows, len(rows))
        bundles = [batches(shuffled[begin : begin + 17], size) for begin in range(0, 60, 17)]
        found = totals_of(draw.sample(bundles, len(bundles)), workers=workers)
        for one, other in ((found.corpus, whole.corpus), (found.slices, whole.slices)):
            assert one is not None
            assert other is not None
            assert one.keys == other.keys
            for name in ("common", "crosses", "rest"):
                assert np.array_equal(getattr(one, name), getattr(other, name))


def test_without_a_common_unit_there_is_no_pair_however_the_corpus_is_divided() -> None:
    rows = [
        dataclasses.replace(row, document="d", counts={name: row.counts[name]})
        for row, name in zip(segments(random.Random(4), 40, 1), "bc" * 20, strict=True)
    ]
    found = totals_of([batches(rows, 50)])
    assert found.slices is not None
    assert (found.corpus.systems, found.corpus.units) == (("b", "c"), 0)
    assert found.corpus.pairs == found.slices.pairs == ()
    assert_brute_force(found, rows)


def test_the_pipeline_gives_the_same_totals() -> None:
    rows = segments(random.Random(14), 90, 11, each=True)

    def check(found: list[tuple[str, MetricTotals]]) -> None:
        assert {name for name, _ in found} == {"totals"}
        assert_brute_force(arranged([totals for _, totals in found]), rows)

    with beam.Pipeline() as pipeline:
        statistics = pipeline | beam.Create(batches(rows, 8))
        assert_that(sum_documents(statistics, {"totals": ADDING}), check)
