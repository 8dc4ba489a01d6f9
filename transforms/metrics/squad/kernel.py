"""The kernel: from columns of text to the columns of exact match or token F1 of every segment."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.squad.columns import EMPTY, exact_match_basis, token_f1_basis
from beam_bleu.transforms.metrics.squad.count_rows import count_exact_rows, count_f1_rows
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.statistics.counting import require_countable
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.hashing import new_seed
from beam_bleu.transforms.text.numbered_texts import numbering_memory
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, most_different
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text

_SEED = new_seed()

_MEMORY = KeptMemory()


@dataclasses.dataclass(frozen=True)
class AnswerCounter:
    """Counts the columns of exact match or token F1; see `statistics.counting.Counter`.

    Attributes:
      is_exact_match: whether it is exact match.
    """

    is_exact_match: bool

    @property
    def basis(self) -> Basis:
        """The columns."""
        return exact_match_basis() if self.is_exact_match else token_f1_basis()

    @property
    def needs(self) -> Needs:
        """Candidates and references."""
        return TEXTS

    @property
    def is_tokenized(self) -> bool:
        """All languages have the same rule of words."""
        return False

    def count(self, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text) -> Integers:
        """The columns of each segment, int64 (systems, segments, W)."""
        texts, rows = spans.starts.shape
        counts = np.empty((len(batch.candidates), rows, self.basis.width), np.int64)
        require_countable(sizes, batch)
        if self.is_exact_match:
            count_exact_rows(spans.both, len(batch.references), counts)
            return counts
        # Numbers begin with 1, and all tokens that no reference has share one.
        times = (most_different(sizes.longest) + 2) * NUMBER_BYTES
        spaces = [
            *numbering_memory(_MEMORY, texts, sizes.longest),
            _MEMORY.zeros_for("times", times),
        ]
        count_f1_rows(
            spans.both,
            len(batch.references),
            rule_of(text.tokenize),
            tuple(space.address for space in spaces),
            counts,
            _SEED,
        )
        return counts

    def lengths(self, counts: Integers) -> None:
        """Unknown: the lengths of references are in tokens of the run, not in words of answers."""

    def empty_candidates(self, counts: Integers) -> int:
        """The number of candidates without a word."""
        return int(counts[..., EMPTY].sum())
