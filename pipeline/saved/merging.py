"""Adds up saved totals of several parts of a corpus, if they can be counted together."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.saved.saved_totals import Named, Partition, SavedTotals, differing
from beam_bleu.pipeline.scoring.ends import in_order
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.notices import added
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import Rejected
from beam_bleu.transforms.totals.group_totals import MetricTotals
from beam_bleu.transforms.version import VERSION


def merged(files: Sequence[Named]) -> tuple[SavedTotals, list[str]]:
    """The totals of all partitions of these files, and warnings about texts that are repeated."""
    first_path, first = files[0]
    for path, saved in files[1:]:
        difference = differing(first.definition(of_sums=True), saved.definition(of_sums=True))
        if difference is not None:
            name, own, other = difference
            raise InputError(
                f"{first_path} and {path} cannot be added up: {name} is {own} in the first one, "
                f"and {other} in the second one",
                "repeat one of the runs with the flags of the other one; beam-bleu rescore can "
                "change the definition of BLEU, and the formula of chrF",
            )
    warnings = _repeated_texts(files)
    parts = [saved for _, saved in files]
    if len(parts) == 1:
        return first, warnings
    _require_labels(files)
    resampling = first.evidence.resampling
    unlabelled = None if resampling is None else dataclasses.replace(resampling, partition="")
    totals = [saved.totals for saved in parts]

    def added_up(name: MetricWord, text: TextName) -> MetricTotals:
        of_files = (of_file.metrics[name][text] for of_file in totals)
        return in_order(functools.reduce(operator.add, of_files), first.slicing)

    whole = dataclasses.replace(
        first,
        totals=dataclasses.replace(
            first.totals,
            tally=sum((of_file.tally for of_file in totals), start=Tally()),
            metrics={
                name: {text: added_up(name, text) for text in of_texts}
                for name, of_texts in first.totals.metrics.items()
            },
            rejected=Rejected.sum(of_file.rejected for of_file in totals),
            notices=added(notice for of_file in totals for notice in of_file.notices),
            coverage=_coverage([own.coverage for own in totals if own.coverage is not None]),
        ),
        evidence=dataclasses.replace(first.evidence, resampling=unlabelled, partition=None),
        # In an order that does not depend on that of the files.
        partitions=tuple(sorted((own for saved in parts for own in saved.partitions), key=_order)),
        program=VERSION,
    )
    return whole, warnings


def _order(partition: Partition) -> tuple[bool, str, list[str]]:
    digests = [digest for (_, digest), _ in _texts_of(partition)]
    return partition.label is None, partition.label or "", digests


def _coverage(parts: Sequence[FoundCoverage]) -> FoundCoverage | None:
    if not parts:
        return None
    systems = [
        SystemCoverage(
            own[0].system,
            *(sum(getattr(part, name) for part in own) for name in ("missing", "unknown")),
        )
        for own in zip(*(part.systems for part in parts), strict=True)
    ]
    return FoundCoverage(parts[0].rule, sum(part.segments for part in parts), tuple(systems))


# The partitions of files


def last_of_each_partition(files: Sequence[Named]) -> list[Named]:
    """The files without those whose partition is also in a later file."""
    last = {
        partition.label: number
        for number, (_, saved) in enumerate(files)
        for partition in saved.partitions
        if partition.label is not None
    }
    kept = []
    for number, (path, saved) in enumerate(files):
        labels = [partition.label for partition in saved.partitions]
        replaced = [label for label in labels if label is not None and last[label] != number]
        if not replaced:
            kept.append((path, saved))
        elif len(labels) > 1:
            raise InputError(
                f"{path} holds {len(labels)} partitions, and the partition {replaced[0]} cannot be "
                "taken out of it",
                "merge the files of its individual partitions again",
            )
    return kept


def _texts_of(partition: Partition) -> Iterator[tuple[tuple[str, str], str]]:
    """The role and the digest of each stream of candidates, references or records, and its name.

    Labels are left out: two parts of a corpus can have the same labels.
    """
    for stream in partition.inputs:
        if stream["role"] != "labels" and stream.get("lines") != 0:
            name = " ".join(filter(None, (stream["role"], stream["system"])))
            yield (stream["role"], stream["digest"]), name


def _repeated_texts(files: Sequence[Named]) -> list[str]:
    """Warnings about candidates and records that are in partitions with different labels.

    Different labels are different parts. Their references can be the same each day; the same
    candidates are probably counted twice. Without labels, the digests of texts tell parts apart.
    """
    path_by_label: dict[str, str] = {}
    first: dict[tuple[str, str], tuple[str, Partition]] = {}
    streams_by_labels: dict[tuple[str, str], list[str]] = {}
    for path, saved in files:
        for partition in saved.partitions:
            label = partition.label
            if label is not None:
                if label in path_by_label:
                    raise InputError(
                        f"the partition {label} is in {path_by_label[label]} and in {path}",
                        "leave one of them out; or give --replace, so that the last one counts",
                    )
                path_by_label[label] = path
            for text, stream in _texts_of(partition):
                former_path, former = first.setdefault(text, (path, partition))
                if former is partition:
                    continue
                if former.label is None or label is None:
                    raise InputError(
                        f"{former_path} and {path} were made from the same texts: both have the "
                        f"same {stream}",
                        "leave one of them out; if both are to be counted, run both with "
                        "--partition",
                    )
                if text[0] != "references":
                    streams_by_labels.setdefault((former.label, label), []).append(stream)
    return [
        f"the partitions {joined(labels)} have the same {joined(streams)}: are these texts counted "
        "twice, under two labels?"
        for labels, streams in streams_by_labels.items()
    ]


def _require_labels(files: Sequence[Named]) -> None:
    """Checks that the replicates of different partitions have different weights."""
    for path, saved in files:
        no_label = any(partition.label is None for partition in saved.partitions)
        if saved.evidence.resampling is not None and no_label:
            raise InputError(
                f"{path} has replicates without the label of a partition, so its segments have "
                "the same random weights as those of the other files",
                "repeat the run with --partition LABEL, or without --resample",
            )
