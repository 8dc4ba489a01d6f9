"""The flags for labels, slices and documents, and what is made from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.source_flags import split_at_commas
from beam_bleu.pipeline.folder.paths import checked_path
from beam_bleu.transforms.definition.flags import flag, whole_number
from beam_bleu.transforms.definition.slicing import (
    CROSS,
    LENGTH,
    LENGTH_EDGES,
    MOST_SLICES,
    Item,
    Slicing,
    item_of,
)
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.files.path_labels import PathLabel, path_label
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.corpus import LabelStream

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

_LARGEST_MOST = 100_000
"""The sums of all slices must fit in the memory of a worker, and in one element of the job."""

DOCUMENT = "document"  # the name of the label if --documents names files


def _edges(text: str) -> tuple[int, ...]:
    edges = text.split(",")
    numbers = [int(edge) if edge.isdecimal() and len(edge) <= 9 else 0 for edge in edges]
    if not all(numbers) or numbers != sorted(set(numbers)):
        raise ValueError(f"must be ascending whole numbers from 1 on, with commas, got {text}")
    return tuple(numbers)


def _label_file(text: str) -> tuple[tuple[str, ...], str]:
    """The names of labels, and the pattern of the file that has them."""
    named, equals, pattern = text.partition("=")
    if not equals or "/" in named:
        raise ValueError(f"{text}: the labels have no name; write --labels NAME=PATTERN")
    return tuple(name.strip() for name in named.split(",")), pattern


@dataclasses.dataclass(frozen=True)
class SliceFlags:
    labels: tuple[tuple[tuple[str, ...], str], ...] = flag(
        (),
        "a file with a label in each line, or several with tabs between them; repeatable. For "
        "--slice_by, --documents and --language_column",
        "NAME[,NAME]=PATTERN",
        convert=_label_file,
    )
    label_from_path: tuple[PathLabel, ...] = flag(
        (),
        "a label from the path of each file: the part in parentheses, as in domain='news/*/(*)/'",
        "NAME=PATTERN",
        convert=path_label,
    )
    slice_by: tuple[Item, ...] = flag(
        (),
        "also score each slice of the corpus: by a label, such as domain; by combinations of "
        f"labels, with * between them; or by {LENGTH}: the length of the references in tokens",
        "ITEM,...",
        convert=item_of,
        split=split_at_commas,
    )
    length_edges: tuple[int, ...] | None = flag(
        None,
        f"the lengths at which a new slice of {LENGTH} begins",
        "N,N,...",
        convert=_edges,
        shown_default=f"default {','.join(map(str, LENGTH_EDGES))}",
    )
    max_slices: int = flag(
        MOST_SLICES,
        "fail if there are more than N slices",
        "N",
        convert=whole_number(1, _LARGEST_MOST),
    )
    documents: str | None = flag(
        None,
        "standard errors and comparisons are those of documents, whose segments are not "
        "independent: a label or a column; or, for text, a file with the name of a document in "
        "each line, perhaps after a domain and a tab",
        "PATTERN|NAME",
    )


def slicing(flags: Config) -> Slicing:
    try:
        slices = Slicing(flags.slice_by, flags.length_edges or LENGTH_EDGES, flags.max_slices)
        return slices if flags.language_column is None else slices.within(flags.language_column)
    except ValueError as error:
        raise UsageError(
            f"--slice_by: {error}",
            "write labels with commas between them, and * for their combinations, such as "
            "--slice_by 'domain,domain*lang_pair'",
        ) from None


def needed_labels(flags: Config) -> dict[str, str]:
    """The labels that the input itself must have, and the flags that need them."""
    names = [
        (flags.language_column, "--language_column"),
        *((name, "--slice_by") for item in flags.slice_by for name in item if name != LENGTH),
        (flags.documents, "--documents"),
    ]
    return {name: flag for name, flag in names if name is not None}


def label_streams(flags: Config, anywhere: bool) -> tuple[LabelStream, ...]:
    """The streams of labels, with that of --documents if no label has them."""
    kept = {label for _, label in flags.kept}
    only_kept = kept.difference(needed_labels(flags))
    streams = []
    for names, pattern in flags.labels:
        path = checked_path("--labels", pattern, anywhere)
        stream = Stream(f"labels {','.join(names)}", path)
        streams.append(
            LabelStream(names, stream, only_kept=tuple(name for name in names if name in only_kept))
        )
    known = [name for names, _ in flags.labels for name in names]
    of_paths = [label.name for label in flags.label_from_path]
    if flags.documents is not None and flags.documents not in (*known, *of_paths):
        path = checked_path("--documents", flags.documents, anywhere)
        streams.append(LabelStream((DOCUMENT,), Stream("documents", path), domain_first=True))
        known.append(DOCUMENT)
    check_label_names([*known, *of_paths])
    for label in sorted(kept.difference(known)):
        raise UsageError(
            f"--keep {label}: no file of --labels has a label with this name",
            f"name a file with a value for each segment: --labels {label}=PATTERN; labels of "
            "--label_from_path are shown in any case",
        )
    return tuple(streams)


def check_label_names(names: Sequence[str]) -> None:
    for name in names:
        if not name or not name.isprintable() or CROSS in name or name == LENGTH:
            raise UsageError(
                f"{name!r} cannot be the name of a label",
                f"choose a name of printable characters, without {CROSS}, that is not {LENGTH}",
            )
        if names.count(name) > 1:
            raise UsageError(f"two labels are called {name}", "give each label its own name")


def check_labels(flags: Config, labels: Sequence[str]) -> None:
    for name, spelling in needed_labels(flags).items():
        if name not in labels:
            raise UsageError(
                f"{spelling} {name}: the input has no label {name!r}",
                f"it has {', '.join(labels) or 'none'}; docs/inputs.md says how labels are named",
            )


def check_columns(columns: Sequence[str]) -> None:
    folded = [name.casefold() for name in columns]
    for name in columns:
        if folded.count(name.casefold()) > 1:
            raise UsageError(
                f"two columns of segments would be called {name}",
                "give the label another name, or the column that is kept: --keep NAME=COLUMN",
            )
