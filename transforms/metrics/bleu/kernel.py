"""The kernel: from columns of text to the columns of BLEU of every segment."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    PARTS_OF_A_TOKEN,
    SHORTEST,
    bleu_basis,
    first_short,
)
from beam_bleu.transforms.metrics.bleu.count_long_row import entry_for_long_rows
from beam_bleu.transforms.metrics.bleu.count_rows import MOST_WRITTEN, count_rows
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory, Memory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.statistics import counting
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import require_countable
from beam_bleu.transforms.statistics.ngrams.long_matching import NUMBERS_BYTES
from beam_bleu.transforms.statistics.ngrams.long_slots import SPARE_NUMBERS
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.hashing import SLOT_BYTES, new_seed
from beam_bleu.transforms.text.numbering import (
    INDEX_SLOT_BYTES,
    VOCABULARY_BYTES,
    most_different,
    most_index_bits,
)
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.token_masks import KEYS_BYTES
from beam_bleu.transforms.text.tokenization import SPARE_TOKENS, TOKENS_IN_CACHE
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_FIRST_TABLE_BITS = 10

_BOUND_BYTES = 8

_SEED = new_seed()

_MEMORY = KeptMemory()


@dataclasses.dataclass(frozen=True)
class BleuCounter:
    """Counts the columns of BLEU; see `statistics.counting.Counter`.

    Attributes:
      max_order: the largest n-gram order, N.
    """

    max_order: int

    @property
    def basis(self) -> Basis:
        """The columns."""
        return bleu_basis(self.max_order)

    @property
    def needs(self) -> Needs:
        """Candidates and references."""
        return TEXTS

    @property
    def is_tokenized(self) -> bool:
        """Each language has tokens of its own."""
        return True

    def count(self, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text) -> Integers:
        """The columns of each segment, int64 (systems, segments, W)."""
        texts, rows = spans.starts.shape
        systems = len(batch.candidates)
        reference_count = texts - systems
        counts = np.empty((systems, rows, self.basis.width), np.int64)
        if not rows:
            return counts
        longest = sizes.longest
        require_countable(sizes, batch)
        memory = _memory(texts, longest)
        rule = rule_of(text.tokenize)
        bits, long_row = _FIRST_TABLE_BITS, 0
        row = 0
        while True:
            table = _MEMORY.memory_for("table", (2**bits + 1) * SLOT_BYTES)
            spaces = (*(part.address for part in memory), table.address)
            row, needed_bits = count_rows(
                row,
                spans.both,
                reference_count,
                rule,
                spaces,
                table.size,
                counts,
                long_row,
                _SEED,
            )
            if row == rows:
                return counts
            if needed_bits:
                bits = needed_bits
            else:
                long_row = entry_for_long_rows(spaces, _SEED)

    def lengths(self, counts: Integers) -> Integers:
        """The average length of the references of each segment, rounded down, int64 (segments,)."""
        above: Integers = counts[0, :, AVERAGE]
        shortest: Integers = counts[0, :, SHORTEST]
        return shortest + above // PARTS_OF_A_TOKEN if above.any() else shortest.copy()

    def empty_candidates(self, counts: Integers) -> int:
        """The number of candidates without a token."""
        return int(counts[:, :, first_short(self.max_order)].sum())


def _memory(texts: int, longest: int) -> list[Memory]:
    """The memory that `count_rows` needs beside its table.

    Args:
      texts: the number of texts of a segment.
      longest: the most bytes of all texts of a segment.
    """
    # At most one token per byte, and a gap after each text. Unused pages cost nothing.
    most_tokens = max(min(longest, MOST_WRITTEN) + texts + SPARE_TOKENS, TOKENS_IN_CACHE)
    return [
        _MEMORY.memory_for("tokens", most_tokens * TOKEN_BYTES),
        _MEMORY.memory_for("numbers", (longest + texts + SPARE_NUMBERS) * NUMBERS_BYTES),
        _MEMORY.memory_for("different tokens", most_different(longest) * TOKEN_BYTES),
        _MEMORY.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
        _MEMORY.memory_for("vocabulary", VOCABULARY_BYTES),
        _MEMORY.memory_for("bounds", (texts + 1) * _BOUND_BYTES),
        _MEMORY.memory_for("keys", KEYS_BYTES),
    ]


def count_batch(batch: SegmentBatch, text: Text, max_order: int) -> BatchStatistics:
    """Counts every segment of a batch, for every system; see `statistics.counting`.

    Args:
      batch: the segments; each has at least one reference.
      text: the steps from a text to its tokens.
      max_order: the largest n-gram order to count.
    """
    return counting.count_batch(batch, text, BleuCounter(max_order))
