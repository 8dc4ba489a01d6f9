"""The kernel: from columns of text to the columns of BLEU of every segment."""

from __future__ import annotations

from beam_bleu.transforms.metrics.bleu.count_rows import MOST_WRITTEN, count_long_row, count_rows
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.statistics.ngrams import NUMBERS_BYTES, SPARE_NUMBERS
from beam_bleu.transforms.text.hashing import SLOT_BYTES
from beam_bleu.transforms.text.tokenization import SPARE_TOKENS, TOKENS_IN_CACHE
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_FIRST_TABLE_BITS = 10

_MEMORY = KeptMemory()


def write_counts(metric: BleuConfig, texts: ReadyTexts, counts: Integers) -> None:
    """Writes the columns of each segment; see `Metric.write_counts`."""
    longest = texts.sizes.longest
    numbered, _memory = texts.numbered(_MEMORY)
    # At most one token per byte, and a gap after each text. Unused pages cost nothing.
    most_tokens = max(min(longest, MOST_WRITTEN) + numbered.texts + SPARE_TOKENS, TOKENS_IN_CACHE)
    tokens = _MEMORY.memory_for("tokens of a segment", most_tokens * TOKEN_BYTES)
    numbers = _MEMORY.memory_for(
        "numbers of n-grams", (longest + numbered.texts + SPARE_NUMBERS) * NUMBERS_BYTES
    )
    numbered = numbered._replace(tokens=tokens.address, numbers=numbers.address)
    bits, long_row, row = _FIRST_TABLE_BITS, 0, 0
    while True:
        table = _MEMORY.memory_for("table", (2**bits + 1) * SLOT_BYTES)
        row, needed_bits = count_rows(row, numbered, table.address, table.size, counts, long_row)
        if row == numbered.rows:
            return
        if needed_bits:
            bits = needed_bits
        else:
            long_row = count_long_row.entry(0, numbered, 0, 0, 0, 0, 0, 0)
