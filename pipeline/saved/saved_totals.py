"""`SavedTotals`, the content of totals.json, and merging: the totals of parts can be added up."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.folder.manifest import described
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.job import Evidence, ScoringsOfMetrics
from beam_bleu.pipeline.scoring.scored import scored
from beam_bleu.pipeline.scoring.totals import Totals, in_order
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.notices import added_notices
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage, Tally
from beam_bleu.transforms.text.text import TextName, text_versions
from beam_bleu.transforms.totals.closing import Rejected
from beam_bleu.transforms.totals.group_totals import MetricTotals
from beam_bleu.transforms.version import VERSION


@dataclasses.dataclass(frozen=True)
class Partition:
    label: str | None
    inputs: Sequence[Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class SavedTotals:
    totals: Totals
    scorings: ScoringsOfMetrics
    slicing: Slicing
    evidence: Evidence
    partitions: tuple[Partition, ...]
    versions: Mapping[str, str]
    program: str = VERSION

    def own(self, name: MetricWord) -> MetricTotals:
        return self.totals.metrics[name][self.scorings[name].text]

    def with_metrics(self, names: Iterable[MetricWord]) -> SavedTotals:
        scorings = {name: self.scorings[name] for name in names}
        metrics = {name: self.totals.metrics[name] for name in scorings}
        totals = dataclasses.replace(self.totals, metrics=metrics)
        versions = versions_of(totals, scorings, self.slicing)
        return dataclasses.replace(self, totals=totals, scorings=scorings, versions=versions)

    @property
    def result(self) -> Result:
        result = scored(self.totals, self.scorings, self.slicing, self.evidence)
        labels = tuple(partition.label for partition in self.partitions)
        if len(labels) > 1 and any(labels):
            result = dataclasses.replace(result, partitions=labels)
        if self.evidence.diversity:
            lost = "--diversity: saved totals do not have it; only a run over the texts finds it"
            result = dataclasses.replace(result, warnings=(*result.warnings, lost))
        return result

    def definition(self, *, of_sums: bool) -> dict[str, str]:
        """What scores depend on besides texts; with `of_sums`, what merged totals must share."""
        totals, resampling = self.totals, self.evidence.resampling
        if resampling is not None:
            resampling = dataclasses.replace(resampling, partition="")
        definition: dict[str, Any] = {
            "metrics": list(self.scorings),
            "version": self.versions,
            "resample": resampling,
        }
        if of_sums:
            definition |= {
                **self.scorings,
                "slicing": self.slicing,
                "evidence": dataclasses.replace(
                    self.evidence, resampling=None, partition=None, diversity=False
                ),
                "coverage": None if totals.coverage is None else totals.coverage.rule,
                "counters of records": totals.is_tallied,
                # Each name first, so that the first difference of other systems is the missing one.
                **{f"the system {name}": "scored" for name in totals.systems},
                "systems": totals.systems,
            }
        else:
            for name, scorings in self.scorings.items():
                definition[name] = dataclasses.replace(scorings, presets={}, segments=None)
        return dict(line.split(" = ", 1) for line in described(definition))


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The first difference of two definitions, as (name, value, other value)."""
    for name in {**one, **other}:
        own, others = (fields.get(name, "null") for fields in (one, other))
        if own != others:
            return name, shown(own), shown(others)
    return None


def shown(value: Any) -> str:
    words = {"null": "not given", "None": "not given", "True": "on", "False": "off"}
    return words.get(str(value), str(value))


def versions_of(totals: Totals, scorings: ScoringsOfMetrics, slicing: Slicing) -> dict[str, str]:
    texts: dict[TextName, None] = {}
    for name, of_metric in scorings.items():
        texts |= dict.fromkeys(of_metric.counted)
        slices = totals.metrics[name][of_metric.text].slices
        if of_metric.languages is not None and slices is not None:
            texts |= dict.fromkeys(
                of_metric.text_of(slicing.values(key)) for key in slices.keys if key is not None
            )
    return dict(sorted(item for text in texts for item in text_versions(text).items()))


Named = tuple[str, SavedTotals]


def merged(files: Sequence[Named]) -> tuple[SavedTotals, list[str]]:
    """The sum of all files, and warnings about texts that were perhaps counted twice."""
    first_path, first = files[0]
    for path, saved in files[1:]:
        difference = differing(first.definition(of_sums=True), saved.definition(of_sums=True))
        if difference is not None:
            name, own, other = difference
            raise InputError(
                f"{first_path} and {path} cannot be added up: {name} is {own} in the first one, "
                f"and {other} in the second one",
                "repeat one of the runs with the flags of the other one; if only the definition of "
                "BLEU or the formula of chrF differs, beam-bleu rescore can change it",
            )
    warnings = _repeated_texts(files)
    parts = [saved for _, saved in files]
    if len(parts) == 1:
        return first, warnings
    resampling = first.evidence.resampling
    if resampling is not None:
        for path, saved in files:
            if any(partition.label is None for partition in saved.partitions):
                raise InputError(
                    f"{path} has replicates without the label of a partition, so its segments have "
                    "the same random weights as those of the other files",
                    "repeat the run with --partition LABEL, or without --resample",
                )
    unlabelled = None if resampling is None else dataclasses.replace(resampling, partition="")
    totals = [saved.totals for saved in parts]
    tally = sum((of_file.tally for of_file in totals), start=Tally())
    # Conditions can choose the records of a part, such as a day's.
    of_all = set.intersection(*({*of_file.tally.met} for of_file in totals))
    met = {condition: count for condition, count in tally.met.items() if condition in of_all}

    def added_up(name: MetricWord, text: TextName) -> MetricTotals:
        of_files = (of_file.metrics[name][text] for of_file in totals)
        return in_order(functools.reduce(operator.add, of_files), first.slicing)

    whole = dataclasses.replace(
        first,
        totals=dataclasses.replace(
            first.totals,
            tally=dataclasses.replace(tally, met=met),
            metrics={
                name: {text: added_up(name, text) for text in of_texts}
                for name, of_texts in first.totals.metrics.items()
            },
            rejected=Rejected.sum(of_file.rejected for of_file in totals),
            notices=added_notices(notice for of_file in totals for notice in of_file.notices),
            coverage=_coverage([own.coverage for own in totals if own.coverage is not None]),
        ),
        evidence=dataclasses.replace(first.evidence, resampling=unlabelled, partition=None),
        # Sorted, so that the order of the files does not matter.
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


def last_of_each_partition(files: Sequence[Named]) -> list[Named]:
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
    """((role, digest), name) of each stream, except labels, which may repeat in several parts."""
    for stream in partition.inputs:
        if stream["role"] != "labels" and stream.get("lines") != 0:
            name = " ".join(filter(None, (stream["role"], stream["system"])))
            yield (stream["role"], stream["digest"]), name


def _repeated_texts(files: Sequence[Named]) -> list[str]:
    """Warnings about candidates and records that occur in partitions with different labels.

    References may repeat each day. Partitions without labels are told apart by their digests.
    """
    path_by_label: dict[str, str] = {}
    first: dict[tuple[str, str], tuple[str, Partition]] = {}
    streams_by_labels: dict[tuple[str, str], list[str]] = {}
    for path, partition in ((path, part) for path, saved in files for part in saved.partitions):
        label = partition.label
        if label in path_by_label:
            raise InputError(
                f"the partition {label} is in {path_by_label[label]} and in {path}",
                "leave one of them out; or give --replace, so that the last one counts",
            )
        if label is not None:
            path_by_label[label] = path
        for text, stream in _texts_of(partition):
            former_path, former = first.setdefault(text, (path, partition))
            if former is partition:
                continue
            if former.label is None or label is None:
                raise InputError(
                    f"{former_path} and {path} were made from the same texts: both have the same "
                    f"{stream}",
                    "leave one of them out; if both are to be counted, run both with --partition",
                )
            if text[0] != "references":
                streams_by_labels.setdefault((former.label, label), []).append(stream)
    return [
        f"the partitions {joined(labels)} have the same {joined(streams)}: are these texts counted "
        "twice, under two labels?"
        for labels, streams in streams_by_labels.items()
    ]
