"""Which words two texts have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.pipeline.examples.shown_segments import closest, compared, words


def marked(runs):
    """The text, with brackets around words that the other text lacks."""
    return "".join(run.text if run.is_common else f"[{run.text}]" for run in runs)


@pytest.mark.parametrize(
    ("text", "other", "shown", "shown_other"),
    [
        ("a black cat", "a cat sat", "a [black] cat", "a cat [sat]"),
        ("The end.", "The end!", "The end[.]", "The end[!]"),
        ("", "new", "", "[new]"),
        ("same", "same", "same", "same"),
        ("我喜欢猫", "我喜欢狗", "我喜欢[猫]", "我喜欢[狗]"),
        ("tokyo東京都", "tokyo京都", "tokyo[東]京都", "tokyo京都"),
    ],
)
def test_words_that_only_one_text_has_are_marked(text, other, shown, shown_other):
    first, second = compared(text, other)
    assert (marked(first), marked(second)) == (shown, shown_other)


@given(st.text(), st.text())
def test_no_character_is_lost(text, other):
    first, second = compared(text, other)
    assert "".join(run.text for run in first) == text
    assert "".join(run.text for run in second) == other
    common = ("".join(run.text for run in runs if run.is_common) for runs in (first, second))
    one, another = ("".join(of_text.split()) for of_text in common)
    assert one == another
    assert "".join(words(text)) == text


def test_long_texts_are_compared_in_their_first_words():
    text = "word " * 5000
    first, second = compared(text, f"{text}end")
    assert marked(first) == text
    assert marked(second) == f"{text}end"


def test_the_closest_reference_is_the_first_one_of_equal_ones():
    assert closest("a cat sat", ["a dog ran off", "a cat sat down", "a cat sat down"]) == 1
