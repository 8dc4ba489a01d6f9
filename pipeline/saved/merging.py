"""Adds up saved totals of several parts of a corpus."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from beam_bleu.pipeline.saved.merged_warnings import merged_warnings
from beam_bleu.pipeline.saved.same_definition import require_same
from beam_bleu.pipeline.saved.saved_totals import Partition, SavedTotals
from beam_bleu.pipeline.totals import Totals
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.totals.rejected import Rejected
from beam_bleu.transforms.totals.slice_sums import SliceSums, require_bounded

Value = TypeVar("Value")

Named = tuple[str, SavedTotals]
"""The path of a file, and what it holds."""


def merged(files: Sequence[Named], *, replace: bool = False) -> SavedTotals:
    """The totals of all partitions of these files.

    Args:
      files: one or more.
      replace: whether a later file takes the place of an earlier one of the same partition.

    Raises:
      InputError: the files do not add up: they have other definitions or systems, or a partition
        is in two files; or there are too many slices.
    """
    if replace:
        files = _last_of_each_partition(files)
    require_same(files)
    _require_different_partitions(files)
    saved = [each for _, each in files]
    if len(saved) == 1:
        return saved[0]
    _require_labels(files)
    first = saved[0]
    resampling = first.evidence.resampling
    unlabelled = None if resampling is None else dataclasses.replace(resampling, partition="")
    totals = [each.totals for each in saved]
    coverage = _coverage([each.coverage for each in totals])
    replicates = [
        dataclasses.replace(each.replicates, resampling=unlabelled)
        for each in totals
        if each.replicates is not None and unlabelled is not None
    ]
    return SavedTotals(
        Totals(
            first.totals.systems,
            sum((each.tally for each in totals), start=Tally()),
            {
                text: {
                    system: functools.reduce(
                        operator.add, (each.sums[text][system] for each in totals)
                    )
                    for system in of_systems
                }
                for text, of_systems in first.totals.sums.items()
            },
            first.totals.is_tallied,
            sum((each.rejected for each in totals), start=Rejected()),
            merged_warnings(
                [each.warnings for each in totals],
                first.totals.systems,
                None if coverage is None else coverage.segments,
            ),
            coverage,
            _slices([each.slices for each in totals], first.slicing, first.totals.systems),
            _added([each.moments for each in totals], lambda one, other: one.added(other)),
            _added(replicates, lambda one, other: one.added(other)),
        ),
        first.scorings,
        first.slicing,
        dataclasses.replace(first.evidence, resampling=unlabelled, partition=None),
        tuple(partition for each in saved for partition in each.partitions),
        first.versions,
    )


def _added(parts: Iterable[Value | None], add: Callable[[Value, Value], Value]) -> Value | None:
    """The sum of the parts that are there; None if there are none."""
    there = [each for each in parts if each is not None]
    return functools.reduce(add, there) if there else None


def _slices(
    parts: Iterable[SliceSums | None], slicing: Slicing, systems: Sequence[str]
) -> SliceSums | None:
    found = _added(parts, lambda one, other: one.added(other, slicing.most))
    if found is None:
        return None
    require_bounded(found.keys, slicing)
    return found.arranged(slicing.in_order(found.keys), systems)


def _coverage(parts: Sequence[FoundCoverage | None]) -> FoundCoverage | None:
    found = [each for each in parts if each is not None]
    if not found:
        return None
    return FoundCoverage(
        found[0].rule,
        sum(each.segments for each in found),
        tuple(
            SystemCoverage(
                of_system[0].system,
                sum(each.missing for each in of_system),
                sum(each.unknown for each in of_system),
            )
            for of_system in zip(*(each.systems for each in found), strict=True)
        ),
    )


def _last_of_each_partition(files: Sequence[Named]) -> list[Named]:
    """The files without those whose partition is also in a later file.

    Raises:
      InputError: such a file has other partitions, too.
    """
    last = {
        partition.label: number
        for number, (_, saved) in enumerate(files)
        for partition in saved.partitions
        if partition.label is not None
    }
    kept = []
    for number, (path, saved) in enumerate(files):
        labels = [each.label for each in saved.partitions]
        replaced = [label for label in labels if label is not None and last[label] != number]
        if not replaced:
            kept.append((path, saved))
        elif len(labels) > 1:
            raise InputError(
                f"{path} holds {len(labels)} partitions, and the partition {replaced[0]} cannot be "
                "taken out of it",
                "merge the files of its single partitions again",
            )
    return kept


def _require_different_partitions(files: Sequence[Named]) -> None:
    """Checks that no part of the corpus is in two files."""
    by_label: dict[str, str] = {}
    by_digests: dict[Any, tuple[str, Partition]] = {}
    for path, saved in files:
        for partition in saved.partitions:
            label = partition.label
            if label is not None and label in by_label:
                raise InputError(
                    f"the partition {label} is in {by_label[label]} and in {path}",
                    "leave one of them out; or give --replace, so that the last one counts",
                )
            other_path, other = by_digests.get(partition.digests, ("", partition))
            if other_path and (label is None or other.label is None):
                raise InputError(
                    f"{other_path} and {path} are of the same texts",
                    "leave one of them out; if both are to be counted, run both with --partition",
                )
            if label is not None:
                by_label[label] = path
            by_digests.setdefault(partition.digests, (path, partition))


def _require_labels(files: Sequence[Named]) -> None:
    """Checks that the replicates of different partitions have different weights."""
    for path, saved in files:
        no_label = any(each.label is None for each in saved.partitions)
        if saved.evidence.resampling is not None and no_label:
            raise InputError(
                f"{path} has replicates without the label of a partition, so its segments have "
                "the same random weights as those of the other files",
                "repeat the run with --partition LABEL, or without --resample",
            )
