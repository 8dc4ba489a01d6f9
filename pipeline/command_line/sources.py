"""Builds a job's source from flags: which files are read, and which systems they are (-i, ...)."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.command_line.source_flags import (
    check_label_names,
    label_streams,
    needed_labels,
)
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.folder.paths import checked_path, normal
from beam_bleu.pipeline.output.temporary_files import check_pipes, is_pipe, system_of_pipe
from beam_bleu.pipeline.scoring.job import JobMetrics
from beam_bleu.transforms.definition.choices import can_be_shown
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.streams import (
    Stream,
    compression,
    in_order,
    is_pattern,
    name_and_pattern,
)
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.needs import ANSWERS, Needs
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.pairing.records.formats import (
    RECORD_FORMAT_NAMES,
    RECORD_FORMATS,
    RecordFormatName,
    format_of_name,
)
from beam_bleu.transforms.pairing.records.wanted import Wanted
from beam_bleu.transforms.wiring.filesystems import is_local

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

_TAKEN_FOR_RECORDS: tuple[RecordFormatName, ...] = (
    *("parquet", "arrow", "avro", "jsonl"),
    *(name for name, row in RECORD_FORMATS.items() if row.parser),
)
"""Files with the suffixes of these formats are not line-parallel text."""


def with_ids_of_formats(flags: Config) -> Config:
    """Joins files by the ids that their format has, unless the user names other columns."""
    if flags.input is not None:
        name = flags.input_format or format_of_name(flags.input)
        row = RECORD_FORMATS[name] if name else None
        if row is not None and row.text and not row.reference:
            raise UsageError(
                f"--input {flags.input}: a file with {row.label} has either candidates or "
                "references",
                "write: beam-bleu REF... -i FILE...",
            )
        if row is None or row.system is None or flags.system_column or flags.id_column:
            return flags
        return dataclasses.replace(flags, system_column=row.system, id_column=row.ids)
    words = (*flags.refs, *flags.references, *flags.systems, *flags.candidates)
    if flags.join_on is not None or not words:
        return flags
    ids: dict[tuple[str, ...], str] = {}
    for word in words:
        path = name_and_pattern(word)[1]
        name = flags.input_format or format_of_name(path)
        ids.setdefault(RECORD_FORMATS[name].ids if name else (), path)
    if len(ids) > 1:
        shown = [f"{path} ({','.join(own) or 'none'})" for own, path in ids.items()]
        raise UsageError(
            f"the formats of the files do not have the same ids: {joined(shown)}",
            "convert one of the files; or, if all are records with ids, add --join_on COLUMN",
        )
    (own,) = ids
    return dataclasses.replace(flags, join_on=own) if own else flags


def source(flags: Config, anywhere: bool, metrics: JobMetrics) -> Source:
    """The source of a command line; `anywhere`: the job may run in other folders, or elsewhere."""
    if flags.coverage is not None and flags.join_on is None and flags.system_column is None:
        raise UsageError("--coverage needs --join_on or --system_column", "leave it out")
    described = _Described(flags, anywhere, metrics)
    if flags.input is not None:
        return described.paired(flags.input)
    needs_references = "references" in metrics.needs.roles or flags.join_on is None
    if needs_references and not (flags.refs or flags.references):
        raise UsageError(
            "the references are missing",
            "write: beam-bleu REF... -i FILE...; or, for records that have both, --input PATTERN",
        )
    if flags.references and not (flags.candidates or flags.systems):
        raise UsageError("the systems are missing", "write: beam-bleu REF... -i FILE...")
    return described.lines() if flags.join_on is None else described.joined(flags.join_on)


@dataclasses.dataclass(frozen=True)
class _Described:
    flags: Config
    anywhere: bool
    metrics: JobMetrics

    def lines(self) -> LineParallel:
        flags = self.flags
        for text in (*flags.refs, *flags.references, *flags.systems, *flags.candidates):
            if format_of_name(text) in _TAKEN_FOR_RECORDS:
                raise UsageError(
                    f"{text} is a file of records, not line-parallel text",
                    "to join record files by an id, add --join_on COLUMN; to read candidates and "
                    "references from the same records, write --input PATTERN",
                )
        if values := self.metrics.needs.values:
            raise UsageError(
                f"--metrics {' '.join(flags.chosen_metrics)} needs the column "
                f"{values[0].column}, and line-parallel text has no columns",
                "name records that have it: --input PATTERN",
            )
        labels = label_streams(flags, self.anywhere)
        streams_of_labels = [(label.stream.label, label.stream.pattern) for label in labels]
        names, candidates, of_references = self._streams(streams_of_labels)
        return LineParallel(
            names,
            candidates,
            of_references,
            flags.range_bytes,
            Expected(flags.cuts, flags.expect_segments, flags.max_line_bytes),
            flags.num_refs,
            labels,
            flags.on_bad_record,
            flags.label_from_path,
            flags.kept,
            flags.keeps_texts,
        )

    def joined(self, ids: tuple[str, ...]) -> Source:
        names, candidates, of_references = self._streams()
        wanted = self._wanted(ids)
        return self._brought_together(
            names,
            tuple(self._records(stream, wanted) for stream in candidates),
            tuple(self._records(stream, wanted) for stream in of_references),
        )

    def paired(self, pattern: str) -> Source:
        check_pipes([("input", pattern)], self.anywhere)
        stream = Stream("input", checked_path("--input", pattern, self.anywhere))
        records = self._records(stream, self._wanted(self.flags.id_column or ()))
        is_long = self.flags.system_column is not None
        paired: Source = self._brought_together((), (), (records,)) if is_long else records
        return paired

    def _brought_together(
        self, names: tuple[str, ...], candidates: tuple[Any, ...], of_references: tuple[Any, ...]
    ) -> Source:
        # Imported here, because only joins need it.
        from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords

        flags = self.flags
        return JoinedRecords(
            names,
            candidates,
            of_references,
            flags.coverage or "strict",
            flags.expect_segments,
            flags.on_bad_record,
            allow=flags.allow,
        )

    def _streams(
        self, others: Sequence[Named] = ()
    ) -> tuple[tuple[str, ...], tuple[Stream, ...], tuple[Stream, ...]]:
        of_references = references(self.flags)
        flag, named = systems(self.flags, [*of_references, *others])
        candidates = [(f"candidates {name}", pattern) for name, pattern in named]
        check_pipes([*of_references, *candidates, *others], self.anywhere)
        check_names(named, flag)  # after the pipes: stdin, given twice, is a fault of its own
        flag_of_references = "--references" if self.flags.references else "REF"
        streams = [
            tuple(
                Stream(label, checked_path(flag, pattern, self.anywhere))
                for label, pattern in labelled
            )
            for flag, labelled in ((flag, candidates), (flag_of_references, of_references))
        ]
        return tuple(name for name, _ in named), streams[0], streams[1]

    def _wanted(self, ids: tuple[str, ...]) -> Wanted:
        """What to read of records, including the columns (`ids`) that join them, if any."""
        flags = self.flags
        candidate_columns = flags.candidate_columns or ()
        if ids and len(candidate_columns) > 1:
            raise UsageError(
                f"--candidate_columns {','.join(candidate_columns)}: only one column is possible, "
                "because each record has the candidate of one system",
                "name the column of the candidates' texts",
            )
        of_paths = [label.name for label in flags.label_from_path]
        check_label_names(of_paths)
        names, needs = (*needed_labels(flags), *of_paths), self.metrics.needs
        of_all = ANSWERS if flags.keeps_texts else Needs()
        if any(LENGTH in item for item in flags.slice_by):
            of_all += Needs(("references",))
        return Wanted(
            candidate_columns,
            flags.reference_columns or (),
            ids=ids,
            system=flags.system_column,
            labels=tuple(dict.fromkeys(name for name in names if name != LENGTH)),
            where=flags.where,
            path_labels=flags.label_from_path,
            values=needs.values,
            reference_of_each=needs.reference_of_each,
            kept=tuple(pair for pair in flags.kept if pair != (KEPT_ID, *ids)),
            keeps_texts=flags.keeps_texts,
            tasks=self.metrics.unpooled,
            needs_of_tasks={
                pattern: own + of_all for pattern, own in self.metrics.needs_of_tasks.items()
            },
        )

    def _records(self, stream: Stream, wanted: Wanted) -> Any:
        from beam_bleu.transforms.pairing.records.record_files import record_files

        flags = self.flags
        name = flags.input_format or format_of_name(stream.pattern)
        if name is None and os.path.isdir(stream.pattern):
            remedy = f"name its files, such as '{stream.pattern.rstrip('/')}/**/*.jsonl', in quotes"
            raise UsageError(f"{stream.label}: {stream.pattern} is a folder", remedy)
        if name is None:
            suffixes = [suffix for row in RECORD_FORMATS.values() for suffix in row.suffixes]
            raise UsageError(
                f"{stream.label}: the format of {stream.pattern} is not known: its name does not "
                f"end with {', '.join(suffixes)}",
                f"name it: --input_format {' or '.join(RECORD_FORMAT_NAMES)}",
            )
        segments = None if wanted.ids else flags.expect_segments  # joins check the joined segments
        # None, without a flag: the choice of columns decides.
        header = False if flags.no_header else flags.header or None
        if header is not None and not RECORD_FORMATS[name].delimiter:
            flag = "--header" if header else "--no_header"
            what = f"{flag} is for CSV and tab-separated text, not for {stream.pattern}"
            raise UsageError(what, "leave it out")
        return record_files(
            stream,
            wanted,
            name,
            header=header,
            range_bytes=flags.range_bytes,
            expected=Expected(segments=segments, max_line_bytes=flags.max_line_bytes),
            on_bad_record=flags.on_bad_record,
            roles=self.metrics.needs.roles,
        )


Named = tuple[str, str]
"""The name of a stream (that of a system, or one for messages), and its path or pattern."""


def references(flags: Config) -> list[Named]:
    patterns = flags.references or flags.refs
    return [
        (f"references {number}" if len(patterns) > 1 else "references", pattern)
        for number, pattern in enumerate(patterns, 1)
    ]


def systems(flags: Config, others: Sequence[Named]) -> tuple[str, list[Named]]:
    """The flag that names the systems, and the systems. A pattern of -i leaves out `others`."""
    if flags.candidates:
        return "--candidates", [_named(text) for text in flags.candidates]
    words = flags.systems or ["-"]
    return "-i", [system for text in words for system in _each_file(text, others)]


def _each_file(text: str, others: Sequence[Named]) -> list[Named]:
    """The systems in a value of -i: a pattern without NAME is one system for each file."""
    if name_and_pattern(text)[0] is not None or not is_pattern(text):
        return [_named(text)]
    found = [file.path for file in find_files(Stream("-i", checked_path("-i", text, False)))]
    shared = _shared(found, others)
    paths = [path for path in found if path not in shared]
    if not paths:
        raise InputError(f"-i: nothing {'else ' if shared else ''}matches {text}", "check the path")
    if shared:
        shown = joined([f"{path} ({label})" for path, label in shared.items()])
        warn(f"-i: {text} also matches {shown}: not scored as the output of a system")
    for path in filter(is_pattern, paths):
        raise UsageError(
            f"-i: the name of a file has wildcards, so it could be mistaken for a pattern: {path}",
            "rename the file",
        )
    return [(_stem(path), path) for path in in_order(paths)]


def _shared(paths: Sequence[str], others: Sequence[Named]) -> dict[str, str]:
    """Which of these paths other streams also read, and the name of that stream."""
    streams: dict[str, str] = {}
    for label, pattern in others:
        # A file of this machine is never one of an object store.
        if paths and not is_pipe(pattern) and is_local(pattern) == is_local(paths[0]):
            for file in find_files(Stream(label, pattern)):
                streams.setdefault(normal(file.path), label)
    labels = {path: streams.get(normal(path)) for path in paths}
    return {path: label for path, label in labels.items() if label is not None}


def _named(text: str) -> Named:
    name, pattern = name_and_pattern(text)
    if name is not None:
        return name, pattern
    if is_pattern(text):
        raise UsageError(
            f"--candidates {text}: a pattern needs a name, which has no wildcards",
            "write --candidates NAME=PATTERN; or -i PATTERN, which makes each file a system",
        )
    return _stem(text), text


def _stem(path: str) -> str:
    """A file's name without compression suffix and extension, or the name of a pipe. An extension
    does not begin with a digit, as the end of a system's name can: nllb-200-1.3B.
    """
    of_pipe = system_of_pipe(path)
    if of_pipe is not None:
        return of_pipe
    # Not by Beam, which knows only the paths of filesystems that are installed.
    name = path.rstrip("/").rpartition("/")[2]
    name = name.removesuffix(compression(name) or "")
    stem, extension = os.path.splitext(name)
    return name if extension[1:2].isdecimal() else stem


def check_names(named: Sequence[Named], flag: str) -> None:
    patterns: dict[str, str] = {}
    for name, pattern in named:
        if not can_be_shown(name) or name != name.strip():
            raise UsageError(
                f"the system name {name!r} cannot be shown, or has white space at an end",
                f"choose a name of printable characters: {flag} NAME=PATTERN",
            )
        if name in patterns:
            raise UsageError(
                f"two systems are called {name}: {patterns[name]}, {pattern}",
                f"give each system its own name: {flag} NAME=PATTERN",
            )
        patterns[name] = pattern
