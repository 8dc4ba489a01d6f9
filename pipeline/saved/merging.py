"""Adds up saved totals of several parts of a corpus."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable, Sequence
from typing import TypeVar

from beam_bleu.pipeline.saved.partitions import in_order, repeated_texts, require_labels
from beam_bleu.pipeline.saved.same_definition import require_same
from beam_bleu.pipeline.saved.saved_totals import Named, SavedTotals
from beam_bleu.pipeline.scoring.totals import MetricTotals, Totals
from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.notices import added
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.totals.rejected import Rejected
from beam_bleu.transforms.totals.slice_sums import SliceSums, require_bounded
from beam_bleu.transforms.wiring.sums import Sums

SumsType = TypeVar("SumsType", bound=Sums)


def merged(files: Sequence[Named]) -> tuple[SavedTotals, list[str]]:
    """The totals of all partitions of these files, and warnings about texts that are repeated.

    Raises:
      InputError: the files cannot be added: they have other definitions or systems, or a partition
        is in two files; or there are too many slices.
    """
    require_same(files)
    warnings = repeated_texts(files)
    parts = [saved for _, saved in files]
    if len(parts) == 1:
        return parts[0], warnings
    require_labels(files)
    first = parts[0]
    resampling = first.evidence.resampling
    unlabelled = None if resampling is None else dataclasses.replace(resampling, partition="")
    totals = [saved.totals for saved in parts]
    whole = SavedTotals(
        Totals(
            first.totals.systems,
            sum((of_file.tally for of_file in totals), start=Tally()),
            {
                name: _metric_totals(
                    [of_file.metrics[name] for of_file in totals],
                    first.slicing,
                    first.totals.systems,
                    unlabelled,
                )
                for name in first.totals.metrics
            },
            first.totals.is_tallied,
            sum((of_file.rejected for of_file in totals), start=Rejected()),
            added(notice for of_file in totals for notice in of_file.notices),
            _coverage([of_file.coverage for of_file in totals]),
        ),
        first.scorings,
        first.slicing,
        dataclasses.replace(first.evidence, resampling=unlabelled, partition=None),
        in_order(partition for saved in parts for partition in saved.partitions),
        first.versions,
    )
    return whole, warnings


def _metric_totals(
    totals: Sequence[MetricTotals],
    slicing: Slicing,
    systems: Sequence[str],
    unlabelled: Resampling | None,
) -> MetricTotals:
    """The totals of one metric, added up. `unlabelled` are the replicates of all partitions."""
    replicates = [
        dataclasses.replace(of_file.replicates, resampling=unlabelled)
        for of_file in totals
        if of_file.replicates is not None and unlabelled is not None
    ]
    return MetricTotals(
        {
            text: {
                system: functools.reduce(
                    operator.add, (of_file.sums[text][system] for of_file in totals)
                )
                for system in of_systems
            }
            for text, of_systems in totals[0].sums.items()
        },
        _slices([of_file.slices for of_file in totals], slicing, systems),
        _added([of_file.moments for of_file in totals]),
        _added(replicates),
    )


def _added(parts: Iterable[SumsType | None]) -> SumsType | None:
    """The sum of the parts that are there; None if there are none."""
    there = [part for part in parts if part is not None]
    return functools.reduce(operator.add, there) if there else None


def _slices(
    parts: Iterable[SliceSums | None], slicing: Slicing, systems: Sequence[str]
) -> SliceSums | None:
    slices = _added(part and dataclasses.replace(part, most=slicing.most) for part in parts)
    if slices is None:
        return None
    require_bounded(slices.keys, slicing)
    return slices.arranged(slicing.in_order(slices.keys), systems)


def _coverage(parts: Sequence[FoundCoverage | None]) -> FoundCoverage | None:
    coverages = [coverage for coverage in parts if coverage is not None]
    if not coverages:
        return None
    return FoundCoverage(
        coverages[0].rule,
        sum(coverage.segments for coverage in coverages),
        tuple(
            SystemCoverage(
                of_system[0].system,
                sum(part.missing for part in of_system),
                sum(part.unknown for part in of_system),
            )
            for of_system in zip(*(coverage.systems for coverage in coverages), strict=True)
        ),
    )
