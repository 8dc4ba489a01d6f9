"""JSON shows readable text, and no character that a terminal would obey."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from beam_bleu.pipeline.display.printable import json_text


def test_every_character_is_read_as_it_was_and_only_shown_ones_are_raw():
    raw = set()
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        text = json_text(character)
        assert json.loads(text) == character
        if text[1:-1] == character:
            raw.add(character)
        text.encode()  # also if it is half of a surrogate pair
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not {each for each in raw if unicodedata.category(each) in hidden}
    # ASCII escapes of its own are those of any JSON.
    assert {chr(code) for code in range(0x20, 0x7F)} - raw == {'"', "\\"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\u001b[31m"),
        ("\x9b31m", r"\u009b31m"),
        ("\x7f", r"\u007f"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u200bb", r"a\u200bb"),
        ("a\u2028b", r"a\u2028b"),
        ("\u2066a\u2069", r"\u2066a\u2069"),
        ("👩\u200d💻", "👩\\u200d💻"),
        ("\udcff", r"\udcff"),
        ("\U000e0041", r"\udb40\udc41"),
    ],
)
def test_characters_that_are_not_shown_are_escapes(text, shown):
    assert json_text([text]) == f'["{shown}"]'
    assert json_text([text], indent=1) == f'[\n "{shown}"\n]'
