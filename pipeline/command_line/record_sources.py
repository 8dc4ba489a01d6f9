"""The sources of records: those that the flags of a command line describe."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from typing import Any

from beam_bleu.pipeline.command_line.keep_flag import keep, kept_of_join
from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.command_line.slice_flags import path_labels
from beam_bleu.pipeline.command_line.systems import check_names, references, systems
from beam_bleu.pipeline.command_line.temporary_files import check_pipes, is_pipe
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.files.streams import Stream, compression
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.needs import Needs, Role
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.pairing.records.columns.wanted import Wanted
from beam_bleu.transforms.pairing.records.formats import (
    RECORD_FORMAT_NAMES,
    RECORD_FORMATS,
    RecordFormatName,
    format_of_name,
)
from beam_bleu.transforms.pairing.records.joins.coverage import COVERAGE_NAMES

_INPUT = "input"

_OF_RECORDS: dict[str, Any] = {
    "candidate_columns": None,
    "reference_columns": None,
    "header": False,
    "no_header": False,
    "where": [],
    "input_format": None,
    "system_column": None,
    "id_column": None,
    "coverage": None,
}
"""The flags that only records have, besides --input and --join_on, and their values if they are
not given."""

_OF_LINES: dict[str, Any] = {"cuts": "same", "num_refs": 1, "encoding": None, "labels": []}
"""The flags that only line-parallel text has, and their values if they are not given."""

_TAKEN_FOR_RECORDS: tuple[RecordFormatName, ...] = ("parquet", "arrow", "avro", "jsonl")
"""Files with the suffixes of these formats are not line-parallel text."""

_JOIN = (
    "to join record files by an id, add --join_on COLUMN; to read candidates and references from "
    "the same records, write --input PATTERN"
)


def has_records(flags: argparse.Namespace) -> bool:
    """Whether a command line names records.

    Raises:
      UsageError: a flag for records is given, but no records are; or record files are named like
        line-parallel text.
    """
    if flags.input is not None or flags.join_on is not None:
        return True
    needless = _given(flags, _OF_RECORDS)
    texts = [*flags.refs, *flags.references, *flags.systems, *flags.candidates]
    files = [text for text in texts if format_of_name(text) in _TAKEN_FOR_RECORDS]
    if needless == ["input_format"] and texts:
        raise UsageError("--input_format is given without --input or --join_on", _JOIN)
    if needless:
        raise UsageError(
            f"--{needless[0]} is for records, and none are given",
            "name the records: --input PATTERN; or join record files by an id: --join_on COLUMN",
        )
    if files:
        label = RECORD_FORMATS[_require_format(files[0], None)].label
        raise UsageError(
            f"{files[0]} is a file of records ({label}), not line-parallel text",
            f"records cannot be paired by their order: {_JOIN}",
        )
    return False


def record_source(
    flags: argparse.Namespace, anywhere: bool, labels: tuple[str, ...], needs: Needs
) -> Source:
    """The source for a command line that names records.

    Args:
      flags: the parsed flags.
      anywhere: whether the job may run in another folder than this process.
      labels: the labels that the job needs. They are columns.
      needs: what the metrics need of the records.

    Raises:
      UsageError: flags contradict each other, a flag is missing or has no effect, or a value is
        impossible.
      InputError: a pattern of -i matches nothing.
    """
    for name in _given(flags, _OF_LINES):
        remedy = f"leave --{name} out"
        if name == "labels":
            remedy += ": the labels of records are columns, which --slice_by and --keep name"
        raise UsageError(f"--{name} is for line-parallel text, not for records", remedy)
    if flags.header and flags.no_header:
        raise UsageError("--header and --no_header contradict each other", "leave one of them out")
    _refuse_needless_columns(flags, needs)
    of_flags = _joined if flags.join_on else _paired
    return of_flags(flags, anywhere, labels, needs)


def _refuse_needless_columns(flags: argparse.Namespace, needs: Needs) -> None:
    """Refuses columns of texts that no metric reads.

    Raises:
      UsageError: there are such columns.
    """
    for role, flag in (("candidates", "candidate_columns"), ("references", "reference_columns")):
        if role not in needs.roles and getattr(flags, flag):
            raise UsageError(
                f"--{flag} has no effect: --metrics {' '.join(flags.metrics)} reads no {role}",
                "leave it out, or ask for a metric of texts, too",
            )


def _paired(
    flags: argparse.Namespace, anywhere: bool, labels: tuple[str, ...], needs: Needs
) -> Source:
    """The source of records that have candidates and references: --input."""
    if flags.refs:
        raise UsageError(
            f"unexpected argument {flags.refs[0]!r}: with --input, it cannot be a reference, "
            "because records have their own",
            f"for line-parallel text write -i: beam-bleu {shlex.quote(flags.refs[0])} "
            f"-i {shlex.quote(flags.input)}; to join record files by an id: --join_on COLUMN, "
            "without --input",
        )
    others = {
        "-i": flags.systems,
        "--candidates": flags.candidates,
        "--references": flags.references,
    }
    for name, value in others.items():
        if value:
            raise UsageError(
                f"{name} cannot be used with --input, whose records have candidates and references",
                "name the columns: --candidate_columns COLUMN,... --reference_columns COLUMN,...; "
                "or, to join record files by an id: --join_on COLUMN, without --input",
            )
    if (flags.system_column is None) != (flags.id_column is None):
        present, missing = "system_column", "id_column"
        if flags.system_column is None:
            present, missing = missing, present
        raise UsageError(
            f"--{present} needs --{missing}", "name both columns: --system_column and --id_column"
        )
    if flags.coverage is not None and flags.system_column is None:
        raise UsageError(
            "--coverage is for joins and for --system_column: a record of --input has all systems",
            "leave --coverage out",
        )
    wanted = _wanted(flags, labels, needs)
    if flags.system_column is not None:
        _require_one_column(flags, "--system_column names the systems")
        kept = kept_of_join(keep(flags), flags.id_column)
        wanted = dataclasses.replace(
            wanted, ids=flags.id_column, system=flags.system_column, kept=kept
        )
    check_pipes([(_INPUT, flags.input)], anywhere)
    stream = _stream(_INPUT, "--input", flags.input, anywhere)
    records = _records(flags, stream, wanted, needs.roles)
    if flags.system_column is None:
        paired: Source = records
        return paired
    from beam_bleu.transforms.pairing.records.joins.join_sources import LongRecords

    return LongRecords(
        records, flags.coverage or COVERAGE_NAMES[0], flags.expect_segments, flags.on_bad_record
    )


def _joined(
    flags: argparse.Namespace, anywhere: bool, labels: tuple[str, ...], needs: Needs
) -> Source:
    """The source that joins record files by an id: --join_on."""
    if flags.input is not None:
        raise UsageError(
            "--join_on cannot be used with --input, whose records have candidates and references",
            "leave one of them out; or name record files to join: --candidates NAME=PATTERN "
            "--references PATTERN",
        )
    for name in ("system_column", "id_column"):
        if getattr(flags, name) is not None:
            raise UsageError(
                f"--{name} cannot be used with --join_on",
                f"leave --{name} out: each file has one system, and --join_on names the ids",
            )
    _require_one_column(flags, "with --join_on, each file has one system")
    of_references = references(flags)
    flag_of_systems, named = systems(flags, of_references)
    candidates = [(f"candidates {name}", pattern) for name, pattern in named]
    check_pipes([*of_references, *candidates], anywhere)
    check_names(named, flag_of_systems)
    kept = kept_of_join(keep(flags), flags.join_on)
    wanted = dataclasses.replace(_wanted(flags, labels, needs), ids=flags.join_on, kept=kept)
    flag_of_references = "--references" if flags.references else "REF"
    from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords

    return JoinedRecords(
        tuple(name for name, _ in named),
        tuple(
            _records(flags, _stream(label, flag_of_systems, pattern, anywhere), wanted, needs.roles)
            for label, pattern in candidates
        ),
        tuple(
            _records(
                flags, _stream(label, flag_of_references, pattern, anywhere), wanted, needs.roles
            )
            for label, pattern in of_references
        ),
        flags.coverage or COVERAGE_NAMES[0],
        flags.expect_segments,
        flags.on_bad_record,
        allow=tuple(flags.allow),
    )


def _require_one_column(flags: argparse.Namespace, why: str) -> None:
    columns = flags.candidate_columns or ()
    if len(columns) > 1:
        raise UsageError(
            f"--candidate_columns {','.join(columns)}: only one column is possible, because {why}",
            "name the column of the candidates' texts",
        )


def _records(
    flags: argparse.Namespace, stream: Stream, wanted: Wanted, roles: tuple[Role, ...]
) -> Any:
    """The records of a stream: a source, which is also a reader for joins."""
    name = _require_format(stream.pattern, flags.input_format, stream.label)
    if name != "tsv":
        for flag in ("header", "no_header"):
            if getattr(flags, flag):
                raise UsageError(
                    f"--{flag} cannot be used with {RECORD_FORMATS[name].label}",
                    f"leave --{flag} out: it is for tab-separated text",
                )
    brings_together = flags.join_on is not None or flags.system_column is not None
    segments = None if brings_together else flags.expect_segments  # of a join, not of its streams
    common = {
        "range_bytes": flags.range_bytes,
        "expected": Expected(segments=segments, max_line_bytes=flags.max_line_bytes),
        "on_bad_record": flags.on_bad_record,
        "roles": roles,
    }
    if name == "jsonl" or name == "tsv":
        from beam_bleu.transforms.pairing.records.text.source import LineRecords

        header = _header(flags, wanted, roles) if name == "tsv" else None
        return LineRecords(stream, wanted, name, header=header, **common)
    from beam_bleu.transforms.pairing.records.row_groups.source import RowGroupRecords

    return RowGroupRecords(stream, wanted, name, **common)


def _wanted(flags: argparse.Namespace, labels: tuple[str, ...], needs: Needs) -> Wanted:
    """What is read of records.

    Raises:
      UsageError: a label from paths has an impossible name, or a condition is about one.
    """
    from_paths = path_labels(flags)
    names = [label.name for label in from_paths]
    for condition in flags.where:
        if condition.column.text in names:
            raise UsageError(
                f"--where {condition.column}: this is a label from the paths of the files, not a "
                "column",
                "name only the files that are to be scored, with a pattern that matches no others",
            )
    return Wanted(
        flags.candidate_columns or (),
        flags.reference_columns or (),
        labels=tuple(dict.fromkeys((*labels, *names))),
        where=tuple(flags.where),
        path_labels=from_paths,
        values=needs.values,
        kept=keep(flags).columns,
        keeps_texts=keep(flags).texts,
    )


def _stream(label: str, flag: str, pattern: str, anywhere: bool) -> Stream:
    return Stream(label, checked_path(flag, pattern, anywhere))


def _header(flags: argparse.Namespace, wanted: Wanted, roles: tuple[Role, ...]) -> bool | None:
    """Whether the first line of tab-separated text has the names of the columns.

    It is None if the source decides, by the columns.

    Raises:
      UsageError: --no_header is given, but columns are named, or have the usual names.
    """
    from beam_bleu.transforms.pairing.records.text.tsv import has_header

    if flags.no_header and has_header(wanted, roles):
        raise UsageError(
            "--no_header: without a header line, columns have numbers instead of names",
            "name all columns by their numbers: the first one is 1, such as --candidate_columns 2 "
            "--reference_columns 1",
        )
    return False if flags.no_header else flags.header or None


def _require_format(
    pattern: str, asked: RecordFormatName | None, label: str = _INPUT
) -> RecordFormatName:
    """The format of a record file.

    Raises:
      UsageError: neither the flag nor the name of the file says which one it is; or its name says
        that it is compressed, and files of the format are not.
    """
    name = asked or format_of_name(pattern)
    if name is None:
        suffixes = [suffix for row in RECORD_FORMATS.values() for suffix in row.suffixes]
        what = "a pipe has no suffix" if is_pipe(pattern) else "its name does not end with"
        ends = "" if is_pipe(pattern) else f" {', '.join(suffixes)}"
        raise UsageError(
            f"{label}: the format of {pattern} is not known: {what}{ends}",
            f"name it: --input_format {' or '.join(RECORD_FORMAT_NAMES)}",
        )
    suffix = compression(pattern)
    if suffix is not None and not RECORD_FORMATS[name].compressed:
        raise UsageError(
            f"{label}: {RECORD_FORMATS[name].label} files are compressed inside, and cannot be "
            f"read as {suffix}: {pattern}",
            "decompress the file",
        )
    return name


def _given(flags: argparse.Namespace, defaults: dict[str, Any]) -> list[str]:
    """The flags of a table that do not have their default value."""
    return [name for name, default in defaults.items() if getattr(flags, name) != default]
