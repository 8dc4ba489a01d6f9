"""The kernel: from columns of text to the columns of TER of every segment."""

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.metrics.ter.count_rows import count_rows
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.native.text_sizes import TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.text.hashing import new_seed
from beam_bleu.transforms.text.numbered_texts import numbering_memory
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text

_FIRST_EDIT_BYTES = 2**14

_SEED = new_seed()

_MEMORY = KeptMemory()


def count(
    metric: Metric, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """The columns of each segment, as `Metric.count` gives them."""
    texts, rows = spans.starts.shape
    systems = len(batch.candidates)
    counts = np.empty((systems, rows, metric.basis.width), np.int64)
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
