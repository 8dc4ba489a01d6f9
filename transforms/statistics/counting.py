"""Counts the segments of a batch: the columns of each metric, and what all metrics share.

Compiled code releases the interpreter's lock, so several threads can count at the same time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.metric import Metric, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers, Sums
from beam_bleu.transforms.native.text_columns import (
    Spans,
    TextColumns,
    TextSizes,
    find_sizes,
    padded,
    padded_texts,
)
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup, SegmentBatch
from beam_bleu.transforms.pairing.canonical import nulls
from beam_bleu.transforms.statistics.signs import Signs, find_signs, no_signs
from beam_bleu.transforms.text.splitting import changed_alike, splittable
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import EXAMPLES_OF_CODES, TokenizerName, tokenizer_of


@dataclasses.dataclass(frozen=True)
class BatchStatistics:
    """The statistics of a batch of segments, for every system and one or more metrics.

    Attributes:
      counts: for each metric int64 (systems, segments, W), its columns.
      reference_counts: int64 (segments,), the references that are not missing.
      candidate_bytes, reference_bytes: int64 (systems, segments) and (segments,).
      lengths: for each metric int64 (segments,), the average length of the references of each
        segment, rounded down; empty if no slices need them.
      picked: the segments that were picked to be shown with their texts.
    """

    counts: tuple[Integers, ...]
    reference_counts: Integers
    candidate_bytes: Integers
    reference_bytes: Integers
    signs: Signs
    systems: tuple[str, ...]
    numbers: Integers | None = None
    groups: tuple[RowGroup, ...] = ALL_ROWS
    labels: tuple[pa.DictionaryArray, ...] = ()
    lengths: tuple[Integers, ...] = ()
    kept: Mapping[str, pa.LargeStringArray] = dataclasses.field(default_factory=dict)
    texts: SegmentBatch | None = None
    picked: Sums | None = None

    def __len__(self) -> int:
        return len(self.reference_counts)

    def rows(self, place: int) -> Integers:
        return self.counts[place].reshape(-1, self.counts[place].shape[2])

    @property
    def nbytes(self) -> int:
        arrays = (*self.counts, self.reference_counts, self.candidate_bytes, self.reference_bytes)
        columns = (*arrays, *self.signs, *self.kept.values())
        texts = 0 if self.texts is None else self.texts.nbytes
        return sum(int(column.nbytes) for column in columns) + texts


@dataclasses.dataclass(frozen=True)
class SegmentLabel:
    name: str
    position: int


def segment_name(batch: SegmentBatch, row: int) -> str:
    """The name of a segment for messages. Numbers begin with 1, like lines in editors."""
    return "a segment" if batch.numbers is None else f"segment {batch.numbers[row] + 1}"


def require_documents(batch: SegmentBatch, label: SegmentLabel) -> None:
    """Checks that each segment has a document: segments without one have nothing in common."""
    rows = np.flatnonzero(nulls(batch.labels[label.position].indices))
    if not len(rows):
        return
    row = int(rows[0])
    raise InputError(
        f"{segment_name(batch, row)} has no document in {label.name}{_place(batch, label, row)}",
        "each segment needs the name of its document; give a segment that belongs to none a "
        "document of its own",
    )


def rows_by_tokenizer(batch: SegmentBatch, label: SegmentLabel) -> dict[TokenizerName, Integers]:
    """The rows of each tokenizer, ascending; none for a batch without segments."""
    languages = batch.labels[label.position]
    indexes = languages.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    _, first_rows = np.unique(indexes, return_index=True)
    by_tokenizer: dict[TokenizerName, list[int]] = {}
    # In the order of the rows, so that the message is about the first wrong one.
    for row in np.sort(first_rows).tolist():
        code = languages[row].as_py()
        by_tokenizer.setdefault(_tokenizer(code, batch, row, label), []).append(indexes[row])
    if len(by_tokenizer) <= 1:
        return dict.fromkeys(by_tokenizer, np.arange(len(batch)))
    return {
        tokenizer: np.flatnonzero(np.isin(indexes, of_tokenizer))
        for tokenizer, of_tokenizer in by_tokenizer.items()
    }


def _tokenizer(
    code: str | None, batch: SegmentBatch, row: int, label: SegmentLabel
) -> TokenizerName:
    segment, place = segment_name(batch, row), _place(batch, label, row)
    try:
        if code is not None:
            return tokenizer_of(code)
        cause = f"{segment} has no language in {label.name}{place}"
    except ValueError as error:
        cause = f"{segment}: {label.name}: {error}{place}"
    raise InputError(cause, f"each segment needs in {label.name} {EXAMPLES_OF_CODES}")


def _place(batch: SegmentBatch, label: SegmentLabel, row: int) -> str:
    return f": {batch.label_places[label.position].of(row)}" if batch.label_places else ""


class PreparedBatch:
    """A batch whose texts are prepared once for all metrics. Not for several threads at once. With
    `languages`, the language of a segment chooses the tokenizer; all other steps are the same.
    """

    def __init__(self, batch: SegmentBatch, languages: SegmentLabel | None = None) -> None:
        self.batch = batch
        self._languages = languages
        self.texts = TextColumns(
            padded(column) for column in (*batch.references, *batch.candidates)
        )
        if not self.texts.columns:
            zeros = np.zeros((len(batch.systems), len(batch)), np.int64)
            self.sizes = find_sizes(Spans(zeros, zeros), 0)
        else:
            self.sizes = find_sizes(self.texts.spans, len(batch.references))
            if self.sizes.bare_row >= 0:
                raise InputError(
                    f"{segment_name(batch, self.sizes.bare_row)} has no reference",
                    "give every segment one or more references (an empty string is one)",
                )
        self._changed: dict[Text, tuple[TextColumns, TextSizes]] = {}

    def count(self, counted: Sequence[tuple[Text, Metric]]) -> BatchStatistics:
        batch, references = self.batch, len(self.batch.references)
        if self.texts.columns:
            signs = find_signs(self.texts.spans, references, batch.references_per_line)
        else:
            signs = no_signs(len(batch.systems), references, len(batch))
        return BatchStatistics(
            counts=tuple(self.counts(text, metric) for text, metric in counted),
            reference_counts=self.sizes.reference_counts,
            candidate_bytes=self.sizes.candidate_bytes,
            reference_bytes=self.sizes.reference_bytes,
            signs=signs,
            systems=batch.systems,
            numbers=batch.numbers,
            groups=batch.groups,
            labels=batch.labels,
            kept=batch.kept,
        )

    def counts(self, text: Text, metric: Metric) -> Integers:
        if metric.needs.roles and not self.batch.candidates:
            raise InputError("the segments have no texts", "read the texts of the segments, too")
        for value in metric.needs.values:
            if value not in self.batch.values:
                raise InputError(
                    f"the segments have no numbers of the column {value.column}",
                    "read them from records, with the names of the columns of numbers",
                )
        if self._languages is not None:
            rows = rows_by_tokenizer(self.batch, self._languages)
            if metric.is_tokenized:
                return self._counts_by_tokenizer(rows, text, metric)
        return self._counts(text, metric)

    def _counts_by_tokenizer(
        self, rows: Mapping[TokenizerName, Integers], text: Text, metric: Metric
    ) -> Integers:
        if len(rows) <= 1:  # a batch without segments has no language
            only = next(iter(rows), text.tokenize)
            return self._counts(dataclasses.replace(text, tokenize=only), metric)
        batch = self.batch
        counts = np.empty((len(batch.systems), len(batch), metric.basis.width), np.int64)
        for tokenizer, of_part in rows.items():
            part = PreparedBatch(batch.taken(of_part))
            own_text = dataclasses.replace(text, tokenize=tokenizer)
            counts[:, of_part] = part.counts(own_text, metric)
        return counts

    def _counts(self, text: Text, metric: Metric) -> Integers:
        if not metric.needs.roles:
            return metric.count(ReadyTexts(self.batch, text, self.texts.spans, self.sizes))
        return _checked_counts(metric, self.ready(text))

    def ready(self, text: Text) -> ReadyTexts:
        """The texts, ready to be split into tokens. They live as long as this object."""
        alike = changed_alike(text)
        changed = self._changed.get(alike)
        if changed is None:
            reference_count = len(self.batch.references)
            texts, sizes = splittable(self.texts, text, reference_count), self.sizes
            if texts is not self.texts:
                sizes = find_sizes(texts.spans, reference_count)
            changed = self._changed[alike] = texts, sizes
        texts, sizes = changed
        return ReadyTexts(self.batch, text, texts.spans, sizes)


def count_batch(batch: SegmentBatch, text: Text, metric: Metric) -> BatchStatistics:
    return PreparedBatch(batch).count([(text, metric)])


def count_all_pairs(
    column: pa.LargeStringArray, text: Text, metric: Metric
) -> Iterator[tuple[slice, Integers]]:
    """Counts each text of a padded column without nulls against every one as its reference; yields
    (the rows that are references, the columns of all texts, int64 (texts, references, W)).
    """
    count = len(column)
    prepared = PreparedBatch(SegmentBatch(candidates=(column,), references=(column,)))
    spans, rows = prepared.ready(text).spans, max(_MOST_PAIRS // count, 1)
    for first in range(0, count, rows):
        part = slice(first, first + rows)
        starts, ends = (
            np.concatenate([places[:1, part], np.repeat(places[1:].T, len(column[part]), axis=1)])
            for places in (spans.starts, spans.ends)
        )
        batch = SegmentBatch(candidates=(column[part],) * count, references=(column[part],))
        crossed = Spans(starts, ends)
        ready = ReadyTexts(batch, text, crossed, find_sizes(crossed, 1))
        yield part, _checked_counts(metric, ready)


_MOST_PAIRS = 1 << 18
"""How many pairs of texts are counted at a time, but at least those of one reference."""


def _checked_counts(metric: Metric, texts: ReadyTexts) -> Integers:
    sizes = texts.sizes
    if sizes.longest > metric.most_bytes:
        raise InputError(
            f"{segment_name(texts.batch, sizes.longest_row)} has {sizes.longest} bytes of text; "
            f"{metric.most_bytes} is the most",
            "check that the lines end with a newline",
        )
    return metric.count(texts)


def prepare_counting(text: Text, metric: Metric) -> None:
    """Prepares this process for its first batch: loads or compiles code, and loads libraries."""
    column = padded_texts(["a"])
    values = {value: np.zeros((1, 1)) for value in metric.needs.values}
    batch = SegmentBatch(candidates=(column,), references=(column,), values=values)
    count_batch(batch, text, metric)
