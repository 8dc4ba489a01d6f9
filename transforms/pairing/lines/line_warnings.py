"""What is suspicious about streams of lines: NUL characters, and the names of shards.

Rare NULs are text, frequent ones mean that the file is not UTF-8: UTF-16 without a byte order mark
is often valid UTF-8 with very many NULs (U+0000), and its score would look plausible. About the
names of shards there are only notes, which a reader of the score should know.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Sequence

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.files.shards import names_of, of_total, without_shared
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.ranges import LineCounts

_MOST = 0.05
"""The largest share of control characters, in a file that has a NUL.

In UTF-16 half of the bytes are upper bytes of characters: 0 for Latin letters, 4 for Cyrillic,
14 for Thai. In UTF-8 such bytes are always control characters.
"""

_MOST_WITHOUT_NUL = 0.25
"""The same in a file without a NUL. If it is UTF-16, it has no newline and no space."""

_FEWEST_LINES = 10
_MOST_WITH_LINES = 0.01
"""In a file with this number of lines or more, the largest share of NULs if each line has one.

In UTF-16 each newline and each space has a NUL. This rule finds scripts whose upper bytes are
white space, such as Malayalam with 13.
"""

_SHOWN = 5
"""The largest number of missing numbers that a message shows."""


def nul_notices(streams: Sequence[Stream], counts: Iterable[LineCounts]) -> tuple[Notice, ...]:
    """The number of NUL characters in each stream.

    Args:
      streams: the streams.
      counts: the counts of all ranges of all their shards, in any order.

    Raises:
      InputError: a file has too many: it is UTF-16, UTF-32 or not text.
    """
    nuls: collections.Counter[int] = collections.Counter()
    of_file: dict[tuple[int, int], list[LineCounts]] = collections.defaultdict(list)
    for count in counts:
        if count.nul_bytes:
            nuls[count.range.shard.stream] += count.nul_bytes
        of_file[count.range.shard.stream, count.range.shard.number].append(count)
    for (stream, _), of_one in sorted(of_file.items()):
        require_text(streams[stream], of_one)
    return tuple(Notice("nul", stream.label, nuls[number]) for number, stream in enumerate(streams))


def require_text(stream: Stream, of_file: Sequence[LineCounts]) -> None:
    """Checks that a file, or a part of it, is text.

    Raises:
      InputError: it has too many NULs or other control characters.
    """
    nuls = sum(count.nul_bytes for count in of_file)
    controls = sum(count.control_bytes for count in of_file)
    size = sum(count.text_bytes for count in of_file)
    lines = sum(int(count.newlines.sum()) for count in of_file)
    one_per_line = nuls > _MOST_WITH_LINES * size and nuls >= lines >= _FEWEST_LINES
    most = (_MOST if nuls else _MOST_WITHOUT_NUL) * size
    if controls > most or one_per_line:
        path = of_file[0].range.shard.file.path
        raise InputError(
            stream.told(
                f"{nuls} of {size} bytes are NUL (0x00), and {controls - nuls} are other control "
                "characters: it is UTF-16 or UTF-32 text, or not text at all",
                path,
            ),
            "convert the file to UTF-8: iconv -f UTF-16LE -t UTF-8 (or -f UTF-16BE, UTF-32LE)",
        )


def notes_of(streams: Sequence[Stream], shards: Sequence[Sequence[Shard]]) -> tuple[str, ...]:
    """Sentences about the shards' names, for a reader of the result.

    They are about: gaps in a numbering; a single shard of a set; shards that `cat` would join in
    another order, if another stream is one file.

    Args:
      streams: the streams.
      shards: the shards of each.
    """
    gaps: dict[str, list[str]] = {}  # the gap -> the streams that have it
    notes = []
    whole = next((i for i, of_stream in enumerate(shards) if len(of_stream) == 1), None)
    for stream, of_stream in zip(streams, shards, strict=True):
        paths = [shard.file.path for shard in of_stream]
        if len(paths) > 1:
            if gap := _gap(paths):
                gaps.setdefault(gap, []).append(stream.label)
            pairs = zip(paths, sorted(paths), strict=True)
            unlike = next((pair for pair in pairs if pair[0] != pair[1]), None)
            if whole is not None and unlike:
                notes.append(
                    f"{stream.label}: the {len(paths)} shards are read by their numbers, not in "
                    f"the order of `cat`: {unlike[0]} before {unlike[1]}; check that the lines of "
                    f"{streams[whole].label}, which is one file, have the same order"
                )
        elif (match := of_total(stream, paths[0])) and int(match["total"]) > 1:
            notes.append(
                f"{stream.label}: only 1 of {int(match['total'])} shards is read: {paths[0]}"
            )
    notes += [f"{joined(labels)}: {gap}" for gap, labels in gaps.items()]
    return tuple(notes)


def _gap(paths: Sequence[str]) -> str:
    """The gaps in the numbering of shards whose names vary in one number; "" if there are none.

    Shards are numbered from 0 or 1. Other numbers are days, times or hashes.
    """
    names = without_shared(names_of(paths))
    numbers = {int(number) for name in names if len(name) == 3 for number in name[1:2]}
    if len({name[::2] for name in names}) > 1 or not numbers or min(numbers) > 1:
        return ""
    first, last = min(numbers), max(numbers)
    count = last + 1 - first - len(numbers)
    missing = itertools.islice((n for n in range(first, last) if n not in numbers), _SHOWN)
    if not count:
        return ""
    return (
        f"the numbers of the {len(paths)} shards have gaps: {', '.join(map(str, missing))}"
        f"{', ...' if count > _SHOWN else ''} ({count} missing in all)"
    )
