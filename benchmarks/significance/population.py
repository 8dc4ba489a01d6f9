"""Makes the population from which test sets are drawn: segments with outputs of two systems.

The texts are those of the benchmarks' corpus, counted by the project's own kernel.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from beam_bleu.transforms.chosen_metrics import checked_definition
from beam_bleu.transforms.known_metrics import Definition, MetricName, config_type
from beam_bleu.transforms.metrics.bleu.columns import FIRST_MATCHES
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import count_batch
from benchmarks.corpus.lines import Pieces, candidate_lines, reference_lines, text

_ORDERS = 4
_DOCUMENT_SIZES = (4, 17)
_LIKENESS = 0.25
"""How alike the segments of a document are: 0 if not at all, 1 if all differences between the
systems are differences between documents."""

Integers = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Population:
    """Segments of two systems, and their documents.

    Attributes:
      definition: the definition of the score.
      counts: int64 (2, segments, W), the columns of the metric, as in `BatchStatistics`.
      bounds: int64 (documents + 1,), the first segment of each document. Without documents, each
        segment is one.
    """

    definition: Definition
    counts: Integers
    bounds: Integers

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.bounds) - 1

    @property
    def true_score(self) -> float:
        """Either system's score in an infinite test set, where each has half of both outputs."""
        return float(self.definition.metric.value(self.counts.sum(axis=(0, 1)).tolist()))

    def draw(self, documents: int, source: np.random.Generator) -> tuple[Integers, Integers]:
        """Draws a test set of this number of documents, with replacement.

        For each document, a coin decides which system is which, so they do not really differ.

        Returns:
          The counts of its documents, int64 (2, documents, W), and of their segments.
        """
        chosen = source.integers(self.documents, size=documents)
        sizes = np.diff(self.bounds)[chosen]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(bounds[-1]) + np.repeat(self.bounds[chosen] - bounds[:-1], sizes)
        segments = self.counts[:, places]
        is_swapped = np.repeat(source.random(documents) < 0.5, sizes)
        segments[:, is_swapped] = segments[::-1, is_swapped]
        return np.add.reduceat(segments, bounds[:-1], axis=1), segments


def segments_alone(segments: int, name: MetricName = "bleu") -> Population:
    """A population of segments that are independent of each other, counted for a metric."""
    text_steps, definition = checked_definition(config_type(name)())
    pieces = Pieces()
    references = reference_lines(pieces, 0, segments)
    ends = text(pieces, references, 0, 0).decode().split("\n")[:-1]
    counts = []
    for system in (1, 2):
        lines = candidate_lines(pieces, references, 0, system)
        # With the references' names: those of the system's stream would be an error in each line.
        candidates = text(pieces, lines, 0, 0).decode().split("\n")[:-1]
        batch = to_batch([(line, [end]) for line, end in zip(candidates, ends, strict=True)])
        counts.append(count_batch(batch, text_steps, definition.metric).counts[0][0])
    return Population(definition, np.array(counts), np.arange(segments + 1))


def in_documents(population: Population, source: np.random.Generator) -> Population:
    """The same segments in documents, in each of which the same system tends to be better.

    The columns are those of BLEU.
    """
    orders = slice(FIRST_MATCHES, FIRST_MATCHES + _ORDERS)
    matches = population.counts[..., orders].sum(axis=2)
    difference = (matches[0] - matches[1]).astype(np.float64)
    difference /= difference.std()
    noise = source.normal(size=len(difference))
    order = np.argsort(_LIKENESS * difference + (1 - _LIKENESS) * noise, kind="stable")
    sizes = source.integers(*_DOCUMENT_SIZES, size=len(order))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    bounds = bounds[bounds <= len(order)]
    counts = population.counts[:, order[: bounds[-1]]]
    return dataclasses.replace(population, counts=counts, bounds=bounds)
