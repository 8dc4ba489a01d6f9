"""Text that is safe to print: on a terminal, in a table, in an engine's log."""

from __future__ import annotations

import re

_RAW_BYTES = re.compile("[\udc80-\udcff]+")
"""How Python holds bytes of a path or an argument that are not in the locale's encoding."""


def printable(text: str, keep: str = "") -> str:
    r"""The text, with characters that cannot be printed escaped as in `repr`.

    It escapes control characters (a terminal would obey them), line breaks, characters that
    are invisible or change the direction of a text, and bytes that are not UTF-8.

    Args:
      text: a message, or a part of one.
      keep: characters that stay as they are.

    >>> print(printable("one\ntwo \x1b[2J größe"))
    one\ntwo \x1b[2J größe
    """
    return "".join(
        character if character.isprintable() or character in keep else repr(character)[1:-1]
        for character in utf8(text)
    )


def utf8(text: str) -> str:
    """The text, with its raw bytes decoded if they are UTF-8.

    In the C locale Python keeps every byte above 127 of an argument as a raw byte.
    """
    return _RAW_BYTES.sub(lambda match: _bytes(match[0]).decode("utf-8", "surrogateescape"), text)


def _bytes(text: str) -> bytes:
    return text.encode("ascii", "surrogateescape")
