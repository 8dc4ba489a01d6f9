"""Made statistics with domains, and what they add up to in Python's integers."""

from made_statistics import made_statistics
from made_units import pair_of_rows, sums_of_rows

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    PARTS_OF_A_TOKEN,
    SHORTEST,
    bleu_basis,
)

ORDER = 3
BASIS = bleu_basis(ORDER)
LABELS = ("domain",)


def statistics_with_domains(seed, systems, segments, longest=40, references=3):
    """Made statistics whose only label is the domain."""
    return made_statistics(
        segments,
        systems,
        ORDER,
        seed=seed,
        longest=longest,
        references=references,
        labels=("news", "talks", "10"),
    )


def unit_by_hand(statistics, system, segment):
    """The integers of a segment."""
    return statistics.counts[system, segment].tolist()


def groups_of(statistics, segment):
    """The groups of a segment: the whole corpus, its domain, its range of lengths."""
    columns = statistics.counts[0, segment].tolist()
    average = (columns[SHORTEST] * PARTS_OF_A_TOKEN + columns[AVERAGE]) // PARTS_OF_A_TOKEN
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


def sums_by_hand(units, width=BASIS.width):
    """The `UnitSums` of units, which are rows of so many integers."""
    return sums_of_rows(units, width)


def pair_by_hand(system, baseline, width=BASIS.width):
    """The `UnitSums` of the units of two systems, side by side."""
    return pair_of_rows(system, baseline, width)
