"""`LineRecords`: record files of JSON lines or tab-separated text, cut at lines like plain text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.files.chunks import read_chunks
from beam_bleu.transforms.pairing.files.found_files import (
    open_anywhere,
    require_unchanged,
    version_of,
)
from beam_bleu.transforms.pairing.files.streams import Shard
from beam_bleu.transforms.pairing.lines.correspondence import nul_notices, require_equal_line_counts
from beam_bleu.transforms.pairing.lines.line_columns import split_values
from beam_bleu.transforms.pairing.lines.line_counting import (
    ByteRange,
    LineCounts,
    count_lines,
    cut_corpus,
    refuse_undecoded,
)
from beam_bleu.transforms.pairing.lines.line_reader import TO_UTF8, LineReader, with_empty
from beam_bleu.transforms.pairing.lines.plan import Piece, make_plan
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, sum_of_hashes
from beam_bleu.transforms.pairing.records.choosing import require_same_columns
from beam_bleu.transforms.pairing.records.json_lines import read_json_lines, schema_of_lines
from beam_bleu.transforms.pairing.records.record_files import Portion, RecordFiles, RecordPlan
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    Columns,
    Fault,
    RawRecords,
    ReadRecords,
)
from beam_bleu.transforms.progress import PROGRESS

__all__ = ["LineRecords"]

HEAD_BYTES = 1 << 20  # bytes at the beginning of each file that show which columns it has


_Head = tuple[Shard, Chosen]  # a file, and the columns to read, chosen by its first lines


@dataclasses.dataclass(frozen=True)
class LineRecords(RecordFiles):
    digest_method = METHOD

    def cut(self, shards: Sequence[Shard]) -> Iterable[ByteRange]:
        PROGRESS.begin("counting lines", sum(shard.file.size for shard in shards))
        return cut_corpus(shards, self.range_bytes)

    def look_at(self, part: ByteRange) -> Iterator[LineCounts | _Head]:
        """The counts of a range, and before them, if it is a file's first one, the file's head."""
        if not part.start and (lines := self._first_lines(part.shard)):
            refuse_undecoded(self.stream, part.shard.file.path, lines[0])
            of_format = self._of_header if self.format == "tsv" else self._of_objects
            yield part.shard, of_format(part.shard, lines)
        longest = None if self.on_bad_record == "reject" else self.expected.max_line_bytes
        version = version_of(self.stream, part.shard.file.path)
        yield count_lines(self.stream, part, open_anywhere, version, longest)

    def planned(self, found: Sequence[LineCounts | _Head]) -> RecordPlan:
        stream = self.stream
        counts = [each for each in found if isinstance(each, LineCounts)]
        heads = [each for each in found if not isinstance(each, LineCounts)]
        notices = nul_notices([stream], counts)
        if not heads:
            require_equal_line_counts([stream], [0])
        heads.sort(key=lambda head: head[0].number)
        first = heads[0][1]
        chosen = {shard.file.path: of_file for shard, of_file in heads}
        require_same_columns(stream, chosen)
        plan = make_plan(
            [stream],
            counts,
            header_lines=int(self.has_header),
            may_end_blank=self.format == "jsonl",
        )
        return RecordPlan(
            first,
            [
                Portion(
                    portion.first_line,
                    portion.lines,
                    plan.bytes * portion.lines // plan.segments,
                    portion.pieces[0],
                    # A file without a head has no line that can be read.
                    {
                        piece.file.path: chosen.get(piece.file.path, first)
                        for piece in portion.pieces[0]
                    },
                )
                for portion in plan.portions_to_read()
            ],
            self.input_files(plan.shards[0], plan.lines[0], plan.versions[0]),
            notices=notices,
        )

    def parts(self, portion: Portion) -> Iterator[RawRecords]:
        first = portion.first
        for piece in portion.pieces:
            yield from self._piece_lines(piece, portion.chosen[piece.file.path], first)
            first += piece.lines
            require_unchanged(self.stream, piece.file.path, piece.version)

    def _piece_lines(self, piece: Piece, chosen: Chosen, first: int) -> Iterator[RawRecords]:
        stream, rows = self.stream, usual_rows(len(chosen.columns))
        reader = LineReader(stream, (piece,), open_anywhere, self.expected.max_line_bytes, first)
        path = stream.shown(piece.file.path)
        done = 0
        while done < piece.lines:
            lines = reader.available(min(rows, piece.lines - done))
            column = reader.take(lines)
            place = piece.first_line + done + 1
            yield RawRecords(
                column, stream.label, path, "line", first + done, place, chosen, tuple(reader.bad)
            )
            done += lines
        reader.finish()

    def columns_of(self, part: RawRecords) -> tuple[Columns, dict[int, Fault]]:
        read = _read_tab_separated if self.format == "tsv" else read_json_lines
        # Bad lines may not be UTF-8.
        return read(with_empty(part.values, part.bad_rows), part.chosen)

    def digest_of(self, read: ReadRecords) -> int:
        return sum_of_hashes(read.raw.values, read.raw.first)

    def _first_lines(self, shard: Shard) -> list[bytes]:
        """The first lines of a file, except too long ones; at least one if the file has one."""
        limit = self.expected.max_line_bytes
        lines: list[bytes] = []
        size, last = 0, b""
        for chunk in read_chunks(self.stream, shard.file, HEAD_BYTES, open_anywhere):
            size += len(chunk)
            *ended, last = (last + chunk).split(b"\n")
            lines += (line for line in ended if len(line) <= limit)
            if lines and size >= HEAD_BYTES:
                return lines
            last = last[: limit + 1]
        return [*lines, last] if 0 < len(last) <= limit else lines

    def _of_header(self, shard: Shard, lines: Sequence[bytes]) -> Chosen:
        try:
            header = lines[0].decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            what = f"line 1: invalid UTF-8 at byte {error.start + 1} of the line"
            raise InputError(self.stream.told(what, shard.file.path), TO_UTF8) from error
        return self.chosen_of_fields(header.split("\t"), shard)

    def _of_objects(self, shard: Shard, lines: Sequence[bytes]) -> Chosen:
        try:
            schema = schema_of_lines(lines)
        except ValueError as error:
            what = f"none of the first lines is a record: line 1: {error}"
            remedy = "each line must be a JSON object; jq -c '.[]' FILE makes lines of a list"
            raise InputError(self.stream.told(what, shard.file.path), remedy) from error
        return self.chosen(schema, shard)


def _read_tab_separated(
    lines: pa.LargeStringArray, chosen: Chosen
) -> tuple[Columns, dict[int, Fault]]:
    fields = len(chosen.fields)
    numbers = list(dict.fromkeys(int(path.steps[0]) for path in chosen.columns))
    found = split_values(lines, fields, numbers)
    counts = zip(found.wrong.tolist(), found.counts.tolist(), strict=True)
    faults = {row: _wrong_number(count, fields) for row, count in counts}
    by_number = dict(zip(numbers, found.columns, strict=True))
    return {path: by_number[int(path.steps[0])] for path in chosen.columns}, faults


def _wrong_number(fields: int, count: int) -> Fault:
    has = "1 field" if fields == 1 else f"{fields} fields"
    return Fault(
        None,
        "wrong-number-of-fields",
        f"has {has}, and the first line has {count}",
        "each line must have the same number of fields; quotes have no meaning",
    )
