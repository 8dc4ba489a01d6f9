"""Reads the parts of a large JSON text that are needed, without an object for each other part.

Python's json module makes objects of the whole text. They take up to a hundred times its bytes if
it has very many keys or items, and most of them are not columns that anybody asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any

_BLANKS = re.compile(r"[ \t\n\r]*")
_scalar = JSONDecoder().scan_once  # type: ignore[attr-defined]
"""Reads the value at a place. Here it is never an object or a list."""

_NEEDED, _OTHER, _UNUSED = range(3)
"""What a value is: one whose parts can be needed; one that is kept while there is room for others;
one that is not kept."""


class NeededKeys:
    """The keys of objects whose values are needed.

    Args:
      names: the keys, in any case of letters.
      patterns: regular expressions of other such keys.
      others: how many other values are kept, so that messages can tell of them.
    """

    def __init__(self, names: Iterable[str], patterns: Iterable[str] = (), others: int = 0) -> None:
        expression = "|".join([*map(re.escape, names), *patterns])
        self.matches = re.compile(expression, re.IGNORECASE | re.DOTALL).fullmatch
        self.others = others


def parts_of(text: str, needed: NeededKeys) -> tuple[Any, bool]:
    """The needed parts of the value in a text; whether it has all of its members and items.

    In a text without faults it is the value of `json.loads` without some members of objects, and
    without some items at the ends of lists. The items of a list that is needed are all there.

    Raises:
      ValueError, RecursionError: those of `json.loads`.
    """
    reader = _Parts(text, needed)
    value, end = reader.value(_blank_end(text, 0), _NEEDED)
    end = _blank_end(text, end)
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value, reader.is_whole


def _blank_end(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    assert found is not None  # it can be empty
    return found.end()


class _Parts:
    def __init__(self, text: str, needed: NeededKeys) -> None:
        self.is_whole = True
        self._text = text
        self._needed = needed
        self._others = needed.others

    def value(self, at: int, use: int) -> tuple[Any, int]:
        """The value that begins at a place, and its end."""
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at + 1, use)
        if first == "[":
            return self._list(at + 1, use)
        try:
            found: tuple[Any, int] = _scalar(self._text, at)
        except StopIteration as stop:
            raise json.JSONDecodeError("Expecting value", self._text, stop.value) from None
        return found

    def _object(self, at: int, use: int) -> tuple[dict[str, Any], int]:
        text, matches = self._text, self._needed.matches
        found: dict[str, Any] = {}
        at = _blank_end(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        while True:
            if text[at : at + 1] != '"':
                said = "Expecting property name enclosed in double quotes"
                raise json.JSONDecodeError(said, text, at)
            key, at = scanstring(text, at + 1, True)
            at = _blank_end(text, at)
            if text[at : at + 1] != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
            is_needed = use == _NEEDED and matches(key)
            use_of_value = _NEEDED if is_needed else self._use_of_other(use)
            value, at = self.value(_blank_end(text, at + 1), use_of_value)
            if use_of_value != _UNUSED:
                found[key] = value
            at = _blank_end(text, at)
            end = text[at : at + 1]
            if end == "}":
                return found, at + 1
            if end != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            at = _blank_end(text, at + 1)

    def _list(self, at: int, use: int) -> tuple[list[Any], int]:
        text = self._text
        found: list[Any] = []
        at = _blank_end(text, at)
        if text[at : at + 1] == "]":
            return found, at + 1
        while True:
            use_of_value = use if use == _NEEDED else self._use_of_other(use)
            value, at = self.value(at, use_of_value)
            if use_of_value != _UNUSED:
                found.append(value)
            at = _blank_end(text, at)
            end = text[at : at + 1]
            if end == "]":
                return found, at + 1
            if end != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            at = _blank_end(text, at + 1)

    def _use_of_other(self, use: int) -> int:
        """The use of a member or an item that nobody asks for, in a value with this use."""
        if use == _UNUSED or not self._others:
            self.is_whole = False
            return _UNUSED
        self._others -= 1
        return _OTHER
