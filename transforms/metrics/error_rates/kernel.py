"""The kernel: from columns of text to the columns of WER or CER of every segment."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.error_rates.columns import EMPTY, error_basis
from beam_bleu.transforms.metrics.error_rates.count_rows import count_rows
from beam_bleu.transforms.metrics.error_rates.errors import mask_bytes, memory_bytes
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.statistics.counting import require_countable
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.characters import CODE_POINTS_BYTES, FIRST_NUMBER, counted_bytes
from beam_bleu.transforms.text.hashing import new_seed
from beam_bleu.transforms.text.numbered_texts import numbering_memory
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, most_different
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text

_SEED = new_seed()

_MEMORY = KeptMemory()


@dataclasses.dataclass(frozen=True)
class ErrorCounter:
    """Counts the columns of WER or CER; see `statistics.counting.Counter`.

    The tokenizer of the text says what is counted.
    """

    @property
    def basis(self) -> Basis:
        """The columns."""
        return error_basis()

    @property
    def needs(self) -> Needs:
        """Candidates and references."""
        return TEXTS

    @property
    def is_tokenized(self) -> bool:
        """All languages have the same rule of words, and of characters."""
        return False

    def count(self, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text) -> Integers:
        """The columns of each segment, int64 (systems, segments, W)."""
        texts, rows = spans.starts.shape
        counts = np.empty((len(batch.candidates), rows, self.basis.width), np.int64)
        require_countable(sizes, batch)
        longest = sizes.longest
        counted = counted_bytes(True)
        spaces = [
            *numbering_memory(_MEMORY, texts, longest),
            _MEMORY.zeros_for("numbers of code points", CODE_POINTS_BYTES),
            _MEMORY.memory_for("code points entered", longest * NUMBER_BYTES),
            _MEMORY.zeros_for("masks", mask_bytes(FIRST_NUMBER + most_different(longest))),
            _MEMORY.memory_for("rows", memory_bytes(longest)),
        ]
        count_rows(
            spans.both,
            len(batch.references),
            rule_of(text.tokenize),
            (*(space.address for space in spaces), counted.ctypes.data),
            counts,
            _SEED,
        )
        return counts

    def lengths(self, counts: Integers) -> None:
        """Unknown: the lengths of references are in words or characters, not in tokens."""

    def empty_candidates(self, counts: Integers) -> int:
        """The number of candidates without a word or character."""
        return int(counts[..., EMPTY].sum())
