"""The moments of documents are those of brute force, however their segments are divided."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that
from made_units import named_columns
from units_by_hand import pair_by_hand, sums_by_hand

from beam_bleu.transforms.definition.slicing import NO_SLICES, SliceKey, Slicing, slicing_of
from beam_bleu.transforms.metrics.bleu.columns import PARTS_OF_A_TOKEN, bleu_basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.totals.moments.document_moments import DocumentMoments
from beam_bleu.transforms.totals.moments.document_sums import BUCKETS, DocumentAdder, DocumentSums
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.sum_document_moments import (
    moments_of_documents,
    sum_documents,
)
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

ORDER = 2
BASIS = bleu_basis(ORDER)
LABELS = ("domain", "doc")
SLICING = slicing_of(["domain"])
SYSTEMS = ("b", "c", "a")  # in the order of the result, which is not that of the names


@dataclasses.dataclass(frozen=True)
class Segment:
    """A segment with the counts of each system that has it."""

    document: str
    domain: str
    counts: dict[str, list[int]]
    references: int


def segments(
    draw: random.Random, number: int, documents: int, *, each: bool = False, long: bool = False
) -> list[Segment]:
    """Random segments.

    Args:
      draw: the random numbers.
      number: the number of segments.
      documents: the number of documents, whose segments are scattered.
      each: whether systems can have different segments.
      long: whether some segments are so long that products do not fit in an int64.
    """
    found = []
    for _ in range(number):
        systems = SYSTEMS
        if each:
            systems = tuple(name for name in SYSTEMS if draw.random() < 0.8) or SYSTEMS[:1]
        largest = 2**40 if long and draw.random() < 0.1 else 30
        references = draw.randrange(1, 4)
        shortest = draw.randrange(largest)
        longest = shortest + draw.randrange(largest)
        above = draw.randrange((longest - shortest) * references + 1)
        counts = {}
        for system in systems:
            length = draw.randrange(largest)
            closest = draw.randrange(shortest, longest + 1)
            first = draw.randrange(closest, longest + 1)
            matches = [draw.randrange(length + 1) for _ in range(ORDER)]
            counts[system] = [
                *named_columns(
                    ORDER,
                    segments=1,
                    candidate_length=length,
                    ref_shortest=shortest,
                    ref_closest_more=closest - shortest,
                    ref_closest_first_more=first - closest,
                    ref_longest_more=longest - shortest,
                    ref_average_more=above * PARTS_OF_A_TOKEN // references,
                    **{f"matches_{n}": matched for n, matched in enumerate(matches, 1)},
                    **{f"short_{n}": int(length < n) for n in range(1, ORDER + 1)},
                )
            ]
        found.append(
            Segment(
                f"doc {draw.randrange(documents)}",
                draw.choice(["news", "social"]),
                counts,
                references,
            )
        )
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
        counts,
        np.array([row.references for row in rows], np.int64),
        np.zeros(counts.shape[:2], np.int64),
        np.zeros(len(rows), np.int64),
        BatchSigns.none(systems=len(systems), reference_count=1, segments=len(rows)),
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


def moments(
    bundles: Iterable[Sequence[BatchStatistics]],
    slicing: Slicing = SLICING,
    *,
    workers: int = 1,
    baseline: str | None = None,
    documents: str = "doc",
    with_all_pairs: bool = True,
) -> Moments:
    """What the steps of Beam compute from bundles."""
    partitions: dict[int, list[DocumentSums]] = {}
    for bundle in bundles:
        adder = DocumentAdder(slicing, LABELS, documents, BASIS)
        for each in bundle:
            adder.add(each)
        for partition, part in adder.parts():
            partitions.setdefault(partition, []).append(part)
    adders = [
        DocumentMoments(BASIS, slicing.most, baseline, with_all_pairs=with_all_pairs)
        for _ in range(workers)
    ]
    for number, parts in enumerate(partitions.values()):
        adders[number % workers].add(parts)
    found = [each.moments() for each in adders]
    total = Moments.zero(BASIS.width)
    for each in found:
        total = total if each is None else total + each
    return total


def units(rows: Iterable[Segment], system: str) -> dict[str, list[int]]:
    """The integers of each document, by brute force."""
    found: dict[str, list[int]] = {}
    for row in rows:
        columns = row.counts[system]
        so_far = found.setdefault(row.document, [0] * len(columns))
        found[row.document] = [a + b for a, b in zip(so_far, columns, strict=True)]
    return found


def assert_brute_force(found: Moments, rows: Sequence[Segment], baseline: str = "b") -> None:
    known = {system for row in rows for system in row.counts}
    groups: dict[Any, list[Segment]] = {None: list(rows)}
    for row in rows:
        groups.setdefault(SliceKey(0, (row.domain,)), []).append(row)
    assert set(found.keys) == set(groups)
    for key, of_group in groups.items():
        for system in known:
            own = units([row for row in of_group if system in row.counts], system)
            assert found.of_system(system, key) == sums_by_hand(list(own.values()), BASIS.width)
        common = [row for row in of_group if known == set(row.counts)]
        for system, other in itertools.permutations(sorted(known), 2):
            if key is not None and baseline not in (system, other):
                continue
            pair = found.of_pair(system, other, key)
            left, right = units(common, system), units(common, other)
            assert list(left) == list(right)
            assert pair == pair_by_hand(list(left.values()), list(right.values()), BASIS.width)


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_moments_are_those_of_brute_force(seed: int, each: bool) -> None:
    draw = random.Random(seed)
    rows = segments(draw, 60, 9, each=each, long=seed % 2 == 1)
    draw_bundles = [rows[begin : begin + 20] for begin in range(0, 60, 20)]
    found = moments([batches(part, 7) for part in draw_bundles], workers=2)
    assert_brute_force(found, rows)


def test_a_document_of_which_no_segment_is_common_is_no_common_unit() -> None:
    draw = random.Random(3)
    rows = segments(draw, 12, 3)
    rows = [
        dataclasses.replace(row, counts={"b": row.counts["b"]}) if row.document == "doc 1" else row
        for row in rows
    ]
    assert_brute_force(moments([batches(rows, 5)]), rows)
    documents = {row.document for row in rows}
    assert len(documents) == 3
    assert moments([batches(rows, 5)]).of_pair("b", "a").units == 2
    assert moments([batches(rows, 5)]).of_system("b").units == 3


def test_segments_stop_being_common_if_another_partition_has_another_system() -> None:
    draw = random.Random(4)
    rows = segments(draw, 40, 40)
    first = rows[0].document
    rows = [
        row
        if row.document == first
        else dataclasses.replace(row, counts={name: row.counts[name] for name in "bc"})
        for row in rows
    ]
    found = moments([batches(rows, 50)], workers=3)
    assert_brute_force(found, rows)
    assert found.of_pair("b", "c").units == 1


def test_without_a_common_unit_there_is_no_pair_however_the_corpus_is_divided() -> None:
    rows = [
        dataclasses.replace(row, document="d", counts={name: row.counts[name]})
        for row, name in zip(segments(random.Random(4), 40, 1), "bc" * 20, strict=True)
    ]
    adder = DocumentAdder(SLICING, LABELS, "doc", BASIS)
    for statistics in batches(rows, 50):
        adder.add(statistics)
    documents = DocumentMoments(BASIS, SLICING.most, "b", with_all_pairs=True)
    documents.add([part for _, part in adder.parts()])
    whole = documents.moments()
    assert whole is not None
    for found in (whole, Moments.zero(BASIS.width) + whole):
        assert (found.systems, found.units, found.pairs, found.slice_pairs) == (
            ("b", "c"),
            0,
            (),
            (),
        )
        assert (len(found.cross_products), found.slice_cross_products.shape[1]) == (0, 0)
        assert_brute_force(found, rows)


def test_the_split_changes_no_byte() -> None:
    draw = random.Random(5)
    rows = segments(draw, 80, 7, each=True)
    whole = moments([batches(rows, 80)])
    for size, workers in ((1, 1), (9, 3), (30, 2)):
        shuffled = draw.sample(rows, len(rows))
        bundles = [batches(shuffled[begin : begin + 17], size) for begin in range(0, 80, 17)]
        found = moments(draw.sample(bundles, len(bundles)), workers=workers)
        assert found.systems == whole.systems
        assert found.keys == whole.keys
        for field in dataclasses.fields(Moments):
            one, other = getattr(found, field.name), getattr(whole, field.name)
            assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def test_a_document_for_each_segment_gives_the_moments_of_segments() -> None:
    rows = [
        dataclasses.replace(row, document=f"s{number}")
        for number, row in enumerate(segments(random.Random(6), 50, 1))
    ]
    found = moments([batches(rows, 20)])
    for system in SYSTEMS:
        assert found.of_system(system) == sums_by_hand(
            list(units(rows, system).values()), BASIS.width
        )
        assert found.of_system(system).units == 50


def test_the_baseline_of_slices_can_be_another_system() -> None:
    rows = segments(random.Random(7), 30, 5)
    assert_brute_force(moments([batches(rows, 9)], baseline="c"), rows, baseline="c")
    with pytest.raises(ValueError, match="not a pair"):
        moments([batches(rows, 9)]).of_pair("a", "c", SliceKey(0, ("news",)))


@pytest.mark.parametrize(("baseline", "pairs"), [("b", ((0, 1), (1, 2))), ("c", ((0, 2), (1, 2)))])
def test_without_all_pairs_there_are_those_with_the_baseline(baseline: str, pairs: Any) -> None:
    bundles = [batches(segments(random.Random(7), 30, 5), 9)]
    found = moments(bundles, baseline=baseline, with_all_pairs=False)
    assert found.pairs == found.slice_pairs == pairs
    every = moments(bundles, baseline=baseline)
    for one, other in itertools.combinations(every.systems, 2):
        if baseline in (one, other):
            assert found.of_pair(one, other) == every.of_pair(one, other)
        else:
            with pytest.raises(ValueError, match="not a pair"):
                found.of_pair(one, other)


def test_too_many_slices_are_left_out() -> None:
    rows = [
        dataclasses.replace(row, domain=f"d{number // 10}")
        for number, row in enumerate(segments(random.Random(8), 60, 5))
    ]
    bundles = [batches(rows[begin : begin + 20], 20) for begin in range(0, 60, 20)]
    found = moments(bundles, dataclasses.replace(SLICING, most=3))
    assert found.keys == (None,)
    assert found.of_system("a") == sums_by_hand(list(units(rows, "a").values()), BASIS.width)


def test_without_slices_there_is_only_the_whole_corpus() -> None:
    rows = segments(random.Random(9), 20, 4)
    found = moments([batches(rows, 6)], NO_SLICES)
    assert found.keys == (None,)
    assert found.of_system("c") == sums_by_hand(list(units(rows, "c").values()), BASIS.width)


def test_documents_are_in_all_partitions() -> None:
    adder = DocumentAdder(NO_SLICES, LABELS, "doc", BASIS)
    adder.add(batch(segments(random.Random(10), 2000, 1500)))
    assert len(dict(adder.parts())) == BUCKETS


def test_messages_are_short() -> None:
    """200 documents of 3 systems need fewer bytes than their sums as int64."""
    rows = segments(random.Random(11), 1000, 200)
    adder = DocumentAdder(NO_SLICES, LABELS, "doc", BASIS)
    adder.add(batch(rows))
    parts = [part for _, part in adder.parts()]
    documents = sum(len(part.documents) for part in parts)
    assert documents == len({row.document for row in rows})
    sums = sum(each.nbytes for part in parts for each in part.columns if each is not None)
    assert sums < documents * len(SYSTEMS) * BASIS.width * 8 / 2


def test_a_segment_without_a_document_is_refused() -> None:
    rows = segments(random.Random(12), 3, 2)
    statistics = batch(rows)
    labels = (statistics.labels[0], pa.array(["x", None, "y"]).dictionary_encode())
    adder = DocumentAdder(NO_SLICES, LABELS, "doc", BASIS)
    with pytest.raises(ValueError, match="no document"):
        adder.add(dataclasses.replace(statistics, labels=labels))


def test_an_empty_batch_adds_nothing() -> None:
    statistics = batch(segments(random.Random(13), 1, 1))
    empty = dataclasses.replace(
        statistics,
        counts=np.zeros((3, 0, BASIS.width), np.int64),
        reference_counts=np.zeros(0, np.int64),
        labels=tuple(each.slice(0, 0) for each in statistics.labels),
    )
    adder = DocumentAdder(SLICING, LABELS, "doc", BASIS)
    adder.add(empty)
    assert list(adder.parts()) == []


def test_the_pipeline_gives_the_same_moments() -> None:
    rows = segments(random.Random(14), 90, 11, each=True)

    def check(found: list[tuple[tuple[str, str], Moments]]) -> None:
        total = Moments.zero(BASIS.width)
        for key, each in found:
            assert key == ("moments", ALL_SYSTEMS)
            total = total + each
        assert_brute_force(total, rows)

    with beam.Pipeline() as pipeline:
        statistics = pipeline | beam.Create(batches(rows, 8))
        parts = sum_documents(statistics, "moments", SLICING, LABELS, BASIS, documents="doc")
        found = moments_of_documents([parts], {"moments": BASIS}, SLICING.most, with_all_pairs=True)
        assert_that(found, check)
