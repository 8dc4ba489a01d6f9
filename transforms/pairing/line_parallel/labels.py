"""Labels of line-parallel text: a line of a file has the labels of a segment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.line_ends import without_returns
from beam_bleu.transforms.pairing.lines.line_reader import LineReader


@dataclasses.dataclass(frozen=True)
class LabelStream:
    """A stream whose line i has labels of segment i.

    Attributes:
      names: the names of the labels. If there are several, each line has a value for each one,
        with tabs between them. If there is one, tabs are text.
      stream: the stream.
      domain_first: whether each line may have a domain before its only label, with a tab between
        them, as in the files of mt-metrics-eval. The domain is not read.
    """

    names: tuple[str, ...]
    stream: Stream
    domain_first: bool = False

    def columns(
        self, lines: pa.LargeStringArray, reader: LineReader
    ) -> tuple[pa.DictionaryArray, ...]:
        """The labels of the lines that a reader gave last, a column for each name.

        A carriage return at the end of a line is no part of a label (`lines/line_ends.py`). Lines
        with another number of fields are added to the reader's bad lines. The labels of bad lines
        have no meaning.
        """
        encoded = reader.good(lines).dictionary_encode()
        values = without_returns(encoded.dictionary)
        names = len(self.names)
        if names == 1 and not self.domain_first:
            return (pa.DictionaryArray.from_arrays(encoded.indices, values),)
        fields = pc.count_substring(values, "\t").to_numpy() + 1
        is_wrong = fields > 2 if self.domain_first else fields != names
        if is_wrong.any():
            of_rows = encoded.indices.to_numpy()
            rows = np.flatnonzero(is_wrong[of_rows]).tolist()
            has = ["1 field" if n == 1 else f"{n} fields" for n in fields[of_rows[rows]].tolist()]
            reader.refuse_fields(lines, rows, *self._wrong(has))
            no_labels = pa.scalar("\t" * (names - 1), values.type)
            values = pc.if_else(pa.array(is_wrong), no_labels, values)
        if self.domain_first:
            values = pc.replace_substring_regex(values, r"^[^\t]*\t", "")
            return (pa.DictionaryArray.from_arrays(encoded.indices, values),)
        parts = pc.split_pattern(values, "\t")
        return tuple(
            pa.DictionaryArray.from_arrays(encoded.indices, pc.list_element(parts, place))
            for place in range(names)
        )

    def _wrong(self, has: Sequence[str]) -> tuple[list[str], str]:
        """What is wrong with lines that have these numbers of fields, and what to do."""
        if self.domain_first:
            return (
                [f"has {each}, and a line of documents has 1 or 2" for each in has],
                "each line must have the name of a document, or a domain and a name with a tab "
                "between them",
            )
        names = len(self.names)
        return (
            [f"has {each}, and --labels names {names} labels" for each in has],
            f"each line must have {names} labels with a tab between them; a label may be empty",
        )
