"""The source that a command line describes: line-parallel text, or records."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.command_line.slice_flags import (
    check_label_names,
    label_streams,
    needed_labels,
)
from beam_bleu.pipeline.command_line.systems import Named, check_names, references, systems
from beam_bleu.pipeline.command_line.temporary_files import check_pipes, is_pipe
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.files.streams import Stream, compression
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.pairing.records.columns.wanted import Wanted
from beam_bleu.transforms.pairing.records.formats import (
    RECORD_FORMAT_NAMES,
    RECORD_FORMATS,
    RecordFormatName,
    format_of_name,
)
from beam_bleu.transforms.pairing.records.joins.findings import COVERAGE_NAMES

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

_INPUT = "input"

_TAKEN_FOR_RECORDS: tuple[RecordFormatName, ...] = ("parquet", "arrow", "avro", "jsonl")
"""Files with the suffixes of these formats are not line-parallel text."""


def source(flags: Config, anywhere: bool, needs: Needs = TEXTS) -> Source:
    """The source for a command line.

    Args:
      flags: the parsed flags, with the settings of their layout.
      anywhere: whether the job may run in another folder than this process.
      needs: what the metrics need of the input.

    Raises:
      UsageError: a flag is missing or has no effect, a value is impossible, a system cannot have
        its name, or the input has no numbers.
      InputError: a pattern of -i matches nothing.
    """
    if flags.coverage is not None and flags.join_on is None and flags.system_column is None:
        raise UsageError("--coverage needs --join_on or --system_column", "leave it out")
    described = _Described(flags, anywhere, needs)
    if flags.input is not None:
        return described.paired(flags.input)
    needs_references = "references" in needs.roles or flags.join_on is None
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
    """What a command line says of the input; see `source`."""

    flags: Config
    anywhere: bool
    needs: Needs

    def lines(self) -> LineParallel:
        """The source of line-parallel text."""
        flags = self.flags
        texts = [*flags.refs, *flags.references, *flags.systems, *flags.candidates]
        for text in texts:
            if format_of_name(text) in _TAKEN_FOR_RECORDS:
                raise UsageError(
                    f"{text} is a file of records, not line-parallel text",
                    "to join record files by an id, add --join_on COLUMN; to read candidates and "
                    "references from the same records, write --input PATTERN",
                )
        if self.needs.values:
            raise UsageError(
                f"--metrics {' '.join(flags.metrics)} needs the column "
                f"{self.needs.values[0].column}, and line-parallel text has no columns",
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
        """The source that joins record files by an id: --join_on."""
        flags = self.flags
        self._require_one_column("with --join_on, each file has one system")
        names, candidates, of_references = self._streams()
        kept = _without_ids(flags.kept, ids)
        wanted = dataclasses.replace(self._wanted(), ids=ids, kept=kept)
        from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords

        return JoinedRecords(
            names,
            tuple(self._records(stream, wanted) for stream in candidates),
            tuple(self._records(stream, wanted) for stream in of_references),
            flags.coverage or COVERAGE_NAMES[0],
            flags.expect_segments,
            flags.on_bad_record,
            allow=flags.allow,
        )

    def paired(self, pattern: str) -> Source:
        """The source of records that have candidates and references: --input."""
        flags = self.flags
        wanted = self._wanted()
        if flags.system_column is not None:
            self._require_one_column("--system_column names the systems")
            ids = flags.id_column or ()
            kept = _without_ids(flags.kept, ids)
            wanted = dataclasses.replace(wanted, ids=ids, system=flags.system_column, kept=kept)
        check_pipes([(_INPUT, pattern)], self.anywhere)
        stream = Stream(_INPUT, checked_path("--input", pattern, self.anywhere))
        records: Any = self._records(stream, wanted)
        if flags.system_column is not None:
            from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords

            coverage = flags.coverage or COVERAGE_NAMES[0]
            records = JoinedRecords(
                (), (), (records,), coverage, flags.expect_segments, flags.on_bad_record
            )
        paired: Source = records
        return paired

    def _streams(
        self, others: Sequence[Named] = ()
    ) -> tuple[tuple[str, ...], tuple[Stream, ...], tuple[Stream, ...]]:
        """The names of the systems, and the streams of their candidates and of the references."""
        of_references = references(self.flags)
        flag, named = systems(self.flags, [*of_references, *others])
        candidates = [(f"candidates {name}", pattern) for name, pattern in named]
        check_pipes([*of_references, *candidates, *others], self.anywhere)
        check_names(named, flag)  # after the pipes: stdin, given twice, has one name
        flag_of_references = "--references" if self.flags.references else "REF"
        streams = [
            tuple(
                Stream(label, checked_path(flag, pattern, self.anywhere))
                for label, pattern in labelled
            )
            for flag, labelled in ((flag, candidates), (flag_of_references, of_references))
        ]
        return tuple(name for name, _ in named), streams[0], streams[1]

    def _require_one_column(self, why: str) -> None:
        columns = self.flags.candidate_columns or ()
        if len(columns) > 1:
            raise UsageError(
                f"--candidate_columns {','.join(columns)}: only one column is possible, because "
                f"{why}",
                "name the column of the candidates' texts",
            )

    def _wanted(self) -> Wanted:
        """What is read of records.

        Raises:
          UsageError: a label from paths has an impossible name.
        """
        flags = self.flags
        of_paths = [label.name for label in flags.label_from_path]
        check_label_names(of_paths)
        names = (*needed_labels(flags), *of_paths)
        return Wanted(
            flags.candidate_columns or (),
            flags.reference_columns or (),
            labels=tuple(dict.fromkeys(name for name in names if name != LENGTH)),
            where=flags.where,
            path_labels=flags.label_from_path,
            values=self.needs.values,
            kept=flags.kept,
            keeps_texts=flags.keeps_texts,
        )

    def _records(self, stream: Stream, wanted: Wanted) -> Any:
        """The records of a stream: a source, which is also a reader for joins."""
        flags = self.flags
        name = self._format(stream)
        brings_together = flags.join_on is not None or flags.system_column is not None
        segments = None if brings_together else flags.expect_segments  # not of its streams
        from beam_bleu.transforms.pairing.records.record_files import record_files

        return record_files(
            stream,
            wanted,
            name,
            header=self._header(wanted) if RECORD_FORMATS[name].delimiter else None,
            range_bytes=flags.range_bytes,
            expected=Expected(segments=segments, max_line_bytes=flags.max_line_bytes),
            on_bad_record=flags.on_bad_record,
            roles=self.needs.roles,
        )

    def _header(self, wanted: Wanted) -> bool | None:
        """Whether the first row of text with fields has the names of the columns.

        It is None if the source decides, by the columns.

        Raises:
          UsageError: --no_header is given, but columns are named, or have the usual names.
        """
        from beam_bleu.transforms.pairing.records.columns.choosing import has_header

        if self.flags.no_header and has_header(wanted, self.needs.roles):
            raise UsageError(
                "--no_header: without a header line, columns have numbers instead of names",
                "name all columns by their numbers: the first one is 1, such as "
                "--candidate_columns 2 --reference_columns 1",
            )
        return False if self.flags.no_header else self.flags.header or None

    def _format(self, stream: Stream) -> RecordFormatName:
        """The format of a record file.

        Raises:
          UsageError: neither the flag nor the name of the file says which one it is; its name says
            that it is compressed, and files of the format are not.
        """
        name = self.flags.input_format or format_of_name(stream.pattern)
        if name is None:
            suffixes = [suffix for row in RECORD_FORMATS.values() for suffix in row.suffixes]
            ends = f"its name does not end with {', '.join(suffixes)}"
            why = "a pipe has no suffix" if is_pipe(stream.pattern) else ends
            raise UsageError(
                f"{stream.label}: the format of {stream.pattern} is not known: {why}",
                f"name it: --input_format {' or '.join(RECORD_FORMAT_NAMES)}",
            )
        row = RECORD_FORMATS[name]
        suffix = compression(stream.pattern)
        if suffix is not None and not row.is_text:
            raise UsageError(
                f"{stream.label}: {row.label} files are compressed inside, and cannot be read as "
                f"{suffix}: {stream.pattern}",
                "decompress the file",
            )
        format_name: RecordFormatName = name
        return format_name


def _without_ids(
    kept: Sequence[tuple[str, str]], ids: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The columns to keep of records that have ids, which are kept in any case, as `id`."""
    return tuple(pair for pair in kept if pair != (KEPT_ID, *ids))
