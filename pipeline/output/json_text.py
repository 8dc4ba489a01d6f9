"""JSON for people and programs: readable text, and escapes for what a terminal would obey."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any


def json_text(value: Any, indent: int | None = None) -> str:
    r"""A value as JSON, in which characters that cannot be shown are escapes of JSON.

    These are control characters, also those from U+0080 to U+009F, characters that are invisible or
    change the direction of a text, Unicode's line breaks, and bytes of paths that are not UTF-8.
    White space stays as it is. A program reads the same value.

    >>> print(json_text({"größe": "a\u202eb\x9b"}))
    {"größe": "a\u202eb\u009b"}
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return _BEYOND_ASCII.sub(_shown, text)


_BEYOND_ASCII = re.compile("[\x7f-\U0010ffff]")
"""All characters but ASCII, and DEL. Of the others, `json` escapes the control characters."""


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]
