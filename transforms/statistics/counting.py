"""Counts the segments of a batch: what is the same for every metric, and the metric's columns.

Other rooms call `count_batch` for one metric, or make a `PreparedBatch` for several. Compiled code
releases the interpreter's lock, so several threads can count at the same time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import Spans, TextColumns, padded, padded_texts
from beam_bleu.transforms.native.text_sizes import TextSizes, find_sizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.signs import BatchSigns, find_signs
from beam_bleu.transforms.text.splitting import changed_alike, splittable
from beam_bleu.transforms.text.text import Text


class PreparedBatch:
    """A batch whose texts are prepared once for all metrics. One thread uses it at a time.

    Attributes:
      batch: the segments; each has at least one reference, or no segment has texts.
    """

    def __init__(self, batch: SegmentBatch) -> None:
        self.batch = batch
        self._original: _Original | None = None
        self._changed: dict[Text, tuple[TextColumns, TextSizes]] = {}

    def count(self, text: Text, metric: Metric) -> BatchStatistics:
        """Counts every segment, for every system.

        Args:
          text: the steps from a text to its tokens.
          metric: what is counted.

        Raises:
          InputError: a segment has no reference, or 2 GiB of text or more, or the tokenizer
            cannot tokenize it; or the batch lacks what is counted.
        """
        _require_needed(self.batch, metric)
        if self._original is None:  # not before, because a batch of several languages needs none
            self._original = _Original.of(self.batch)
        sizes = self._original.sizes
        changed, changed_sizes = self._original.texts, sizes
        if metric.needs.roles:
            changed, changed_sizes = self._ready(self._original, text)
        counts = _counts(metric, changed.spans, changed_sizes, self.batch, text)
        return BatchStatistics(
            counts=counts,
            empty_candidates=metric.empty_candidates(counts),
            reference_counts=sizes.reference_counts,
            candidate_bytes=sizes.candidate_bytes,
            reference_bytes=sizes.reference_bytes,
            signs=self._original.signs,
            systems=self.batch.systems,
            numbers=self.batch.numbers,
            groups=self.batch.groups,
            labels=self.batch.labels,
            kept=self.batch.kept,
        )

    def spans(self, text: Text) -> Spans:
        """Where the texts are that are ready to be split, as long as this object exists.

        Raises:
          InputError: the tokenizer cannot tokenize a text.
        """
        if self._original is None:
            self._original = _Original.of(self.batch)
        texts, _ = self._ready(self._original, text)
        return texts.spans

    def _ready(self, original: _Original, text: Text) -> tuple[TextColumns, TextSizes]:
        """The texts that are ready to be split, and their sizes."""
        alike = changed_alike(text)
        changed = self._changed.get(alike)
        if changed is None:
            reference_count = len(self.batch.references)
            texts, sizes = splittable(original.texts, text, reference_count), original.sizes
            if texts is not original.texts:
                sizes = find_sizes(texts.spans, reference_count)
            changed = self._changed[alike] = texts, sizes
        return changed


@dataclasses.dataclass(frozen=True, eq=False)
class _Original:
    """What is known of the texts of a batch before any step changes them.

    Attributes:
      texts: the padded texts; references come first.
      sizes: their sizes.
      signs: the signs of suspicious input.
    """

    texts: TextColumns
    sizes: TextSizes
    signs: BatchSigns

    @classmethod
    def of(cls, batch: SegmentBatch) -> _Original:
        """Those of a batch.

        Raises:
          InputError: a segment has texts, but no reference.
        """
        reference_count = len(batch.references)
        texts = TextColumns(padded(column) for column in (*batch.references, *batch.candidates))
        sizes = _sizes(batch, texts)
        signs = (
            find_signs(texts.spans, reference_count, batch.references_per_line)
            if texts.columns
            else BatchSigns.none(len(batch.systems), reference_count, len(batch))
        )
        return cls(texts, sizes, signs)


def count_batch(batch: SegmentBatch, text: Text, metric: Metric) -> BatchStatistics:
    """Counts every segment of a batch for one metric; see `PreparedBatch.count`."""
    return PreparedBatch(batch).count(text, metric)


def count_all_pairs(
    column: pa.LargeStringArray, text: Text, metric: Metric
) -> Iterator[tuple[slice, BatchStatistics]]:
    """Counts each text of a column with each text of it as its reference.

    Each text is prepared once, as a candidate and as a reference.

    Args:
      column: N padded texts, without nulls.
      text: the steps from a text to its tokens.
      metric: one of texts.

    Yields:
      (the texts that are references, the statistics): segment k has reference k of these, and the
      systems are all N texts.
    """
    count = len(column)
    prepared = PreparedBatch(SegmentBatch(candidates=(column,), references=(column,)))
    spans, rows = prepared.spans(text), max(_MOST_PAIRS // count, 1)
    for first in range(0, count, rows):
        part = slice(first, first + rows)
        starts, ends = (
            np.concatenate([places[:1, part], np.repeat(places[1:].T, len(column[part]), axis=1)])
            for places in (spans.starts, spans.ends)
        )
        batch = SegmentBatch(candidates=(column[part],) * count, references=(column[part],))
        crossed = Spans(starts, ends, (starts, ends))
        sizes = find_sizes(crossed, 1)
        yield (
            part,
            BatchStatistics(
                counts=_counts(metric, crossed, sizes, batch, text),
                reference_counts=sizes.reference_counts,
                candidate_bytes=sizes.candidate_bytes,
                reference_bytes=sizes.reference_bytes,
                signs=BatchSigns.none(count, 1, len(batch)),
                systems=batch.systems,
            ),
        )


_MOST_PAIRS = 1 << 18
"""How many pairs of texts are counted at a time, if there are more references than one."""


def _require_needed(batch: SegmentBatch, metric: Metric) -> None:
    """Checks that a batch has what is counted.

    Raises:
      InputError: it has not.
    """
    if metric.needs.roles and not batch.candidates:
        raise InputError("the segments have no texts", "read the texts of the segments, too")
    for value in metric.needs.values:
        if value not in batch.values:
            raise InputError(
                f"the segments have no numbers of the column {value.column}",
                "read them from records, with the names of the columns of numbers",
            )


def _sizes(batch: SegmentBatch, texts: TextColumns) -> TextSizes:
    """The sizes of the texts of a batch.

    Raises:
      InputError: a segment has texts, but no reference.
    """
    if not texts.columns:
        return TextSizes.none(len(batch.systems), len(batch))
    sizes = find_sizes(texts.spans, len(batch.references))
    if sizes.bare_row >= 0:
        raise InputError(
            f"{segment_name(batch, sizes.bare_row)} has no reference",
            "give every segment one or more references (an empty string is one)",
        )
    return sizes


def _counts(
    metric: Metric, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """What `Metric.count` gives.

    Raises:
      InputError: a segment is too long for the metric.
    """
    if sizes.longest > metric.most_bytes:
        raise InputError(
            f"{segment_name(batch, sizes.longest_row)} has {sizes.longest} bytes of text; "
            f"{metric.most_bytes} is the most",
            "check that the lines end with a newline",
        )
    return metric.count(spans, sizes, batch, text)


def segment_name(batch: SegmentBatch, row: int) -> str:
    """The name of a segment for messages. Numbers begin with 1, like lines in editors."""
    return "a segment" if batch.numbers is None else f"segment {batch.numbers[row] + 1}"


def prepare_counting(text: Text, metric: Metric) -> None:
    """Prepares this process for its first batch. A second call does nothing.

    It compiles the code that counts or loads it from the cache, and loads the tokenizer's library,
    dictionary and model.

    Raises:
      JobError: the library of the tokenizer is missing.
      InputError: the tokenizer's model is not a SentencePiece model.
    """
    column = padded_texts(["a"])
    values = {value: np.zeros((1, 1)) for value in metric.needs.values}
    batch = SegmentBatch(candidates=(column,), references=(column,), values=values)
    count_batch(batch, text, metric)
