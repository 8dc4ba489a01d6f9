"""A corpus of line-parallel text: its streams, and what must be true of them."""

from __future__ import annotations

import dataclasses
import itertools

from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.files.path_labels import PathLabel
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.describing import candidates_first
from beam_bleu.transforms.pairing.line_parallel.labels import LabelStream
from beam_bleu.transforms.pairing.lines.expected import Expected


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Segments of several streams: line i of each stream belongs to segment i.

    Attributes:
      systems: the systems' names.
      candidates: each system's stream.
      references: the streams of references, one or more.
      range_bytes: how many bytes a worker counts at a time, and about how many (of all
        streams together) it scores at a time; if None, a size that suits the corpus.
      expected: what must be true of the corpus.
      num_refs: how many references each line of `references` has, with tabs between them; if 1,
        tabs are text.
      label_streams: the streams of labels.
      on_bad_record: what happens with the segment of a line that is too long, is not UTF-8, or
        has another number of references. With "reject", the segment is left out.
      path_labels: labels from the paths of the files of candidates and references. The paths that
        match must have the same value for a segment.
    """

    systems: tuple[str, ...]
    candidates: tuple[Stream, ...]
    references: tuple[Stream, ...]
    range_bytes: int | None = None
    expected: Expected = dataclasses.field(default_factory=Expected)
    num_refs: int = 1
    label_streams: tuple[LabelStream, ...] = ()
    on_bad_record: OnBadRecord = "fail"
    path_labels: tuple[PathLabel, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns of `SegmentBatch.labels`."""
        of_streams = itertools.chain.from_iterable(each.names for each in self.label_streams)
        return (*of_streams, *(each.name for each in self.path_labels))

    @property
    def streams(self) -> tuple[Stream, ...]:
        """All streams, in the order of their numbers: first the references, last the labels."""
        labels = (each.stream for each in self.label_streams)
        return (*self.references, *self.candidates, *labels)

    @property
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """(name in messages, path or pattern) of everything that is read."""
        streams = candidates_first(self.streams, len(self.references), len(self.candidates))
        return tuple((stream.label, stream.pattern) for stream in streams)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of the score, about checks that are switched off."""
        return self.expected.notes

    @property
    def rejects(self) -> bool:
        """Whether segments with bad lines are left out."""
        return self.on_bad_record == "reject"

    @property
    def longest_counted(self) -> int | None:
        """The largest number of bytes of a line when lines are counted; None: any."""
        return None if self.rejects else self.expected.max_line_bytes
