"""A corpus of line-parallel text: its streams, its plan, and how its portions are read in lockstep.

A compressed file cannot be cut, and decompressing it takes about as long as scoring its text on two
cores. So a compressed corpus can be one portion of whole files, whose lines are counted while they
are scored, unless counting them first lets several workers score.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.pairing.batch import Places, SegmentBatch, even_rows
from beam_bleu.transforms.pairing.canonical import label_column
from beam_bleu.transforms.pairing.files.chunks import Open
from beam_bleu.transforms.pairing.files.path_labels import PathLabel
from beam_bleu.transforms.pairing.files.streams import Shard, Stream, changed, compression
from beam_bleu.transforms.pairing.lines.correspondence import (
    Cuts,
    Expected,
    nul_notices,
    order_notes,
)
from beam_bleu.transforms.pairing.lines.line_counting import (
    USUAL_RANGE,
    LineCounts,
    range_bytes_for,
)
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import Piece, Plan, Portion, make_plan
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, sum_of_hashes
from beam_bleu.transforms.pairing.paired import (
    REJECTED,
    BadRecord,
    Digests,
    FoundBad,
    FoundInput,
    FoundSegments,
    InputFile,
    InputRole,
    OnBadRecord,
    Tally,
    bad_records_error,
)


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Line i of each stream belongs to segment i. Tabs divide references if `num_refs` is not 1."""

    systems: tuple[str, ...]
    candidates: tuple[Stream, ...]
    references: tuple[Stream, ...]
    range_bytes: int | None = None
    expected: Expected = dataclasses.field(default_factory=Expected)
    num_refs: int = 1
    label_streams: tuple[LabelStream, ...] = ()
    on_bad_record: OnBadRecord = "fail"
    path_labels: tuple[PathLabel, ...] = ()
    kept_labels: tuple[tuple[str, str], ...] = ()
    keeps_texts: bool = False
    is_of_lines: ClassVar[bool] = True

    @property
    def labels(self) -> tuple[str, ...]:
        of_streams = itertools.chain.from_iterable(stream.labels for stream in self.label_streams)
        return (*of_streams, *(label.name for label in self.path_labels))

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.kept_labels)

    @property
    def inputs(self) -> tuple[Stream, ...]:
        labels = (labels_of.stream for labels_of in self.label_streams)
        return (*self.candidates, *self.references, *labels)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.expected.notes

    @property
    def rejects(self) -> bool:
        return self.on_bad_record == "reject"

    @property
    def longest_counted(self) -> int | None:
        """The most bytes of a line when lines are counted; rejected lines may have any."""
        return None if self.rejects else self.expected.max_line_bytes

    def planned(self, counts: Sequence[LineCounts], describe: bool) -> tuple[Plan, FoundSegments]:
        notices = nul_notices(self.inputs, counts)
        plan = make_plan(self.inputs, counts, self.expected.cuts)
        self.expected.require_segments(plan.segments)
        inputs = self._described(plan) if describe else ()
        notes = (*self.notes, *order_notes(self.inputs, plan.shards))
        return plan, FoundSegments(plan.segments, notices, notes, inputs, self.systems)

    def _described(self, plan: Plan) -> tuple[FoundInput, ...]:
        roles: list[tuple[InputRole, str | None, tuple[str, ...]]] = [
            *(("candidates", system, ()) for system in self.systems),
            *(("references", None, ()) for _ in self.references),
            *(("labels", None, stream.names) for stream in self.label_streams),
        ]
        inputs = []
        for number, ((role, system, names), stream) in enumerate(
            zip(roles, self.inputs, strict=True)
        ):
            described = zip(
                plan.shards[number], plan.lines[number], plan.versions[number], strict=True
            )
            files = tuple(InputFile.of(stream, *of_file) for of_file in described)
            inputs.append(FoundInput(role, system, stream.shown(stream.pattern), files, names))
        return tuple(inputs)


@dataclasses.dataclass(frozen=True)
class LabelStream:
    """A stream whose line i has labels of segment i, with tabs between them. With `domain_first`, a
    domain and a tab may come before the only label (mt-metrics-eval). `only_kept` are no labels.
    """

    names: tuple[str, ...]
    stream: Stream
    domain_first: bool = False
    only_kept: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in self.only_kept)

    def columns(self, lines: pa.LargeStringArray, reader: LineReader) -> dict[str, pa.Array]:
        """A dictionary column for each name, of the lines that a reader gave last."""
        encoded = reader.good(lines).dictionary_encode()
        # The different lines, without a carriage return at the end.
        values = pc.replace_substring_regex(encoded.dictionary, r"\r\z", "")
        columns = [values]
        names = len(self.names)
        if names > 1 or self.domain_first:
            fields = pc.count_substring(values, "\t").to_numpy() + 1
            is_wrong = fields > 2 if self.domain_first else fields != names
            if is_wrong.any():
                of_rows = fields[encoded.indices.to_numpy()]
                rows = np.flatnonzero(is_wrong[encoded.indices.to_numpy()]).tolist()
                if self.domain_first:
                    need = "each line must have a document, or a domain, a tab and a document"
                else:
                    need = (
                        f"each line must have {names} labels ({', '.join(self.names)}) with a tab "
                        "between them; a label may be empty"
                    )
                has = [f"has {n} field{'s'[: n != 1]}" for n in of_rows[rows].tolist()]
                reader.refuse_fields(lines, rows, has, need)
                no_labels = pa.scalar("\t" * (names - 1), values.type)
                values = pc.if_else(pa.array(is_wrong), no_labels, values)
            if self.domain_first:
                columns = [pc.replace_substring_regex(values, r"^[^\t]*\t", "")]
            else:
                parts = pc.split_pattern(values, "\t")
                columns = [pc.list_element(parts, place) for place in range(names)]
        return {
            name: pa.DictionaryArray.from_arrays(encoded.indices, column)
            for name, column in zip(self.names, columns, strict=True)
        }


ENDLESS = 1 << 62  # the number of lines of a file whose lines are not counted yet

# Several shards are read only once if they have at most this many ranges (a few seconds).
_MOST_RANGES = 4


class PortionReading:
    """Reads the lines of a portion from all streams in lockstep, as batches. Mutable."""

    def __init__(
        self,
        corpus: Corpus,
        portion: Portion,
        open_file: Open,
        texts: Sequence[Iterable[bytes]] | None = None,
        *,
        describe: bool,
    ) -> None:
        self._corpus = corpus
        self._portion = portion
        self._describe = describe
        self._streams = corpus.inputs
        # The number of fields in the lines of each stream of texts.
        self._fields = [1] * len(corpus.candidates) + [corpus.num_refs] * len(corpus.references)
        texts_of_streams: Sequence[Iterable[bytes] | None] = texts or [None] * len(self._streams)
        longest = corpus.expected.max_line_bytes
        self._readers = [
            LineReader(stream, pieces, open_file, longest, portion.first_line, text)
            for stream, pieces, text in zip(
                self._streams, portion.pieces, texts_of_streams, strict=True
            )
        ]
        self._bad = FoundBad()
        self.lines = 0
        self.digests = Digests(0, ((METHOD, 0),) * len(self._readers))

    def batches(self) -> Iterator[tuple[SegmentBatch | None, Sequence[BadRecord]]]:
        """The batches, each with the bad lines among its lines, if they are rejected."""
        rows = even_rows(self._portion.lines, sum(self._fields))
        rejects = self._corpus.rejects
        while self.lines < self._portion.lines:
            lines = min(rows, self._portion.lines - self.lines)
            for reader in self._readers:  # one that has fewer lines makes the others read fewer
                lines = reader.available(lines)
            if not lines:
                break
            batch = self._take(lines)
            self.lines += lines
            records = (record for reader in self._readers for record in reader.bad)
            bad = sorted(records, key=operator.attrgetter("number"))
            if bad:
                before = self._portion.first_line + self.lines - lines
                numbers = [record.number - before for record in bad]
                batch = batch.taken(np.delete(np.arange(lines), numbers))
                self._bad.add(bad, lines - len(batch))
            # After a bad line without "reject", the other lines are read only to count bad ones.
            is_wanted = len(batch) and (rejects or not self._bad.segments)
            yield batch if is_wanted else None, bad if rejects else ()
        if self._bad.segments and not rejects:
            raise bad_records_error(self._bad.first, self._bad.segments, self.lines)

    def _take(self, lines: int) -> SegmentBatch:
        first_line = self._portion.first_line + self.lines
        taken = [reader.take(lines) for reader in self._readers]
        if self._describe:
            sums = tuple((METHOD, sum_of_hashes(column, first_line)) for column in taken)
            self.digests += Digests(lines, sums)
        texts = len(self._fields)  # the streams of texts; those of labels come after them
        columns = [
            column
            for reader, lines_of_stream, fields in zip(
                self._readers[:texts], taken[:texts], self._fields, strict=True
            )
            for column in reader.split(lines_of_stream, fields)
        ]
        label_readers = self._readers[texts:]
        values: dict[str, pa.Array] = {}
        for stream, column, reader in zip(
            self._corpus.label_streams, taken[texts:], label_readers, strict=True
        ):
            values |= stream.columns(column, reader)
        labels = (values[name] for stream in self._corpus.label_streams for name in stream.labels)
        label_places = (
            itertools.repeat(reader.places(np.arange(lines)), len(stream.labels))
            for stream, reader in zip(self._corpus.label_streams, label_readers, strict=True)
        )
        of_paths, places_of_paths = self._labels_of_paths(lines)
        systems = len(self._corpus.systems)
        return SegmentBatch(
            tuple(columns[:systems]),
            tuple(columns[systems:]),
            np.arange(first_line, first_line + lines),
            references_per_line=self._corpus.num_refs,
            systems=self._corpus.systems,
            labels=tuple(map(label_column, (*labels, *of_paths))),
            label_places=(*itertools.chain.from_iterable(label_places), *places_of_paths),
            kept={
                name: values[label].cast(pa.large_string())
                for name, label in self._corpus.kept_labels
            },
        )

    def _labels_of_paths(self, lines: int) -> tuple[list[pa.DictionaryArray], list[Places]]:
        wanted = self._corpus.path_labels
        if not wanted:
            return [], []
        streams = self._streams[: len(self._fields)]  # those of texts
        places = [reader.places(np.arange(lines)) for reader in self._readers[: len(streams)]]
        files = np.stack([of_stream.paths.indices.to_numpy() for of_stream in places])
        different, rows = np.unique(files, axis=1, return_inverse=True)
        paths = [of_stream.paths.dictionary.to_pylist() for of_stream in places]
        of_rows = [
            [
                (stream.label, paths[number][file])
                for number, (stream, file) in enumerate(zip(streams, column, strict=True))
            ]
            for column in different.T.tolist()
        ]
        indices = pa.array(rows.reshape(-1), pa.int32())
        columns = []
        for label in wanted:
            values = pa.array([label.agreed(row) for row in of_rows], pa.large_string())
            columns.append(pa.DictionaryArray.from_arrays(indices, values))
        return columns, [places[0]] * len(wanted)

    def ended(self) -> Iterator[tuple[Stream, Sequence[Piece]]]:
        """Each stream with its pieces, after a check that they have no more lines."""
        for stream, reader, pieces in zip(
            self._streams, self._readers, self._portion.pieces, strict=True
        ):
            if self._portion.lines == ENDLESS and reader.available(1):
                raise changed(stream, pieces[0].file.path, "has more lines than another stream")
            reader.finish()
            yield stream, pieces

    @property
    def tally(self) -> Tally:
        bad = self._bad
        scored = dict.fromkeys(self._corpus.systems, self.lines - bad.segments)
        left_out = {REJECTED: bad.segments} if bad.segments else {}
        return Tally(self.lines, scored, left_out, bad_records=bad.records)


@dataclasses.dataclass(frozen=True)
class WholeFiles:
    """Files that are read in lockstep, shard by shard: each stream has as many shards."""

    shards: tuple[tuple[Shard, ...], ...]
    range_bytes: int

    @property
    def bytes(self) -> int:
        return sum(shard.file.size for of_stream in self.shards for shard in of_stream)


def read_once(
    shards: Sequence[Sequence[Shard]], range_bytes: int | None, cuts: Cuts
) -> WholeFiles | None:
    files = list(itertools.chain.from_iterable(shards))
    if not any(compression(shard.file.path) for shard in files):
        return None
    size = sum(shard.file.size for shard in files)
    most = _MOST_RANGES * (range_bytes or USUAL_RANGE)
    counts = {len(of_stream) for of_stream in shards}
    corresponding = cuts == "same" and len(counts) == 1 and size <= most
    if counts != {1} and not corresponding:
        return None
    return WholeFiles(tuple(map(tuple, shards)), range_bytes or range_bytes_for(size))
