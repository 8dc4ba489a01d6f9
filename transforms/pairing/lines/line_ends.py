"""The end of a line that holds values, and not plain text.

Programs on Windows end lines with a carriage return and a newline. In a line with values (the
fields of tab-separated text, labels, documents) one carriage return at the end is a part of the
line's end, and not of the last value. That goes for each line on its own, so files with both kinds
of lines can be read, and for the last line of a file, whether or not a newline follows. In plain
line-parallel text, as in sacreBLEU, it is text.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import load_byte

_RETURN = ord("\r")


def without_return(line: bytes) -> bytes:
    """A line without the carriage return at its end."""
    return line.removesuffix(b"\r")


def without_returns(lines: pa.Array) -> pa.Array:
    """The lines of a column of text without the carriage returns at their ends."""
    return pc.replace_substring_regex(lines, r"\r\z", "")


@inner
def values_end(begin, end):
    """The address at which the values of a line end, given its begin and its end."""
    return end - 1 if end > begin and load_byte(end - 1) == _RETURN else end
