"""Counts the newlines of a file of this machine, without the interpreter's lock.

If Python read each part, it would take and release the lock twice for 0.1 ms of work, and threads
would wait for each other. Here compiled code reads and counts many parts in one call. It raises no
errors. If something is not as usual, the caller reads the file in Python, which says what is wrong.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.file_reads import pread_function, read_fully
from beam_bleu.transforms.native.masks import byte_masks
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    count_bits,
    load_byte,
    load_int,
    lowest_bit,
    store_byte,
    store_int,
)
from beam_bleu.transforms.pairing.files.chunks import BYTE_ORDER_MARK
from beam_bleu.transforms.pairing.files.parts import PART
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, block_bytes

_PARTS_OF_CALL = 32
"""How many parts one call counts: few enough that the progress of a run is seen."""

_HEAD = 16
"""How many of the first bytes of a range are kept."""

# The state of the compiled function: an array of int64 with these places.
_NULS, _CONTROLS, _LINE_BYTES, _LONGEST, _LAST_BYTE, _STATE_SIZE = range(6)


@dataclasses.dataclass(frozen=True)
class CountedParts:
    """What was counted in a range of a file.

    Attributes:
      newlines: int64, the newlines of each part.
      text_bytes: the bytes of the range, without a byte order mark.
      nul_bytes: the number of NULs.
      control_bytes: the number of control characters that are not white space, including NULs.
      longest: the largest number of bytes at the beginning of a part that end a line, with the
        bytes of this line in the parts before it.
      last_byte: the last byte.
      head: the first bytes, without a byte order mark.
    """

    newlines: Integers
    text_bytes: int
    nul_bytes: int
    control_bytes: int
    longest: int
    last_byte: bytes
    head: bytes


def part_bytes_in(range_bytes: int) -> int:
    """The largest number of bytes of a part of a range. A block has one or several parts."""
    block = block_bytes(range_bytes)
    return block if block % PART else PART


def count_parts(
    descriptor: int, part: ByteRange, counted: Callable[[int], None]
) -> CountedParts | None:
    """Counts a range of a file, part by part.

    Args:
      descriptor: the open file.
      part: the range.
      counted: called with the number of bytes that were counted since the last call.

    Returns:
      What was counted; None if there is no text, or if the file cannot be read or has changed.
    """
    start, stop = part.start, part.stop
    try:
        head = os.pread(descriptor, min(_HEAD, stop - start), start)
    except OSError:
        return None
    marked = len(BYTE_ORDER_MARK) if start == 0 and head.startswith(BYTE_ORDER_MARK) else 0
    length = stop - start - marked
    if not length:
        return None
    part_bytes = part_bytes_in(part.range_bytes)
    text = np.empty(part_bytes + READ_AHEAD, np.uint8)
    newlines = np.zeros(-(-(stop - start) // part_bytes), np.int64)
    state = np.zeros(_STATE_SIZE, np.int64)
    state[_LINE_BYTES] = -marked
    for first in range(0, len(newlines), _PARTS_OF_CALL):
        of_call = newlines[first : first + _PARTS_OF_CALL]
        begin = start + first * part_bytes
        end = min(begin + len(of_call) * part_bytes, stop)
        arguments = descriptor, begin, end, part_bytes, text, of_call, state
        if not count_in_file(pread_function(), *arguments):
            return None
        counted(end - begin)
    try:
        if stop == part.shard.file.size and os.pread(descriptor, 1, stop):
            return None
    except OSError:
        return None
    nuls, controls, _, longest, last_byte = state.tolist()
    last, text_head = bytes([last_byte]), head[marked:]
    return CountedParts(newlines, length, nuls, controls, longest, last, text_head)


_line_masks = byte_masks(["\n"], [0], [("\x00", "\x08"), ("\x0e", "\x1b")])
"""Newlines; NULs; control characters that are not white space, including NULs."""


@inner
def count_blocks(begin, end):
    """(newlines, NULs, control characters) of the blocks that begin at addresses before `end`."""
    newlines = nuls = controls = 0
    for block in range(begin, end, BLOCK):
        newline, nul, control = _line_masks(block)
        newlines += count_bits(newline)
        if control != np.uint64(0):
            nuls += count_bits(nul)
            controls += count_bits(control)
    return newlines, nuls, controls


@inner
def _first_newline(text):
    """The place of the first newline after the address `text`. There is one."""
    at = text
    while _line_masks(at)[0] == np.uint64(0):
        at += BLOCK
    return at + lowest_bit(_line_masks(at)[0]) - text


@inner
def _after_last_newline(text, size):
    """The number of bytes after the last newline of a text of this size. There is one."""
    at = text + size
    while load_byte(at - 1) != ord("\n"):
        at -= 1
    return text + size - at


@compiled
def count_in_file(pread, descriptor, start, stop, part_bytes, text, newlines, state):
    """Counts the newlines of each part of a range, and adds to the state what it finds.

    Returns:
      Whether all bytes could be read.
    """
    begin, found = address_of(text), address_of(state)
    line_bytes, longest = load_int(found, _LINE_BYTES), load_int(found, _LONGEST)
    nuls = controls = size = 0
    for part in range(newlines.size):
        at = start + part * part_bytes
        size = min(part_bytes, stop - at)
        if not read_fully(pread, descriptor, begin, size, at):
            return False
        for i in range(size, size + BLOCK):
            store_byte(begin + i, ord(" "))  # so the last block has nothing else to count
        lines, more_nuls, more_controls = count_blocks(begin, begin + size)
        nuls += more_nuls
        controls += more_controls
        newlines[part] = lines
        if lines:
            longest = max(longest, line_bytes + _first_newline(begin))
            line_bytes = _after_last_newline(begin, size)
        else:
            line_bytes += size
            longest = max(longest, line_bytes)
    store_int(found, _NULS, load_int(found, _NULS) + nuls)
    store_int(found, _CONTROLS, load_int(found, _CONTROLS) + controls)
    store_int(found, _LINE_BYTES, line_bytes)
    store_int(found, _LONGEST, longest)
    if size:
        store_int(found, _LAST_BYTE, load_byte(begin + size - 1))
    return True
