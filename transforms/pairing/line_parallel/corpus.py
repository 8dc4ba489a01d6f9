"""A corpus of line-parallel text: its streams of texts and labels, and the plan for them.

The plan comes from the counts of their lines. What must be true of the corpus is checked first.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.files.path_labels import PathLabel
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.lines.line_columns import without_returns
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.line_warnings import nul_notices
from beam_bleu.transforms.pairing.lines.plan import Plan, make_plan
from beam_bleu.transforms.pairing.lines.ranges import LineCounts
from beam_bleu.transforms.pairing.paired import FoundInput, FoundSegments, InputFile, InputRole


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Segments of several streams: line i of each stream belongs to segment i.

    Attributes:
      range_bytes: how many bytes a worker counts at a time, and about how many (of all
        streams together) it scores at a time; if None, a size that suits the corpus.
      num_refs: how many references each line of `references` has, with tabs between them; if 1,
        tabs are text.
      on_bad_record: what happens with the segment of a line that is too long, is not UTF-8, or
        has another number of references. With "reject", the segment is left out.
      path_labels: labels from the paths of the files of candidates and references. The paths that
        match must have the same value for a segment.
      kept_labels: (name, label) of each column that is kept (`SegmentBatch.kept`): a label of
        `label_streams`.
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
        """All streams, in the order of their numbers: candidates, references, labels."""
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
        """The largest number of bytes of a line when lines are counted; None: any."""
        return None if self.rejects else self.expected.max_line_bytes

    def planned(self, counts: Sequence[LineCounts], describe: bool) -> tuple[Plan, FoundSegments]:
        """The plan, and what was found, from the counts of all ranges, in any order."""
        notices = nul_notices(self.inputs, counts)
        plan = make_plan(self.inputs, counts, self.expected.cuts)
        self.expected.require_segments(plan.segments)
        inputs = self._described(plan) if describe else ()
        return plan, FoundSegments(plan.segments, notices, self.notes, inputs, self.systems)

    def _described(self, plan: Plan) -> tuple[FoundInput, ...]:
        """What was found. A pipe has its own name, not that of the temporary file."""
        roles: list[tuple[InputRole, str | None, tuple[str, ...]]] = [
            *(("candidates", system, ()) for system in self.systems),
            *(("references", None, ()) for _ in self.references),
            *(("labels", None, stream.names) for stream in self.label_streams),
        ]
        inputs = []
        for number, ((role, system, names), stream) in enumerate(
            zip(roles, self.inputs, strict=True)
        ):
            shards, lines = plan.shards[number], plan.lines[number]
            files = tuple(
                InputFile(
                    stream.shown(shard.file.path), shard.file.size, count, stream.version(version)
                )
                for shard, count, version in zip(shards, lines, plan.versions[number], strict=True)
            )
            inputs.append(FoundInput(role, system, stream.shown(stream.pattern), files, names))
        return tuple(inputs)


@dataclasses.dataclass(frozen=True)
class LabelStream:
    """A stream whose line i has labels of segment i.

    Attributes:
      names: the names of the labels. If there are several, each line has a value for each one,
        with tabs between them. If there is one, tabs are text.
      domain_first: whether each line may have a domain before its only label, with a tab between
        them, as in the files of mt-metrics-eval. The domain is not read.
      only_kept: the names that are no labels of the segments, because their values are only kept.
    """

    names: tuple[str, ...]
    stream: Stream
    domain_first: bool = False
    only_kept: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in self.only_kept)

    def columns(self, lines: pa.LargeStringArray, reader: LineReader) -> dict[str, pa.Array]:
        """The values of the lines that a reader gave last: a dictionary column for each name.

        A carriage return at the end of a line is not part of a value (`lines/line_columns.py`).
        Lines with another number of fields are added to the reader's bad lines. The values of bad
        lines have no meaning.
        """
        encoded = reader.good(lines).dictionary_encode()
        values = without_returns(encoded.dictionary)  # the different lines
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
