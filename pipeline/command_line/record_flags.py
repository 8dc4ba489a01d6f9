"""The flags for records: where they are, what is read of them, and what bad ones do."""

from __future__ import annotations

import argparse
import re
from typing import Any

from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.pairing.bad_records import ON_BAD_RECORD
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath, Condition
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMAT_NAMES
from beam_bleu.transforms.pairing.records.joins.coverage import COVERAGE_NAMES, COVERAGES
from beam_bleu.transforms.totals.rejected import (
    DEFAULT_MOST_REJECTED,
    MostRejected,
    most_rejected_of,
)


def add_record_flags(parser: argparse._ActionsContainer) -> None:
    """The flags that say where records are, and which of their columns are read."""
    add = parser.add_argument
    add(
        "--input",
        action=_Once,
        metavar="PATTERN",
        help="records that have candidates and references: files of Parquet, Arrow, Avro, JSON "
        "lines or tab-separated text; or a table: delta:PATH, iceberg:NAME",
    )
    add(
        "--input_format",
        choices=RECORD_FORMAT_NAMES,
        metavar="NAME",
        help=f"the format of record files: {', '.join(RECORD_FORMAT_NAMES)}; default: by the "
        "suffix of their names",
    )
    add(
        "--candidate_columns",
        type=columns,
        metavar="[NAME=]COLUMN,...",
        help="the columns of the systems. A column is a name, a path such as translation.de or "
        "resps[0], the number of a column of tab-separated text, or a pattern such as 'hyp_*'; "
        "default: the column with a usual name, such as hypothesis",
    )
    add(
        "--reference_columns",
        type=columns,
        metavar="COLUMN,...",
        help="the columns of references, or one column with lists of them; default: the columns "
        "with a usual name, such as reference or ref0,ref1",
    )
    add(
        "--header",
        action="store_true",
        help="the first line of tab-separated text has the names of its columns; default: yes if a "
        "column is given by its name instead of its number",
    )
    add(
        "--no_header",
        action="store_true",
        help="the first line of tab-separated text is a record",
    )
    add(
        "--where",
        action="append",
        type=_condition,
        default=[],
        metavar="CONDITION",
        help="score only records with COLUMN=VALUE, or with COLUMN!=VALUE; repeat the flag for "
        "more conditions, which must all be true",
    )


def add_bringing_together_flags(parser: argparse._ActionsContainer) -> None:
    """The flags that say which records of several systems belong to one segment."""
    add = parser.add_argument
    add(
        "--system_column",
        metavar="COLUMN",
        help="the records are those of several systems, one record for each segment and system: "
        "the column with the system's name",
    )
    add(
        "--id_column",
        type=columns,
        metavar="COLUMN,...",
        help="the column with the segment's id, for --system_column; or the columns whose values "
        "together are the id",
    )
    add(
        "--join_on",
        type=columns,
        metavar="COLUMN,...",
        help="-i or --candidates, and the references, are record files, which are joined by the "
        "ids in this column; or by the values of several columns together, such as task,doc_id",
    )
    rules = "; ".join(f"{name}: {row.description}" for name, row in COVERAGES.items())
    add(
        "--coverage",
        choices=COVERAGE_NAMES,
        metavar="RULE",
        help=f"which segments of a join or of --system_column are scored. {rules}; "
        f"default {COVERAGE_NAMES[0]}",
    )


def split_at_commas(text: str) -> tuple[str, ...]:
    """The parts of a value of a flag. A comma inside brackets is a part of a name: ["a,b"]."""
    return tuple(re.findall(r'((?:\["(?:[^"\\]|\\.)*"\]|[^,])*),', text + ","))


def columns(text: str) -> tuple[str, ...]:
    """The type of a flag whose value is columns with commas between them.

    Raises:
      ArgumentTypeError: a name is empty, or a column is named twice.
    """
    names = split_at_commas(text)
    if any(not name or name.endswith("=") for name in names):
        raise argparse.ArgumentTypeError(f"a name of a column is empty, got {text!r}")
    if len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"a column is named twice, got {text}")
    return names


def _condition(text: str) -> Condition:
    """The type of --where."""
    parts = re.fullmatch(r"([^=]+?)(!?)=((?!=).*)", text, re.DOTALL)
    if parts is None:
        raise argparse.ArgumentTypeError(
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


def add_rejecting_flags(parser: argparse._ActionsContainer) -> None:
    """The flags that say what happens with bad records."""
    add = parser.add_argument
    add(
        "--on_bad_record",
        choices=ON_BAD_RECORD,
        default="fail",
        metavar="ACTION",
        help="fail (default): a record that cannot be scored, or a line that is not UTF-8, ends "
        "the run with an error; reject: its segment is left out, and the record is written to "
        "DIR/rejected-*.jsonl",
    )
    add(
        "--max_rejected",
        type=_most_rejected,
        metavar="N|FRACTION",
        help="with --on_bad_record reject: fail if more than N segments are rejected (such as "
        "100), or more than a fraction of all segments (such as 0.05); default "
        f"{DEFAULT_MOST_REJECTED}",
    )


def most_rejected(flags: argparse.Namespace) -> MostRejected | None:
    """How many segments may be rejected; None if a bad record ends the run.

    Raises:
      UsageError: a number is given, and none may be rejected.
    """
    most: MostRejected | None = flags.max_rejected
    if flags.on_bad_record == "fail":
        if most is not None:
            raise UsageError(
                "--max_rejected needs --on_bad_record reject", "give both flags, or leave both out"
            )
        return None
    return DEFAULT_MOST_REJECTED if most is None else most


def _most_rejected(text: str) -> MostRejected:
    try:
        return most_rejected_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
