"""Text that is safe to print: on a terminal, in a table, in an engine's log."""

from __future__ import annotations

import re

_RAW_BYTES = re.compile("[\udc80-\udcff]+")
"""How Python holds bytes of a path or an argument that are not in the locale's encoding."""


def printable(text: str, keep: str = "") -> str:
    r"""A text in which every character can be printed, the others escaped as `repr` does it.

    Escaped are control characters, which a terminal would obey, line breaks, characters
    that change the direction of a text or cannot be seen, and bytes that are not UTF-8.

    Args:
      text: a message, or a part of one.
      keep: characters that stay as they are.

    >>> print(printable("one\ntwo \x1b[2J größe"))
    one\ntwo \x1b[2J größe
    """
    return "".join(
        each if each.isprintable() or each in keep else repr(each)[1:-1] for each in utf8(text)
    )


def utf8(text: str) -> str:
    """A text with those raw bytes decoded that are UTF-8.

    In the C locale Python takes every byte above 127 of an argument for a raw one.
    """
    return _RAW_BYTES.sub(lambda found: _bytes(found[0]).decode("utf-8", "surrogateescape"), text)


def _bytes(text: str) -> bytes:
    return text.encode("ascii", "surrogateescape")
