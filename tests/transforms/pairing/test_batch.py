"""Batches of files have about the same number of rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.batch import even_rows, usual_rows
from beam_bleu.transforms.pairing.line_parallel.corpus import ENDLESS


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 10**9) | st.just(ENDLESS), st.integers(2, 100_000))
def test_no_batch_is_much_larger_or_smaller_than_usual(lines, columns) -> None:
    rows, usual = even_rows(lines, columns), usual_rows(columns)
    full, rest = divmod(lines, rows)
    assert 1 <= rows < usual * 9 / 8 + 1
    assert full >= 1
    # The last batch has fewer rows than the others: at most one less for each of them.
    assert not rest or rows - rest <= full + 1
    if lines > 2 * usual:
        assert rows > usual / 2
