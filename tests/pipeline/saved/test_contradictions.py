"""What is checked of saved totals: right ones of any size are accepted, others are not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from made_units import named_columns
from saved_parts import lines_in, run_into

from beam_bleu.pipeline.saved.moments_facts import facts_of_moments, facts_of_replicates
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.pipeline.saved.sums_facts import facts_of_slices, facts_of_sums
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.pipeline.scoring.totals import MetricTotals
from beam_bleu.transforms.metrics.bleu.columns import columns_are_possible, width

FACTS = (facts_of_sums, facts_of_slices, facts_of_moments, facts_of_replicates)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> SavedTotals:
    folder: Path = tmp_path_factory.mktemp("saved")
    flags = ("--slice_by=domain", "--resample=bootstrap", "--resamples=120", "--compare=all")
    run_into(folder / "out", *lines_in(folder, slice(None), *flags))
    return read_totals(str(folder / "out" / "totals.json"))


def doubled(saved: SavedTotals) -> SavedTotals:
    """The totals of each segment twice."""
    tally = saved.totals.tally
    metrics = {
        name: doubled_metric(totals, saved.slicing.most)
        for name, totals in saved.totals.metrics.items()
    }
    totals = dataclasses.replace(saved.totals, tally=tally + tally, metrics=metrics)
    return dataclasses.replace(saved, totals=totals)


def doubled_metric(totals: MetricTotals, most: int) -> MetricTotals:
    assert totals.slices is not None
    assert totals.moments is not None
    assert totals.replicates is not None
    return MetricTotals(
        {
            text: {system: sums + sums for system, sums in of_systems.items()}
            for text, of_systems in totals.sums.items()
        },
        dataclasses.replace(totals.slices, most=most) + totals.slices,
        totals.moments + totals.moments,
        totals.replicates + totals.replicates,
    )


def test_totals_of_any_size_are_possible(saved):
    for _ in range(49):
        saved = doubled(saved)
        wrong = [
            name
            for metric in saved.metrics
            for facts in FACTS
            for name, is_true in facts(metric)
            if not is_true
        ]
        assert wrong == []
    for metric in saved.metrics:
        assert metric.totals.moments is not None
        assert metric.totals.moments.own_products.dtype == object
    assert saved.totals.segments == 72 * 2**49


def columns(**changes: int) -> np.ndarray:
    """The columns of one segment with 5 tokens and one reference with 6, of order 2."""
    usual = {
        "segments": 1,
        "candidate_length": 5,
        "ref_shortest": 6,
        "matches_1": 3,
        "matches_2": 2,
    }
    return np.array(named_columns(2, **(usual | changes)))


POSSIBLE = [
    (columns(), 1),
    (columns(matches_1=5, matches_2=4), 1),
    (columns(candidate_length=1, matches_1=1, matches_2=0, short_2=1), 1),
    (columns(candidate_length=0, matches_1=0, matches_2=0, short_1=1, short_2=1), 1),
    (
        columns(
            ref_longest_more=4,
            ref_average_more=2 * 720720,
            ref_closest_more=4,
            matches_1=2,
            matches_2=4,
        ),
        2,
    ),
    (np.zeros(width(2), np.int64), 1),
]

IMPOSSIBLE = [
    (columns(segments=0), 1),
    (columns(matches_1=-1), 1),
    (columns(matches_1=6), 1),  # more than tokens
    (columns(matches_2=5), 1),  # more than pairs of tokens
    (columns(matches_1=1, matches_2=2), 1),
    (columns(ref_shortest=2), 1),  # more matches than tokens of the reference
    (columns(short_1=1, short_2=0), 1),
    (columns(short_1=2, short_2=2), 1),  # more than segments
    (columns(short_2=1), 1),  # 5 tokens are not fewer than 2
    (columns(ref_closest_more=1), 1),  # the only reference is the shortest one
    (columns(ref_longest_more=1), 1),
    (columns(ref_average_more=1), 1),
    (
        columns(ref_longest_more=4, ref_average_more=720720),
        2,
    ),  # the average of two is in the middle
    (
        columns(
            ref_longest_more=4,
            ref_average_more=2 * 720720,
            ref_closest_more=3,
            ref_closest_first_more=2,
        ),
        2,
    ),
]


@pytest.mark.parametrize(("one", "references"), POSSIBLE)
def test_possible_columns(one, references):
    assert columns_are_possible(one, references)
    assert columns_are_possible(one.astype(object) * 10**30, references)


@pytest.mark.parametrize(("one", "references"), IMPOSSIBLE)
def test_impossible_columns(one, references):
    assert not columns_are_possible(one, references)
    assert not columns_are_possible(one.astype(object) * 10**30, references)
