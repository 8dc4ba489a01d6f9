"""The kernel: from columns of text to the columns of a metric of ROUGE of every segment."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import numpy as np

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.rouge.columns import UNION
from beam_bleu.transforms.metrics.rouge.count_rows import count_rows
from beam_bleu.transforms.metrics.rouge.matching import MASK_BYTES
from beam_bleu.transforms.metrics.rouge.metric import Rouge
from beam_bleu.transforms.metrics.rouge.union import memory_bytes
from beam_bleu.transforms.metrics.rouge.words import number_words
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import LazyModule
from beam_bleu.transforms.native.kept_memory import MOST_KEPT, KeptMemory, Memory
from beam_bleu.transforms.native.memory import BLOCK
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.native.text_sizes import TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import segment_name
from beam_bleu.transforms.text.hashing import new_seed
from beam_bleu.transforms.text.numbered_texts import numbering_memory
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, most_different
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text

pc: Any = LazyModule("pyarrow.compute")  # to import it takes long

MOST_COMPARED = 2**31
"""The most lines of a reference, multiplied by the bytes of a candidate, whose sentences are
compared: each word of a candidate is compared with each line. It takes up to half a minute."""

_INT_BYTES = 8

_SEED = new_seed()

_MEMORY = KeptMemory()


@dataclasses.dataclass(frozen=True)
class _Words:
    """The words of a batch as numbers.

    Attributes:
      spans: where its texts are.
      memory: what `number_words` has written.
    """

    spans: Spans
    memory: tuple[Memory, ...]


class _LastWords(threading.local):
    """The words of the batch that a thread has counted last.

    All metrics of a run that have the same words count a batch one after the other, so that its
    words become numbers once.
    """

    words: _Words | None = None


_LAST = _LastWords()


def _words_of(spans: Spans, sizes: TextSizes, reference_count: int, rule: int) -> _Words:
    """The words of the texts at these places. The next call can write others to their memory."""
    if _LAST.words is not None and _LAST.words.spans is spans:
        return _LAST.words
    _LAST.words = None
    texts, rows = spans.starts.shape
    size = int(sizes.candidate_bytes.sum() + sizes.reference_bytes.sum())
    written = (
        _MEMORY.memory_for("bounds of rows", rows * (texts + 1) * _INT_BYTES),
        _MEMORY.memory_for("places", rows * _INT_BYTES),
        # At most one word for two bytes of a text, or one more, and a gap after each text.
        _MEMORY.memory_for(
            "numbers of rows", (size // 2 + 2 * texts * rows + BLOCK) * NUMBER_BYTES
        ),
        _MEMORY.memory_for("unread", rows),
    )
    tokens, _, _, *vocabulary = numbering_memory(_MEMORY, texts, sizes.longest)
    spaces = (tokens, *vocabulary, *written)
    addresses = tuple(space.address for space in spaces)
    number_words(spans.both, reference_count, rule, addresses, _SEED)
    words = _Words(spans, written)
    if sum(memory.size for memory in written) <= MOST_KEPT:
        _LAST.words = words
    return words


def _require_comparable(sizes: TextSizes, batch: SegmentBatch) -> None:
    """Checks that the sentences of each segment can be compared in a bounded time.

    Raises:
      InputError: a segment has too many of them.
    """
    if (sizes.longest // 2) ** 2 <= MOST_COMPARED:  # a line has at least one byte
        return
    for reference in batch.references:
        lines = pc.count_substring(reference, "\n").fill_null(0).to_numpy() + 1
        compared = (sizes.candidate_bytes * lines).max(axis=0)
        row = int(compared.argmax())
        if compared[row] > MOST_COMPARED:
            raise InputError(
                f"{segment_name(batch, row)} has a reference of {lines[row]} lines and a candidate "
                f"of {sizes.candidate_bytes[:, row].max()} bytes, too many for ROUGE-Lsum: the "
                f"product must be at most {MOST_COMPARED}",
                "score long documents by rougeL, or divide them into segments",
            )


def count(
    metric: Rouge, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """The columns of each segment, as `Metric.count` gives them."""
    texts, rows = spans.starts.shape
    counts = np.empty((len(batch.candidates), rows, metric.basis.width), np.int64)
    if metric.HIT == UNION:
        _require_comparable(sizes, batch)
    reference_count = len(batch.references)
    words = _words_of(spans, sizes, reference_count, rule_of(text.tokenize))
    most_words = sizes.longest // 2 + texts
    different = most_different(sizes.longest) + 2  # words that no reference has share a number
    sentences = (sizes.longest + 2) * _INT_BYTES if metric.HIT == UNION else 0
    spaces = (
        _MEMORY.zeros_for("times", different * NUMBER_BYTES),
        _MEMORY.zeros_for("masks", different * MASK_BYTES),
        _MEMORY.memory_for("before", most_words),
        _MEMORY.zeros_for("marks", most_words),
        _MEMORY.memory_for("sentences", sentences),
        _MEMORY.memory_for("sentences of a reference", sentences),
        _MEMORY.memory_for("rows", memory_bytes(most_words) if metric.HIT == UNION else 0),
    )
    count_rows(
        spans.both,
        reference_count,
        metric.HIT,
        tuple(memory.address for memory in words.memory),
        tuple(space.address for space in spaces),
        counts,
    )
    return counts
