"""The population from which test sets are drawn: segments with the outputs of two systems.

The texts are those of the benchmarks' corpus, scored with the project's own kernel.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from beam_bleu.transforms.known_metrics import MetricName, config_type
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES, SHORTEST
from beam_bleu.transforms.metrics.metric import Basis, Metric
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.totals.group_totals import GroupTotals, all_pairs
from beam_bleu.transforms.totals.unit_adder import UnitAdder
from benchmarks.corpus.lines import Pieces, candidate_lines, reference_lines, text
from benchmarks.corpus.vocabulary import Names

ORDERS = 4
SYSTEMS = ("one", "other")
_DOCUMENT_SIZES = (4, 17)
_LIKENESS = 0.25
"""How much the segments of a document have in common: 0 for nothing, 1 if all differences between
the systems are differences between documents."""

_LENGTH_SPREAD = 0.15
"""The standard deviation of the factors by which references get other lengths. With it the lengths
of a candidate and its reference differ by 17 % (standard deviation), as those of WMT17 en-de do."""

Integers = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Population:
    """Segments of two systems, and the documents that they are in.

    Attributes:
      metric: how sums become a score.
      basis: the columns of the metric.
      counts: int64 (2, segments, W), as in `BatchStatistics`.
      bounds: int64 (documents + 1,), the first segment of each document. A population without
        documents has one segment in each.
    """

    metric: Metric
    basis: Basis
    counts: Integers
    bounds: Integers

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.bounds) - 1

    def columns(self) -> Integers:
        """The columns of all segments, int64 (2, W, segments)."""
        return np.ascontiguousarray(self.counts.transpose(0, 2, 1))


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A test set: documents that are drawn from a population, with replacement.

    Attributes:
      counts: int64 (2, segments, W). For each document a coin decides which system is which,
        so in truth they do not differ.
      bounds: int64 (documents + 1,), the first segment of each document.
    """

    counts: Integers
    bounds: Integers

    def columns(self) -> Integers:
        """The columns of its units, the documents: int64 (2, W, documents)."""
        return np.add.reduceat(self.counts.transpose(0, 2, 1), self.bounds[:-1], axis=2)

    def statistics(self) -> BatchStatistics:
        """The test set as a batch, with the label of each segment's document."""
        segments = self.counts.shape[1]
        ones, documents = np.ones(segments, np.int64), len(self.bounds) - 1
        of_segment = np.repeat(np.arange(documents, dtype=np.int32), np.diff(self.bounds))
        names = pa.array([f"document {number}" for number in range(documents)])
        return BatchStatistics(
            self.counts,
            ones,
            np.ones((2, segments), np.int64),
            ones,
            BatchSigns.none(2, 1, segments),
            SYSTEMS,
            numbers=np.arange(segments),
            labels=(pa.DictionaryArray.from_arrays(pa.array(of_segment), names),),
        )


def draw(population: Population, documents: int, source: np.random.Generator) -> Drawn:
    """Draws a test set of so many documents."""
    chosen = source.integers(population.documents, size=documents)
    sizes = np.diff(population.bounds)[chosen]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(bounds[-1]) + np.repeat(population.bounds[chosen] - bounds[:-1], sizes)
    counts = population.counts[:, places]
    is_swapped = np.repeat(source.random(documents) < 0.5, sizes)
    counts[:, is_swapped] = counts[::-1, is_swapped]
    return Drawn(counts, bounds)


def segments_alone(segments: int, name: MetricName = "bleu") -> Population:
    """A population of segments that are independent of each other, counted by a metric."""
    config = config_type(name)()
    metric = config.metric
    pieces, names = Pieces(), [Names(stream) for stream in range(3)]
    references = reference_lines(pieces, 0, segments)
    ends = text(pieces, references, names[0], 0).decode().split("\n")[:-1]
    counts = []
    for system in (1, 2):
        lines = candidate_lines(pieces, references, 0, system)
        # The names of the system's own stream would be wrong words in each line: take the others.
        candidates = text(pieces, lines, names[0], 0).decode().split("\n")[:-1]
        batch = to_batch([(line, [end]) for line, end in zip(candidates, ends, strict=True)])
        counts.append(count_batch(batch, config.text, metric).counts[0])
    return Population(metric, metric.basis, np.array(counts), np.arange(segments + 1))


def in_documents(population: Population, source: np.random.Generator) -> Population:
    """The same segments in documents: in each one, the same system tends to be better.

    The columns are those of BLEU.
    """
    matches = population.columns()[:, FIRST_MATCHES : FIRST_MATCHES + ORDERS].sum(axis=1)
    difference = (matches[0] - matches[1]).astype(np.float64)
    difference /= difference.std()
    noise = source.normal(size=len(difference))
    order = np.argsort(_LIKENESS * difference + (1 - _LIKENESS) * noise, kind="stable")
    sizes = source.integers(*_DOCUMENT_SIZES, size=len(order))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    bounds = bounds[bounds <= len(order)]
    counts = population.counts[:, order[: bounds[-1]]]
    return dataclasses.replace(population, counts=counts, bounds=bounds)


def with_length_ratio(
    population: Population, ratio: float, source: np.random.Generator
) -> Population:
    """The same segments, whose references have other lengths: c/r is this ratio on average.

    The columns are those of BLEU.
    """
    counts = population.counts.copy()
    # There is one reference, so it is the shortest one, and all other columns of lengths are 0.
    candidates, references = counts[..., CANDIDATE_LENGTH], counts[..., SHORTEST]
    normal = source.normal(size=len(references[0]))
    factors = (1 + _LENGTH_SPREAD * normal).clip(0.2)
    factors *= candidates.sum() / (references * factors).sum() / ratio
    dice = source.random(size=len(references[0]))
    counts[..., SHORTEST] = np.floor(references * factors + dice)
    return dataclasses.replace(population, counts=counts)


def totals_of(columns: Integers) -> GroupTotals:
    """The totals of systems over the same units, in pairs.

    Args:
      columns: int64 (systems, W, units), of the first one or more of `SYSTEMS`.
    """
    systems, width, _ = columns.shape
    basis = Basis(tuple(map(str, range(width))), shared=())
    adder = UnitAdder(SYSTEMS[:systems], basis, all_pairs(systems))
    adder.add(np.ascontiguousarray(columns.swapaxes(1, 2)))
    return adder.totals()
