"""Text that is safe to print: on a terminal, in a table, in an engine's log, and as JSON."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from json.encoder import encode_basestring
from typing import Any


def printable(text: str, keep: str = "") -> str:
    """The text with its unprintable characters escaped as in `repr`, except those in `keep`.

    Terminals would obey some of these; others are invisible, or change the direction of a text.
    """
    return "".join(
        character if character.isprintable() or character in keep else repr(character)[1:-1]
        for character in text
    )


def value_text(value: str | None) -> str:
    """A label's value as text. A value that could be mistaken for another is written as JSON."""
    if value is None:
        return "null"
    is_plain = value.isprintable() and value == value.strip() and not value.startswith('"')
    return value if is_plain and value not in ("", "null") else json_text(value)


def value_of(text: str) -> str | None:
    """The value of a label from what a user typed: plain text, or what `value_text` shows."""
    if not text.startswith('"'):
        return None if text == value_text(None) else text
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(text)
    return value


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON; the characters that `printable` would escape are escaped as in JSON."""
    text = _COMPACT(value) if indent is None else _indented(value, "\n", " " * indent)
    if text.isascii() and "\x7f" not in text:
        return text
    return _BEYOND_ASCII.sub(_shown, text)


_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _indented(value: Any, newline: str, step: str) -> str:
    """The same text as `json.dumps`, but faster; `newline` ends with the value's indentation."""
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return repr(value)
    if isinstance(value, dict) and value:
        inner = newline + step
        items = [
            f"{inner}{encode_basestring(key)}: {_indented(item, inner, step)}"
            for key, item in value.items()
        ]
        return f"{{{','.join(items)}{newline}}}"
    if isinstance(value, list | tuple) and value:
        inner = newline + step
        return f"[{','.join([inner + _indented(item, inner, step) for item in value])}{newline}]"
    return _COMPACT(value)


_BEYOND_ASCII = re.compile("[\x7f-\U0010ffff]")
"""DEL and all characters beyond ASCII. `json` itself escapes the other control characters."""


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]
