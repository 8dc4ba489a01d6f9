"""The flags for the input: texts, records, and what must be true of them."""

from __future__ import annotations

import argparse
import dataclasses
import re
from typing import Any

from beam_bleu.transforms.definition.choices import ALLOWED, AllowedName
from beam_bleu.transforms.definition.flags import flag, positive, whole_number
from beam_bleu.transforms.errors import UsageError, joined
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

_LONGEST_LINE = 1 << 30  # the texts of one segment may have twice as many bytes in all


@dataclasses.dataclass(frozen=True)
class TextFlags:
    refs: tuple[str, ...] = flag(
        (),
        "a file with a reference for each segment, one per line, or a pattern of such files in "
        "quotes; more words are more references",
        "REF",
        words=(),
        nargs="*",
        is_shown_only=True,  # they are what is left of the words
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
        "what is meant, although it is probably a mistake: what would end the run is a warning",
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
    """The parts of a value of a flag. A comma inside brackets is a part of a name: ["a,b"]."""
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
    # The columns are not known yet, so only the text of the path counts.
    return Condition(ColumnPath(parts[1], (parts[1],)), parts[3], bool(parts[2]))


class _Once(argparse.Action):
    """The action of a flag that cannot be repeated: the last value would hide the others."""

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
    """The flags that say which records of several systems belong to one segment."""

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
