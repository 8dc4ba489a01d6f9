"""Adds up saved totals of several parts of a corpus."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Sequence

from beam_bleu.pipeline.saved.partitions import in_order, repeated_texts, require_labels
from beam_bleu.pipeline.saved.same_definition import require_same
from beam_bleu.pipeline.saved.saved_totals import Named, SavedTotals
from beam_bleu.pipeline.scoring.ends import in_order as slices_in_order
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.notices import added
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.totals.rejected import Rejected


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
                name: {
                    text: slices_in_order(
                        functools.reduce(
                            operator.add, (of_file.metrics[name][text] for of_file in totals)
                        ),
                        first.slicing,
                    )
                    for text in of_texts
                }
                for name, of_texts in first.totals.metrics.items()
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
