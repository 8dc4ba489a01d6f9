"""Compiled code: which words of a candidate are wrong, and where the words of the reference belong.

Both follow from the shortest way through the edit table. Of several ones it is that of sacreBLEU:
from the end of the table back to its beginning, it prefers to keep or replace a word, then to
delete one, and then to insert one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.ter.edit_rows import DELETE, INSERT, NOP, step_back
from beam_bleu.transforms.metrics.ter.wide_table import wide_step_back
from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import store_count
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

ALL_CELLS, IN_BAND, IN_WIDE_BAND = range(3)
"""How distances are computed: edit_rows.py without and with a band, or wide_table.py."""

LONGEST_SHIFT = 10
"""The most words that a shift moves."""

_NO_ERROR = LONGEST_SHIFT + 1


@inner
def align(words, reference_words, way, rows, errors, reference_errors, targets):
    """Writes where the next wrong words are, and the targets of shifts.

    Args:
      words: the words of the candidate.
      reference_words: those of the reference.
      way: how distances are computed.
      rows: address of the edit rows, or of the steps of a wide band.
      errors: address of a count for each word of the candidate, which is written: how many words
        there are from this one to the next wrong one, both included; more than LONGEST_SHIFT if
        there are more, or if none is wrong.
      reference_errors: the same for the words of the reference. One is wrong if no word of the
        candidate is kept for it.
      targets: address of a count for the start of the reference and for the end of each of its
        words, which is written: how many words the candidate has up to there.
    """
    number, column = words, reference_words
    error = reference_error = _NO_ERROR
    while number > 0 or column > 0:
        if number == 0:
            step = INSERT
        elif column == 0:
            step = DELETE
        elif way == IN_WIDE_BAND:
            step = wide_step_back(number, column, words, reference_words, rows)
        else:
            step = step_back(number, column, rows, way == IN_BAND)
        if step != DELETE:
            reference_error = min(reference_error + 1, _NO_ERROR) if step == NOP else 1
            store_count(targets + column * NUMBER_BYTES, number)
            column -= 1
            store_count(reference_errors + column * NUMBER_BYTES, reference_error)
        if step != INSERT:
            error = min(error + 1, _NO_ERROR) if step == NOP else 1
            number -= 1
            store_count(errors + number * NUMBER_BYTES, error)
    store_count(targets, 0)
