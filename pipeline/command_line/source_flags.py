"""Flags for the input: texts and records, checks of them, joins, labels and slices."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.folder.paths import checked_path
from beam_bleu.transforms.definition.choices import ALLOWED, AllowedName
from beam_bleu.transforms.definition.flags import flag, positive, whole_number
from beam_bleu.transforms.definition.slicing import (
    CROSS,
    LENGTH,
    LENGTH_EDGES,
    MOST_SLICES,
    Item,
    Slicing,
    item_of,
)
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.pairing.files.path_labels import PathLabel, path_label
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.corpus import LabelStream
from beam_bleu.transforms.pairing.lines.correspondence import CUTS, Cuts
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES
from beam_bleu.transforms.pairing.paired import COVERAGES, ON_BAD_RECORD, CoverageName, OnBadRecord
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMAT_NAMES, RecordFormatName
from beam_bleu.transforms.pairing.records.wanted import ColumnPath, Condition
from beam_bleu.transforms.totals.closing import (
    DEFAULT_MOST_REJECTED,
    MostRejected,
    most_rejected_of,
)

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config


_LONGEST_LINE = 1 << 30  # bytes; all texts of one segment together may have twice as many


@dataclasses.dataclass(frozen=True)
class TextFlags:
    refs: tuple[str, ...] = flag(
        (),
        "a file with a reference for each segment, one per line, or a pattern of such files in "
        "quotes; more words are more references",
        "REF",
        words=(),
        nargs="*",
        is_shown_only=True,  # they are the words that no parser has taken
    )
    systems: tuple[str, ...] = flag(
        (),
        "the output of a system, one segment per line. A pattern in quotes makes each of its files "
        "a system; with NAME= all its files are one system. Without -i, the system is stdin",
        "[NAME=]FILE",
        words=("-i",),
        nargs="+",
    )
    candidates: tuple[str, ...] = flag(
        (), "the output of a system, one segment per line; repeatable", "[NAME=]PATTERN"
    )
    references: tuple[str, ...] = flag(
        (), "a reference for each segment, one per line; repeatable", "PATTERN"
    )
    num_refs: int = flag(
        1,
        "each line of references has N references, with tabs between them",
        "N",
        "-nr",
        convert=positive,
        shown_default="default 1: tabs are text",
    )
    encoding: str | None = flag(
        None,
        "only utf-8: convert texts in another encoding first: iconv -f NAME -t utf-8",
        "NAME",
        "-e",
        choices=("utf-8", "UTF-8", "utf8", "UTF8", "utf-8-sig"),
    )


@dataclasses.dataclass(frozen=True)
class CheckingFlags:
    cuts: Cuts = flag(
        CUTS[0],
        "same: streams of several shards must have the same shards, with the same numbers of "
        "lines; any: only the total numbers of lines are compared",
        "RULE",
        choices=CUTS,
    )
    expect_segments: int | None = flag(
        None, "fail unless the corpus has exactly N segments", "N", convert=positive
    )
    max_line_bytes: int = flag(
        MAX_LINE_BYTES,
        "fail if a line has more than N bytes",
        "N",
        convert=whole_number(1, _LONGEST_LINE),
    )
    allow: tuple[AllowedName, ...] = flag(
        (),
        "what is intended, though it is usually a mistake: it is a warning, and does not end a run",
        "KIND,...",
        choices=ALLOWED,
        split=lambda text: text.split(","),
    )
    on_bad_record: OnBadRecord = flag(
        "fail",
        "fail: a record that cannot be scored, or a line that is not UTF-8, ends the run; reject: "
        "its segment is left out, and the record is written to DIR/rejected-*.jsonl",
        "ACTION",
        choices=ON_BAD_RECORD,
    )
    max_rejected: MostRejected = flag(
        DEFAULT_MOST_REJECTED,
        "with --on_bad_record reject: fail if more than N segments are rejected (such as 100), or "
        "more than a fraction of all segments (such as 0.05)",
        "N|FRACTION",
        convert=most_rejected_of,
        shown_default=f"default {DEFAULT_MOST_REJECTED}",
    )

    @property
    def most_rejected(self) -> MostRejected | None:
        return self.max_rejected if self.on_bad_record == "reject" else None


def split_at_commas(text: str) -> tuple[str, ...]:
    """Splits the value of a flag at commas, except those in a quoted name: ["a,b"]."""
    return tuple(re.findall(r'((?:\["(?:[^"\\]|\\.)*"\]|[^,])*),', text + ","))


def columns(text: str) -> tuple[str, ...]:
    names = split_at_commas(text)
    if any(not name or name.endswith("=") for name in names) or len({*names}) < len(names):
        raise ValueError(f"must be different names of columns, with commas, got {text!r}")
    return names


def _condition(text: str) -> Condition:
    parts = re.fullmatch(r"([^=]+?)(!?)=((?!=).*)", text, re.DOTALL)
    if parts is None:
        raise ValueError(f"must be COLUMN=VALUE or COLUMN!=VALUE, got {text!r}")
    # Only the text of the path is used: how it is read depends on columns that are not known yet.
    return Condition(ColumnPath(parts[1], (parts[1],)), parts[3], bool(parts[2]))


class _Once(argparse.Action):
    """The action of a flag that cannot be repeated, where argparse would keep the last value."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        before = getattr(namespace, self.dest)
        if before is not None:
            raise UsageError(
                f"{self.option_strings[0]} is given twice: {joined([before, values])}",
                "write one pattern for all files, such as 'records/*.jsonl'",
            )
        setattr(namespace, self.dest, values)


@dataclasses.dataclass(frozen=True)
class RecordFlags:
    input: str | None = flag(
        None,
        "records that have candidates and references: files of Parquet, Arrow, Avro, JSON lines, "
        "CSV or tab-separated text; or a table: delta:PATH, iceberg:NAME",
        "PATTERN",
        action=_Once,
    )
    input_format: RecordFormatName | None = flag(
        None,
        f"the format of record files: {', '.join(RECORD_FORMAT_NAMES)}",
        "NAME",
        choices=RECORD_FORMAT_NAMES,
        shown_default="default: by the suffix of their names",
    )
    candidate_columns: tuple[str, ...] | None = flag(
        None,
        "the columns of the systems. A column is a name, a path such as translation.de or "
        "resps[0], the number of a column of CSV or tab-separated text, or a pattern such as "
        "'hyp_*'",
        "[NAME=]COLUMN,...",
        convert=columns,
        shown_default="default: the column with a usual name, such as hypothesis",
    )
    reference_columns: tuple[str, ...] | None = flag(
        None,
        "the columns of references, or one column with lists of them",
        "COLUMN,...",
        convert=columns,
        shown_default="default: the columns with a usual name, such as reference or ref0,ref1",
    )
    header: bool = flag(
        False,
        "the first line of CSV or tab-separated text has the names of its columns",
        shown_default="default: yes if a column is given by its name instead of its number",
    )
    no_header: bool = flag(False, "the first line of CSV or tab-separated text is a record")
    where: tuple[Condition, ...] = flag(
        (),
        "score only records with COLUMN=VALUE, or with COLUMN!=VALUE; repeatable: all must be true",
        "CONDITION",
        convert=_condition,
    )


@dataclasses.dataclass(frozen=True)
class BringingTogetherFlags:
    system_column: str | None = flag(
        None,
        "the column with the system's name, if there is a record for each segment and system",
        "COLUMN",
    )
    id_column: tuple[str, ...] | None = flag(
        None,
        "the column, or the columns together, with the segment's id, for --system_column",
        "COLUMN,...",
        convert=columns,
    )
    join_on: tuple[str, ...] | None = flag(
        None,
        "systems and references are record files, which are joined by the ids in this column, or "
        "in several columns together, such as task,doc_id",
        "COLUMN,...",
        convert=columns,
    )
    coverage: CoverageName | None = flag(
        None,
        "which segments of a join or of --system_column are scored",
        "RULE",
        choices=COVERAGES,
        shown_default="default strict",
    )


_LARGEST_MOST = 100_000
"""The sums of all slices must fit into the memory of a worker, and into one Beam element."""

DOCUMENT = "document"  # the name of the label if --documents names files


def _edges(text: str) -> tuple[int, ...]:
    edges = text.split(",")
    numbers = [int(edge) if edge.isdecimal() and len(edge) <= 9 else 0 for edge in edges]
    if not all(numbers) or numbers != sorted(set(numbers)):
        raise ValueError(f"must be ascending whole numbers from 1 on, with commas, got {text}")
    return tuple(numbers)


def _label_file(text: str) -> tuple[tuple[str, ...], str]:
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
        "standard errors and comparisons by document, because the segments of a document are not "
        "independent: a label or a column; or, for text, a file with the name of a document in "
        "each line, optionally after a domain and a tab",
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
