"""Which parts of a corpus files hold, and whether these parts can be counted together.

Totals do not know which program made the candidates. But the parts of a corpus usually have the
same paths, in which only dates and the numbers of parts differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.pipeline.saved.saved_totals import Named, Partition, SavedTotals, Text
from beam_bleu.transforms.errors import InputError, UsageError, joined

_DATE = r"(?:19|20)\d\d(?:[-_.]?[01]\d(?:[-_.]?[0-3]\d)?)?"
_TIME = r"[T_-]?[0-2]\d[-_:.]?[0-5]\d(?:[-_:.]?[0-5]\d(?:\.\d+)?)?Z?"
_PART_WORDS = (
    "part|shard|chunk|split|batch|file|text|data|segment|sample|out|output|hyp|hypothes[ie]s|pred|"
    "prediction|candidate|translation|year|month|week|day|date|dt|hour|minute"
)
_PART = re.compile(
    # The name of a run; a date, perhaps with a time; the number of a part, after such a word or by
    # itself. All other numbers tell models apart: gpt-3, llama-7b, checkpoint_1000.
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    rf"|(?<!\d){_DATE}(?:{_TIME})?(?![a-z\d])"
    rf"|(?<![a-z])(?:{_PART_WORDS})s?[-_.=]?(?:{_DATE}(?:{_TIME})?|\d+)(?![a-z\d])"
    r"|(?<!\d)\d+-of-\d+(?!\d)"
    r"|(?<![^/])\d+(?=\.|/|$)",
    re.IGNORECASE,
)

_Stream = tuple[str, str | None]
"""The role of a stream, and its system."""


def last_of_each_partition(files: Sequence[Named]) -> list[Named]:
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


def in_order(partitions: Iterable[Partition]) -> tuple[Partition, ...]:
    """Partitions in an order that does not depend on the order in which they were added."""
    return tuple(
        sorted(
            partitions,
            key=lambda partition: (
                partition.label is None,
                partition.label or "",
                list(partition.texts),
            ),
        )
    )


def require_different_partitions(files: Sequence[Named]) -> None:
    """Checks that no part of the corpus is in two files.

    Different labels are different parts, whatever their texts are. Without labels, the digests of
    texts tell parts apart.

    Raises:
      InputError: a label is in two files; or a text is, and one of both partitions has no label.
    """
    by_label: dict[str, str] = {}
    # The first file with a text, and the first file with it in a partition without a label.
    having: dict[Text, str] = {}
    unlabelled: dict[Text, str] = {}
    for path, saved in files:
        for partition in saved.partitions:
            label = partition.label
            if label is not None and label in by_label:
                raise InputError(
                    f"the partition {label} is in {by_label[label]} and in {path}",
                    "leave one of them out; or give --replace, so that the last one counts",
                )
            former = having if label is None else unlabelled
            for text, stream in partition.texts.items():
                if text in former:
                    raise InputError(
                        f"{former[text]} and {path} were made from the same texts: both have the "
                        f"same {stream}",
                        "leave one of them out; if both are to be counted, run both with "
                        "--partition",
                    )
        for partition in saved.partitions:
            if partition.label is not None:
                by_label[partition.label] = path
            for text in partition.texts:
                having.setdefault(text, path)
                if partition.label is None:
                    unlabelled.setdefault(text, path)


def texts_in_several(partitions: Sequence[Partition]) -> Iterator[str]:
    """Warnings about partitions that have the same texts, although their labels differ.

    References can be the same each day. Candidates hardly are: such a text is probably counted
    twice.

    Args:
      partitions: the parts that are counted together.
    """
    having: dict[Text, dict[str, str]] = {}
    for partition in partitions:
        for text, stream in partition.texts.items():
            if text[0] != "references":
                having.setdefault(text, {})[partition.label or ""] = stream
    by_labels: dict[tuple[str, ...], list[str]] = {}
    for streams in having.values():
        if len(streams) > 1:
            by_labels.setdefault(tuple(streams), []).extend(dict.fromkeys(streams.values()))
    for labels, streams_of in by_labels.items():
        yield (
            f"the partitions {joined(labels)} have the same {joined(streams_of)}: are these texts "
            "counted twice, under two labels?"
        )


def files_in_several(partitions: Sequence[Partition]) -> Iterator[str]:
    """Warnings about files of candidates or records that several partitions seem to have.

    Their texts have no digests of their own. So such files have the same path, size and lines,
    and at least one partition has read other files in the same stream.

    Args:
      partitions: the parts that are counted together.
    """
    having: dict[tuple[str, int, int], dict[str, tuple[str, bool]]] = {}
    for partition in partitions:
        for stream in partition.inputs:
            if stream["role"] in ("candidates", "records"):
                for file in stream["files"]:
                    key = file["path"], file["bytes"], file["lines"]
                    read = stream["digest"], len(stream["files"]) > 1
                    having.setdefault(key, {})[partition.label or "without a label"] = read
    for (path, *_), by_label in having.items():
        digests = {digest for digest, _ in by_label.values()}
        is_one_of_many = any(has_others for _, has_others in by_label.values())
        if len(digests) == len(by_label) > 1 and is_one_of_many:
            yield f"{path} is in the partitions {joined([*by_label])}: are its texts counted twice?"


def require_labels(files: Sequence[Named]) -> None:
    """Checks that the replicates of different partitions have different weights."""
    for path, saved in files:
        no_label = any(partition.label is None for partition in saved.partitions)
        if saved.evidence.resampling is not None and no_label:
            raise InputError(
                f"{path} has replicates without the label of a partition, so its segments have "
                "the same random weights as those of the other files",
                "repeat the run with --partition LABEL, or without --resample",
            )


def require_same_candidates(files: Sequence[Named]) -> None:
    """Checks that the candidates of a system are of one model in all parts without a label.

    Labels say that the parts belong together. References may have any names.

    Raises:
      UsageError: two files have candidates of one system, or records, whose paths differ in more
        than dates and the numbers of parts.
    """
    first: dict[_Stream, tuple[str, bool, list[str]]] = {}
    for path, saved in files:
        has_labels = all(partition.label is not None for partition in saved.partitions)
        for stream, patterns in _patterns(saved).items():
            other, labelled, others = first.setdefault(stream, (path, has_labels, patterns))
            is_same = any(_are_alike(one, two) for one in patterns for two in others)
            if is_same or (labelled and has_labels):
                continue
            what = "records" if stream[1] is None else f"candidates of system {stream[1]}"
            raise UsageError(
                f"the {what} come from {others[0]} in {other}, and from {patterns[0]} in {path}: "
                "are these two models?",
                "if they are parts of one corpus, run each with --partition LABEL, or give "
                "--force; give two models different names: --candidates NAME=PATTERN",
            )


def _patterns(saved: SavedTotals) -> dict[_Stream, list[str]]:
    """The paths or patterns of the candidates of each system, and of records."""
    patterns: dict[_Stream, list[str]] = {}
    for partition in saved.partitions:
        for stream in partition.inputs:
            if stream["role"] in ("candidates", "records"):
                patterns.setdefault((stream["role"], stream["system"]), []).append(
                    stream["pattern"]
                )
    return patterns


def _are_alike(one: str, other: str) -> bool:
    """Whether two paths differ only in dates and parts, and in the folder where they begin."""
    ends = zip(reversed(_parts(one)), reversed(_parts(other)), strict=False)
    return all(a == b for a, b in ends)


def _parts(pattern: str) -> list[str]:
    """The folders and the name of a path, with 0 in the place of dates and parts."""
    path = re.sub(r"^(\./)+|(?<=/)(\./|/)+", "", pattern)
    return _PART.sub("0", path).split("/")
