"""Which parts of a corpus files hold, and whether these parts can be counted together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from beam_bleu.pipeline.saved.saved_totals import Named, Partition, Text
from beam_bleu.transforms.errors import InputError, joined


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


def repeated_texts(files: Sequence[Named]) -> list[str]:
    """Warnings about candidates and records that are in partitions with different labels.

    Different labels are different parts. Their references can be the same each day; the same
    candidates are probably counted twice. Without labels, the digests of texts tell parts apart.

    Raises:
      InputError: a label is in two files; or a text is in two partitions, and one of them has no
        label.
    """
    path_by_label: dict[str, str] = {}
    first: dict[Text, tuple[str, Partition]] = {}
    streams_by_labels: dict[tuple[str, str], list[str]] = {}
    for path, saved in files:
        for partition in saved.partitions:
            if partition.label is not None:
                if partition.label in path_by_label:
                    raise InputError(
                        f"the partition {partition.label} is in {path_by_label[partition.label]} "
                        f"and in {path}",
                        "leave one of them out; or give --replace, so that the last one counts",
                    )
                path_by_label[partition.label] = path
            for text, stream in partition.texts.items():
                former_path, former = first.setdefault(text, (path, partition))
                if former is partition:
                    continue
                if former.label is None or partition.label is None:
                    raise InputError(
                        f"{former_path} and {path} were made from the same texts: both have the "
                        f"same {stream}",
                        "leave one of them out; if both are to be counted, run both with "
                        "--partition",
                    )
                if text[0] != "references":
                    labels = former.label, partition.label
                    streams_by_labels.setdefault(labels, []).append(stream)
    return [
        f"the partitions {joined(labels)} have the same {joined(streams)}: are these texts counted "
        "twice, under two labels?"
        for labels, streams in streams_by_labels.items()
    ]


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
