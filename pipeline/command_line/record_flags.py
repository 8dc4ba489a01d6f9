"""The flags for records: where they are, what is read of them, and what bad ones do."""

from __future__ import annotations

import argparse
import dataclasses
import re
from typing import Any, ClassVar

from beam_bleu.transforms.definition.flags import flag
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath, Condition
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMAT_NAMES, RecordFormatName
from beam_bleu.transforms.pairing.records.joins.findings import (
    COVERAGE_NAMES,
    COVERAGES,
    CoverageName,
)


def split_at_commas(text: str) -> tuple[str, ...]:
    """The parts of a value of a flag. A comma inside brackets is a part of a name: ["a,b"]."""
    return tuple(re.findall(r'((?:\["(?:[^"\\]|\\.)*"\]|[^,])*),', text + ","))


def columns(text: str) -> tuple[str, ...]:
    """The type of a flag whose value is columns with commas between them.

    Raises:
      ValueError: a name is empty, or a column is named twice.
    """
    names = split_at_commas(text)
    if any(not name or name.endswith("=") for name in names):
        raise ValueError(f"a name of a column is empty, got {text!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"a column is named twice, got {text}")
    return names


def _condition(text: str) -> Condition:
    """The type of --where."""
    parts = re.fullmatch(r"([^=]+?)(!?)=((?!=).*)", text, re.DOTALL)
    if parts is None:
        raise ValueError(
            f"must be COLUMN=VALUE or COLUMN!=VALUE, with one equals sign, got {text!r}"
        )
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
    """The flags that say where records are, and which of their columns are read."""

    ARE_KEYWORDS: ClassVar[bool] = False

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
    no_header: bool = flag(
        False,
        "the first line of CSV or tab-separated text is a record",
    )
    where: tuple[Condition, ...] = flag(
        (),
        "score only records with COLUMN=VALUE, or with COLUMN!=VALUE; repeat the flag for more "
        "conditions, which must all be true",
        "CONDITION",
        convert=_condition,
    )


@dataclasses.dataclass(frozen=True)
class BringingTogetherFlags:
    """The flags that say which records of several systems belong to one segment."""

    ARE_KEYWORDS: ClassVar[bool] = False

    system_column: str | None = flag(
        None,
        "the records are those of several systems, one record for each segment and system: the "
        "column with the system's name",
        "COLUMN",
    )
    id_column: tuple[str, ...] | None = flag(
        None,
        "the column with the segment's id, for --system_column; or the columns whose values "
        "together are the id",
        "COLUMN,...",
        convert=columns,
    )
    join_on: tuple[str, ...] | None = flag(
        None,
        "-i or --candidates, and the references, are record files, which are joined by the ids in "
        "this column; or by the values of several columns together, such as task,doc_id",
        "COLUMN,...",
        convert=columns,
    )
    coverage: CoverageName | None = flag(
        None,
        "which segments of a join or of --system_column are scored. "
        + "; ".join(f"{name}: {row.description}" for name, row in COVERAGES.items()),
        "RULE",
        choices=COVERAGE_NAMES,
        shown_default=f"default {COVERAGE_NAMES[0]}",
    )
