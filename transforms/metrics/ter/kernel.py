"""The kernel: from columns of text to the columns of TER of every segment."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.ter.columns import EMPTY, ter_basis
from beam_bleu.transforms.metrics.ter.count_rows import count_rows
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.statistics.counting import require_countable
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.hashing import new_seed
from beam_bleu.transforms.text.numbered_texts import numbering_memory
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text

_FIRST_EDIT_BYTES = 2**14

_SEED = new_seed()

_MEMORY = KeptMemory()


@dataclasses.dataclass(frozen=True)
class TerCounter:
    """Counts the columns of TER; see `statistics.counting.Counter`."""

    @property
    def basis(self) -> Basis:
        """The columns."""
        return ter_basis()

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
        systems = len(batch.candidates)
        counts = np.empty((systems, rows, self.basis.width), np.int64)
        require_countable(sizes, batch)
        spaces = numbering_memory(_MEMORY, texts, sizes.longest)
        row, needed = 0, _FIRST_EDIT_BYTES
        while True:
            edits = _MEMORY.memory_for("edits", needed)
            row, needed = count_rows(
                row,
                spans.both,
                len(batch.references),
                rule_of(text.tokenize),
                (*(space.address for space in spaces), edits.address),
                edits.size,
                counts,
                _SEED,
            )
            if row == rows:
                return counts

    def lengths(self, counts: Integers) -> None:
        """Unknown: the lengths of references are in tokens of the run, not in words of TER."""

    def empty_candidates(self, counts: Integers) -> int:
        """The number of candidates without a word."""
        return int(counts[..., EMPTY].sum())
