"""Batch statistics with random integers, of any size."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.statistics.batch_statistics import (
    AVERAGE,
    CANDIDATE_LENGTH,
    CLOSEST,
    CLOSEST_FIRST,
    FIRST_MATCHES,
    LONGEST,
    SHORTEST,
    BatchStatistics,
    width,
)
from beam_bleu.transforms.statistics.signs import BatchSigns


def made_statistics(segments, systems=("a", "b"), max_order=4, *, seed=0, longest=40, references=1):
    """Random statistics of segments, numbered from 0, of at most `longest` tokens.

    Their only label has a few documents, in no order.
    """
    random = np.random.default_rng(seed)
    counts = np.zeros((len(systems), segments, width(max_order)), np.int64)
    reference_counts = random.integers(1, references + 1, segments)
    lengths = np.sort(random.integers(1, longest + 1, (3, segments)), axis=0)
    lengths[:, reference_counts == 1] = lengths[0, reference_counts == 1]
    for of_system in counts:
        length = random.integers(0, longest + 1, segments)
        of_system[:, CANDIDATE_LENGTH] = length
        of_system[:, CLOSEST_FIRST] = of_system[:, CLOSEST] = random.permuted(lengths, axis=0)[0]
        of_system[:, SHORTEST], of_system[:, LONGEST] = lengths[0], lengths[2]
        of_system[:, AVERAGE] = lengths[0] + (reference_counts - 1) * lengths[2]
        matches = length
        for n in range(max_order):
            total = np.maximum(length - n, 0)
            matches = np.minimum(matches, random.integers(0, total + 1))
            of_system[:, FIRST_MATCHES + n] = matches
            of_system[:, FIRST_MATCHES + max_order + n] = total
    names = pa.array([f"document {n}" for n in random.integers(0, 7, segments)])
    return BatchStatistics(
        counts,
        reference_counts,
        np.ones((len(systems), segments), np.int64),
        np.ones(segments, np.int64),
        BatchSigns.none(len(systems), references, segments),
        tuple(systems),
        np.arange(segments),
        labels=(names.dictionary_encode(),),
    )


def rows_of(statistics, rows):
    """The statistics of some rows, in this order."""
    rows = np.asarray(rows, np.int64)
    systems = len(statistics.systems)
    return dataclasses.replace(
        statistics,
        counts=statistics.counts[:, rows],
        reference_counts=statistics.reference_counts[rows],
        candidate_bytes=statistics.candidate_bytes[:, rows],
        reference_bytes=statistics.reference_bytes[rows],
        signs=BatchSigns.none(systems, len(statistics.signs.given), len(rows)),
        numbers=statistics.numbers[rows],
        labels=tuple(label.take(pa.array(rows)) for label in statistics.labels),
    )
