"""Statistics of segments that never were texts, and what they add up to in Python's integers."""

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.totals.units import PARTS_OF_A_TOKEN, PairSums, UnitSums

ORDER = 3
LABELS = ("domain",)


def made_statistics(rng, systems, segments, longest=40, max_references=3):
    """Statistics of segments in which a few lengths are `longest`, and most are below 40."""
    references = rng.integers(1, max_references + 1, segments)
    counts = np.zeros((len(systems), segments, 6 + 2 * ORDER), np.int64)
    for i in range(segments):
        most = longest if rng.random() < 0.2 else 40
        lengths = sorted(rng.integers(0, most, references[i], endpoint=True).tolist())
        for system in range(len(systems)):
            length = int(rng.choice([0, 1, 2, 3, rng.integers(0, most, endpoint=True)]))
            nearest = min(abs(each - length) for each in lengths)
            closest = [each for each in lengths if abs(each - length) == nearest]
            totals = [max(length - n, 0) for n in range(ORDER)]
            counts[system, i] = [
                length,
                closest[0],
                rng.choice(closest),
                lengths[0],
                lengths[-1],
                sum(lengths),
                *(rng.integers(0, total, endpoint=True) for total in totals),
                *totals,
            ]
    labels = pa.array(rng.choice(["news", "talks", "10"], segments)).dictionary_encode()
    return BatchStatistics(
        counts,
        references,
        np.zeros((len(systems), segments), np.int64),
        np.zeros(segments, np.int64),
        BatchSigns.none(len(systems), max_references, segments),
        tuple(systems),
        labels=(labels,),
    )


def unit_by_hand(statistics, system, segment):
    """The integers of a segment."""
    counts = statistics.counts[system, segment].tolist()
    length, closest, closest_first, shortest, longest, every = counts[:6]
    references = int(statistics.reference_counts[segment])
    return [
        1,
        length,
        shortest,
        closest - shortest,
        closest_first - closest,
        longest - shortest,
        (every - shortest * references) * PARTS_OF_A_TOKEN // references,
        *counts[6 : 6 + ORDER],
        *(int(length <= n) for n in range(ORDER)),
    ]


def groups_of(statistics, segment):
    """The groups of a segment: the whole corpus, its domain, its range of lengths."""
    average = int(statistics.counts[0, segment, 5] // statistics.reference_counts[segment])
    domain = statistics.labels[0][segment].as_py()
    return None, SliceKey(0, (domain,)), SliceKey(1, (sum(average >= 10 * n for n in (1, 2)),))


def by_group(batches):
    """For each group its segments: for each one the integers of each system by its name."""
    found = {}
    for statistics in batches:
        for i in range(len(statistics)):
            segment = {
                system: unit_by_hand(statistics, number, i)
                for number, system in enumerate(statistics.systems)
            }
            for key in groups_of(statistics, i):
                found.setdefault(key, []).append(segment)
    return found


def sums_by_hand(units):
    """The `UnitSums` of units."""
    of_unit = 7 + 2 * ORDER
    return UnitSums(
        ORDER,
        len(units),
        tuple(sum(unit[i] for unit in units) for i in range(of_unit)),
        tuple(
            sum(unit[i] * unit[j] for unit in units) for i in range(of_unit) for j in range(i + 1)
        ),
    )


def pair_by_hand(one, other):
    """The `PairSums` of units of two systems."""
    of_unit = 7 + 2 * ORDER
    cross = tuple(
        tuple(sum(x[i] * y[j] for x, y in zip(one, other, strict=True)) for j in range(of_unit))
        for i in range(of_unit)
    )
    return PairSums(sums_by_hand(one), sums_by_hand(other), cross)
