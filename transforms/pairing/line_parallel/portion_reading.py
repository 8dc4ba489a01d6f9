"""Reads the lines of a portion in lockstep: line i of each stream goes to segment i.

A compressed corpus can be one portion of whole files, which one worker reads once, from beginning
to end. A compressed file cannot be cut, and decompressing it takes about as long as scoring its
text on two cores. So its lines are not counted before they are scored, unless this lets several
workers score.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.pairing.bad_records import BadRecord, FoundBad, bad_records_error
from beam_bleu.transforms.pairing.batch import Places, SegmentBatch, even_rows
from beam_bleu.transforms.pairing.canonical import label_column
from beam_bleu.transforms.pairing.files.chunks import Open
from beam_bleu.transforms.pairing.files.streams import Shard, Stream, changed, compression
from beam_bleu.transforms.pairing.line_parallel.corpus import Corpus
from beam_bleu.transforms.pairing.lines.correspondence import Cuts
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import Piece, Portion
from beam_bleu.transforms.pairing.lines.ranges import (
    USUAL_RANGE,
    range_bytes_for,
)
from beam_bleu.transforms.pairing.lines.text_digest import LineDigests
from beam_bleu.transforms.pairing.tally import REJECTED, Tally

ENDLESS = 1 << 62
"""The number of lines of a file whose lines are not counted yet."""

_MOST_RANGES = 4
"""The most ranges, of the usual size, of a corpus with several shards that is read once.

One worker reads this in a few seconds, so several would gain little.
"""


class PortionReading:
    """Reads a portion. Mutable.

    Attributes:
      lines: the number of lines that are read.
      digests: of these lines, for each of the corpus's inputs.
    """

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
        # How many fields the lines of each stream of texts have.
        self._fields = [1] * len(corpus.candidates) + [corpus.num_refs] * len(corpus.references)
        texts_of_streams: Sequence[Iterable[bytes] | None] = texts or [None] * len(self._streams)
        longest = corpus.expected.max_line_bytes
        self._readers = [
            LineReader(stream, pieces, open_file, longest, portion.first_line, text)
            for stream, pieces, text in zip(
                self._streams, portion.pieces, texts_of_streams, strict=True
            )
        ]
        self._found = FoundBad()
        self.lines = 0
        self.digests = LineDigests.zero(len(self._readers))

    def batches(self) -> Iterator[tuple[SegmentBatch | None, Sequence[BadRecord]]]:
        """The segments, each batch with the bad lines among its lines, if they are rejected."""
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
                batch = batch.without({record.number for record in bad})
                self._found.add(bad, lines - len(batch))
            # After a bad line without "reject", the other lines are read only to count bad ones.
            is_wanted = len(batch) and (rejects or not self._found.segments)
            yield batch if is_wanted else None, bad if rejects else ()
        if self._found.segments and not rejects:
            raise bad_records_error(self._found.first, self.lines, self._found.segments)

    def _take(self, lines: int) -> SegmentBatch:
        first_line = self._portion.first_line + self.lines
        taken = [reader.take(lines) for reader in self._readers]
        if self._describe:
            self.digests += LineDigests.of(taken, first_line)
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
            itertools.repeat(reader.places(lines), len(stream.labels))
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
        """The labels from paths of the lines that were taken last, and the places of the lines."""
        wanted = self._corpus.path_labels
        if not wanted:
            return [], []
        streams = self._streams[: len(self._fields)]  # those of texts
        places = [reader.places(lines) for reader in self._readers[: len(streams)]]
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
        bad = self._found
        scored = dict.fromkeys(self._corpus.systems, self.lines - bad.segments)
        left_out = {REJECTED: bad.segments} if bad.segments else {}
        return Tally(self.lines, scored, left_out, bad_records=bad.records)


@dataclasses.dataclass(frozen=True)
class WholeFiles:
    """A corpus whose files are read in lockstep, shard by shard.

    Attributes:
      shards: the shards of each stream, in order; each stream has as many.
      range_bytes: the largest size of a range in this corpus.
    """

    shards: tuple[tuple[Shard, ...], ...]
    range_bytes: int

    @property
    def bytes(self) -> int:
        return sum(shard.file.size for of_stream in self.shards for shard in of_stream)


def read_once(
    shards: Sequence[Sequence[Shard]], range_bytes: int | None, cuts: Cuts
) -> WholeFiles | None:
    """The corpus as whole files, or None if its lines must be counted first."""
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
