"""Batch statistics with random integers, of any size, that never were texts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
from made_units import reference_columns

from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES, width
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.statistics.signs import Signs, no_signs

DOCUMENTS = tuple(f"document {n}" for n in range(7))
_USUAL_LENGTH = 40


def made_statistics(
    segments,
    systems=("a", "b"),
    max_order=4,
    *,
    seed=0,
    longest=_USUAL_LENGTH,
    references=1,
    labels=DOCUMENTS,
):
    """Random statistics of segments, numbered from 0, of at most `longest` tokens.

    A few lengths are `longest`, most are at most 40, and some candidates are very short. The only
    label has these values, in no order. The seed can be a generator.
    """
    random = np.random.default_rng(seed)
    reference_counts = random.integers(1, references + 1, segments)
    counts = np.zeros((len(systems), segments, width(max_order)), np.int64)
    for i in range(segments):
        most = longest if random.random() < 0.2 else _USUAL_LENGTH
        lengths = random.integers(0, most, reference_counts[i], endpoint=True).tolist()
        for system in range(len(systems)):
            length = int(random.choice([0, 1, 2, 3, random.integers(0, most, endpoint=True)]))
            totals = [max(length - n, 0) for n in range(max_order)]
            row = counts[system, i]
            row[SEGMENTS], row[CANDIDATE_LENGTH] = 1, length
            for column, value in reference_columns(length, lengths).items():
                row[column] = value
            row[FIRST_MATCHES:] = [
                *(random.integers(0, total, endpoint=True) for total in totals),
                *(int(not total) for total in totals),
            ]
    return BatchStatistics(
        (counts,),
        reference_counts,
        np.ones((len(systems), segments), np.int64),
        np.ones(segments, np.int64),
        no_signs(len(systems), references, segments),
        tuple(systems),
        np.arange(segments),
        lengths=(BleuConfig(max_ngram_order=max_order).reference_lengths(counts),),
        labels=(pa.array(random.choice(labels, segments)).dictionary_encode(),),
    )


def rows_of(statistics, rows):
    """The statistics of some rows, in this order."""
    rows = np.asarray(rows, np.int64)
    return dataclasses.replace(
        statistics,
        counts=(statistics.counts[0][:, rows],),
        reference_counts=statistics.reference_counts[rows],
        candidate_bytes=statistics.candidate_bytes[:, rows],
        reference_bytes=statistics.reference_bytes[rows],
        signs=Signs(*(sign[..., rows] for sign in statistics.signs)),
        numbers=statistics.numbers[rows],
        lengths=(statistics.lengths[0][rows],),
        labels=tuple(label.take(pa.array(rows)) for label in statistics.labels),
    )
