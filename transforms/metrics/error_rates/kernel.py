"""The kernel: from columns of text to the columns of WER or CER of every segment."""

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.error_rates.count_rows import count_rows
from beam_bleu.transforms.metrics.error_rates.errors import mask_bytes, memory_bytes
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.native.text_sizes import TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.text.characters import CODE_POINTS_BYTES, FIRST_NUMBER, counted_bytes
from beam_bleu.transforms.text.hashing import new_seed
from beam_bleu.transforms.text.numbered_texts import numbering_memory
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, most_different
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text

_SEED = new_seed()

_MEMORY = KeptMemory()


def count(
    metric: Metric, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """The columns of each segment, as `Metric.count` gives them."""
    texts, rows = spans.starts.shape
    counts = np.empty((len(batch.candidates), rows, metric.basis.width), np.int64)
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
