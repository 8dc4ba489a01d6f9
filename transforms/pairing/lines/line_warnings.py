"""NUL characters in streams of lines: rare ones are text, many mean that a file is not UTF-8.

UTF-16 without a byte order mark is often valid UTF-8 with very many NULs (U+0000), and its score
would look plausible.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.ranges import LineCounts

_MOST = 0.05
"""The largest share of control characters, in a file that has a NUL.

In UTF-16 half of the bytes are upper bytes of characters: 0 for Latin letters, 4 for Cyrillic,
14 for Thai. In UTF-8 such bytes are always control characters.
"""

_FEWEST_LINES = 10
_MOST_WITH_LINES = 0.01
"""In a file with this number of lines or more, the largest share of NULs if each line has one.

In UTF-16 each newline and each space has a NUL. This rule finds scripts whose upper bytes are
white space, such as Malayalam with 13.
"""


def nul_notices(streams: Sequence[Stream], counts: Iterable[LineCounts]) -> tuple[Notice, ...]:
    """The number of NUL characters in each stream, from the counts of all ranges of its files."""
    by_stream: collections.Counter[int] = collections.Counter()
    by_file: dict[tuple[int, int], list[LineCounts]] = collections.defaultdict(list)
    for count in counts:
        by_file[count.range.shard.stream, count.range.shard.number].append(count)
    for (number, _), of_file in sorted(by_file.items()):
        nuls = sum(count.nul_bytes for count in of_file)
        controls = sum(count.control_bytes for count in of_file)
        size = sum(count.text_bytes for count in of_file)
        lines = sum(int(count.newlines.sum()) for count in of_file)
        one_per_line = nuls > _MOST_WITH_LINES * size and nuls >= lines >= _FEWEST_LINES
        if one_per_line or (nuls and controls > _MOST * size):
            raise InputError(
                streams[number].told(
                    f"{nuls} of {size} bytes are NUL (0x00), and {controls - nuls} are other "
                    "control characters: it is UTF-16 or UTF-32 text, or not text at all",
                    of_file[0].range.shard.file.path,
                ),
                "convert the file to UTF-8: iconv -f UTF-16LE -t UTF-8 (or -f UTF-16BE, UTF-32LE)",
            )
        by_stream[number] += nuls
    return tuple(
        Notice("nul", stream.label, by_stream[number]) for number, stream in enumerate(streams)
    )
