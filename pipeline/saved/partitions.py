"""Which parts of a corpus files hold, and whether these parts can be counted together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.pipeline.saved.saved_totals import Partition, SavedTotals, Text
from beam_bleu.transforms.errors import InputError, joined

Named = tuple[str, SavedTotals]
"""The path of a file, and what it holds."""


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


def in_order(partitions: Iterable[Partition]) -> tuple[Partition, ...]:
    """Partitions in an order that does not depend on the order in which they were added."""
    return tuple(
        sorted(
            partitions,
            key=lambda each: (each.label is None, each.label or "", list(each.texts)),
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
                        f"{former[text]} and {path} are of the same texts: both have the same "
                        f"{stream}",
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
    found: dict[tuple[str, ...], list[str]] = {}
    for streams in having.values():
        if len(streams) > 1:
            found.setdefault(tuple(streams), []).extend(dict.fromkeys(streams.values()))
    for labels, streams_of in found.items():
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
        for each in partition.inputs:
            if each["role"] in ("candidates", "records"):
                for file in each["files"]:
                    key = file["path"], file["bytes"], file["lines"]
                    read = each["digest"], len(each["files"]) > 1
                    having.setdefault(key, {})[partition.label or "without a label"] = read
    for (path, *_), by_label in having.items():
        digests = {digest for digest, _ in by_label.values()}
        is_one_of_many = any(has_others for _, has_others in by_label.values())
        if len(digests) == len(by_label) > 1 and is_one_of_many:
            yield f"{path} is in the partitions {joined([*by_label])}: are its texts counted twice?"


def require_labels(files: Sequence[Named]) -> None:
    """Checks that the replicates of different partitions have different weights."""
    for path, saved in files:
        no_label = any(each.label is None for each in saved.partitions)
        if saved.evidence.resampling is not None and no_label:
            raise InputError(
                f"{path} has replicates without the label of a partition, so its segments have "
                "the same random weights as those of the other files",
                "repeat the run with --partition LABEL, or without --resample",
            )
