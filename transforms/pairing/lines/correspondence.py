"""What must be true of streams of lines: they correspond, are UTF-8, and are what the user expects.

Two streams with the same number of lines can still be misaligned: each may lack a different shard
or line. So streams of several shards must have the same shards, each with the same number of lines.
Many NUL characters (U+0000) mean that a file is UTF-16 without a byte order mark, which is often
valid UTF-8, and its score would look plausible.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.files.streams import Shard, Stream, names_of, what_varies
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES, LineCounts

Cuts = Literal["same", "any"]

CUTS: tuple[Cuts, ...] = get_args(Cuts)

_CUTS_ANY = "if the streams are cut at different lines on purpose, add --cuts any"
_MOST = 4  # the largest number of streams that a message names


def require_same_shards(streams: Sequence[Stream], shards: Sequence[Sequence[Shard]]) -> None:
    names = {
        number: names_of([shard.file.path for shard in of_stream])
        for number, of_stream in enumerate(shards)
        if len(of_stream) > 1
    }
    first, *others = names or [0]
    for number in others:
        varying = dict(zip((first, number), what_varies(names[first], names[number]), strict=True))
        if varying[first] == varying[number]:
            continue
        said = []
        for lacking, having in ((first, number), (number, first)):
            named = zip(varying[having], shards[having], strict=True)
            missing = [shard.file.path for name, shard in named if name not in varying[lacking]]
            if missing:
                said.append(
                    f"{streams[lacking].label} have no shard for {len(missing)} of "
                    f"{streams[having].label}: {joined(missing)}"
                )
        labels = f"{streams[first].label} and {streams[number].label}"
        raise InputError(
            "; ".join(said) or f"{labels} have the same shards, but in another order",
            f"give all streams the same shards, with corresponding names; {_CUTS_ANY}",
        )


def order_notes(streams: Sequence[Stream], shards: Sequence[Sequence[Shard]]) -> tuple[str, ...]:
    """A note if a stream is one file, perhaps joined from shards in another order than theirs."""
    whole = next((i for i, of_stream in enumerate(shards) if len(of_stream) == 1), None)
    for stream, of_stream in zip(streams, shards, strict=True):
        paths = [shard.file.path for shard in of_stream]
        for one, other in zip(paths, sorted(paths), strict=True):
            if whole is not None and one != other:
                return (
                    f"{stream.label}: the {len(paths)} shards are not read in the order of `cat`, "
                    f"but {one} before {other}; check the order of the lines of {streams[whole]}",
                )
    return ()


def require_same_lines(
    streams: Sequence[Stream], shards: Sequence[Sequence[Shard]], lines: Sequence[Sequence[int]]
) -> None:
    sharded = [number for number, of_stream in enumerate(shards) if len(of_stream) > 1]
    if len(sharded) < 2:
        return
    first, *others = sharded
    different = [
        (place, number)
        for place in range(len(shards[first]))
        for number in others
        if lines[number][place] != lines[first][place]
    ]
    if not different:
        return
    place, number = different[0]
    count = len({place for place, _ in different})
    raise InputError(
        f"{count} of {len(shards[first])} shards do not have the same number of lines in all "
        f"streams: shard {place + 1} has {_lines(lines[first][place])} in "
        f"{streams[first].label}, {lines[number][place]:,} in {streams[number].label}: "
        f"{shards[first][place].file.path}, {shards[number][place].file.path}",
        f"find the lost or added line; {_CUTS_ANY}",
    )


def require_equal_line_counts(streams: Sequence[Stream], lines: Sequence[int]) -> None:
    paths = [stream.shown(stream.pattern) for stream in streams]
    usual = collections.Counter(reversed(lines)).most_common(1)[0][0]  # if equal, the last
    odd = [number for number, count in enumerate(lines) if count != usual]
    if odd:
        said = joined([f"{streams[i].label} have {_lines(lines[i])}" for i in odd], _MOST)
        first = lines.index(usual)
        raise InputError(
            f"{said}, {streams[first].label} have {usual:,}: "
            f"{joined([paths[i] for i in (*odd, first)], _MOST)}",
            "line i of every stream must belong to segment i: look for a missing shard or line",
        )
    if not usual:
        what = f"the corpus is empty, no stream has a line: {joined(paths, _MOST)}"
        raise InputError(what, "check that the files were written")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


@dataclasses.dataclass(frozen=True)
class Expected:
    """What a user says about the streams: how they are cut, their segments, their longest line."""

    cuts: Cuts = "same"
    segments: int | None = None
    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def notes(self) -> tuple[str, ...]:
        if self.cuts == "same":
            return ()
        return (
            "--cuts any: the streams were compared only by their total numbers of lines, "
            "not shard by shard",
        )

    def require_segments(self, segments: int) -> None:
        if self.segments not in (None, segments):
            raise InputError(
                f"the corpus has {segments} segment{'' if segments == 1 else 's'}, "
                f"but --expect_segments is {self.segments}",
                "look for shards or lines that are missing or were added in all streams",
            )


# The largest share of control characters, in a file that has a NUL. In UTF-16 half of the bytes are
# upper bytes of characters: 0 for Latin letters, 4 for Cyrillic, 14 for Thai.
_MOST_CONTROLS = 0.05

_FEWEST_LINES = 10
# In a file with this many lines or more, the largest share of NULs if each line has one, as in
# UTF-16. It finds scripts whose upper bytes are white space, such as Malayalam with 13.
_MOST_WITH_LINES = 0.01


def nul_notices(streams: Sequence[Stream], counts: Iterable[LineCounts]) -> tuple[Notice, ...]:
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
        if one_per_line or (nuls and controls > _MOST_CONTROLS * size):
            what = (
                f"{nuls} of {size} bytes are NUL (0x00), and {controls - nuls} are other control "
                "characters: it is UTF-16 or UTF-32 text, or not text at all"
            )
            path = of_file[0].range.shard.file.path
            remedy = "convert the file to UTF-8: iconv -f UTF-16LE -t UTF-8"
            raise InputError(streams[number].told(what, path), remedy)
        by_stream[number] += nuls
    return tuple(
        Notice("nul", stream.label, by_stream[number]) for number, stream in enumerate(streams)
    )
