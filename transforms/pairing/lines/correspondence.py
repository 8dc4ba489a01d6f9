"""The user's requirements for a corpus of lines, and whether its streams belong together.

Two streams with the same number of lines can still be misaligned: a different shard is
missing in each, or each has lost a different line. So streams of several shards must
have the same shards, each with the same number of lines. A stream of one file can be
paired with any stream.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.files.shards import Parts, names_of, what_varies
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES

Cuts = Literal["same", "any"]
"""Where streams may be cut into shards: all at the same lines, or each one at any lines."""

CUTS: tuple[Cuts, ...] = get_args(Cuts)

_REMEDY = (
    "give all streams the same shards, with corresponding names; if the streams are cut at "
    "different lines on purpose, add --cuts any"
)
_MOST = 4
"""The largest number of streams that a message names."""


def require_same_shards(streams: Sequence[Stream], shards: Sequence[Sequence[Shard]]) -> None:
    """Checks that all streams of several shards have the same shards, by their names.

    Args:
      streams: the streams.
      shards: the shards of each stream, in order.

    Raises:
      InputError: a stream does not have the shards of another one, or not in the same order.
    """
    names = {
        number: names_of([shard.file.path for shard in of_stream])
        for number, of_stream in enumerate(shards)
        if len(of_stream) > 1
    }
    if len(names) < 2:
        return
    kinds: list[list[int]] = []  # streams whose shards correspond to each other
    for number in names:
        for kind in kinds:
            one, other = what_varies(names[number], names[kind[0]])
            if one == other:
                kind.append(number)
                break
        else:
            kinds.append([number])
    if len(kinds) == 1:
        return
    usual = max(kinds, key=len)[0]  # if equal, the first
    odd = next(kind for kind in reversed(kinds) if usual not in kind)[-1]
    raise _unlike(streams, shards, odd, usual, *what_varies(names[odd], names[usual]))


def _unlike(
    streams: Sequence[Stream],
    shards: Sequence[Sequence[Shard]],
    odd: int,
    usual: int,
    odd_names: Sequence[Parts],
    usual_names: Sequence[Parts],
) -> InputError:
    """The error for two streams, given by their numbers, whose shards have these names."""
    paths = {
        number: dict(zip(names, (shard.file.path for shard in shards[number]), strict=True))
        for number, names in ((odd, odd_names), (usual, usual_names))
    }
    same = len(paths[odd].keys() & paths[usual].keys())
    said = [f"{same or 'no'} {'shard corresponds' if same == 1 else 'shards correspond'}"]
    for one, other in ((odd, usual), (usual, odd)):
        if missing := [path for name, path in paths[other].items() if name not in paths[one]]:
            said.append(
                f"{streams[one].label} have no shard for {len(missing)} of "
                f"{streams[other].label}: {joined(missing)}"
            )
    if len(said) == 1:
        pairs = enumerate(zip(odd_names, usual_names, strict=True), 1)
        place, (one_name, other_name) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
        said = [
            f"shard {place} of {streams[odd].label} and of {streams[usual].label} are different "
            f"by their names: {paths[odd][one_name]}, {paths[usual][other_name]}"
        ]
    return InputError("; ".join(said), _REMEDY)


def require_same_lines(
    streams: Sequence[Stream], shards: Sequence[Sequence[Shard]], lines: Sequence[Sequence[int]]
) -> None:
    """Checks that corresponding shards have the same number of lines.

    Args:
      streams: the streams.
      shards: the shards of each stream; streams of several shards correspond.
      lines: the number of lines of each shard of each stream.

    Raises:
      InputError: they differ; the message names the shard that differs from the others.
    """
    sharded = [number for number, of_stream in enumerate(shards) if len(of_stream) > 1]
    if len(sharded) < 2:
        return
    different = []
    for place in range(len(shards[sharded[0]])):
        odd, other = _odd_one({i: lines[i][place] for i in sharded})
        if odd != other:
            different.append((place, odd, other))
    if not different:
        return
    place, odd, other = different[0]
    cause = (
        f"{len(different)} of {len(shards[odd])} shards do not have the same number of lines in "
        f"all streams: shard {place + 1} has {_lines(lines[odd][place])} in {streams[odd].label}, "
        f"{lines[other][place]:,} in {streams[other].label}: "
        f"{shards[odd][place].file.path}, {shards[other][place].file.path}"
    )
    if len(different) > 1:
        more = [shards[odd][place].file.path for place, odd, _ in different[1:]]
        cause += f"; also different: {joined(more)}"
    raise InputError(
        cause,
        "line i of corresponding shards must belong to one segment: find the lost or added line; "
        "if the streams are cut at different lines on purpose, add --cuts any",
    )


def require_equal_line_counts(streams: Sequence[Stream], lines: Sequence[int]) -> None:
    """Checks that all streams have the same number of lines, and at least one.

    Args:
      streams: the streams.
      lines: the number of lines of each.

    Raises:
      InputError: they differ, or there are no lines; if most streams agree, the message begins
        with the others.
    """
    paths = [stream.shown(stream.pattern) for stream in streams]
    counts = collections.Counter(lines)
    if len(counts) == 1:
        if not lines[0]:
            raise InputError(
                f"the corpus is empty, no stream has a line: {joined(paths, _MOST)}",
                "check that the files were written",
            )
        return
    (usual, most), (_, second) = counts.most_common(2)
    if most == second and len(streams) > 2:
        odd = list(range(len(streams)))  # none of them is known to be right
    else:
        # Of two streams the first has the usual number, the references: a Counter keeps the order.
        odd = [i for i, count in enumerate(lines) if count != usual]
    said = [f"{streams[i].label} have {_lines(lines[i])}" for i in odd]
    shown = [paths[i] for i in odd[:_MOST]]
    cause = joined(said, _MOST)
    rest = [i for i in range(len(streams)) if i not in set(odd)]
    if len(rest) == 1:
        cause += f", {streams[rest[0]].label} have {usual:,}"
        shown.append(paths[rest[0]])
    elif rest:
        cause += f", the {len(rest)} other streams have {usual:,}"
    elif len(odd) > _MOST:
        cause = f"the streams have {len(counts)} different numbers of lines: {cause}"
    raise InputError(
        f"{cause}: {', '.join(shown)}",
        "line i of every stream must belong to segment i: look for a missing shard or line",
    )


def _odd_one(values: Mapping[int, Hashable]) -> tuple[int, int]:
    """(a stream whose value differs from most others, a stream with the usual value).

    If all have the same value, both are the same stream. Of two streams, the last is odd.

    Args:
      values: the value of each stream, by the stream's number, in order.
    """
    counts = collections.Counter(values.values())
    usual = max(values, key=lambda i: counts[values[i]])  # if equal, the first
    odd = [i for i, value in values.items() if value != values[usual]]
    return (odd[-1] if odd else usual), usual


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


@dataclasses.dataclass(frozen=True)
class Expected:
    """The requirements for a corpus.

    Attributes:
      cuts: where its streams may be cut into shards.
      segments: the required number of segments; None for any number.
      max_line_bytes: the largest number of bytes of a line.
    """

    cuts: Cuts = "same"
    segments: int | None = None
    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that tell a reader of the score which checks were left out."""
        if self.cuts == "same":
            return ()
        return (
            "--cuts any: the streams were compared only by their total numbers of lines, "
            "not shard by shard",
        )

    def require_segments(self, segments: int) -> None:
        """Checks the number of segments.

        Raises:
          InputError: there are more or fewer segments than required.
        """
        if self.segments not in (None, segments):
            raise InputError(
                f"the corpus has {segments} segment{'' if segments == 1 else 's'}, "
                f"but --expect_segments is {self.segments}",
                "look for shards or lines that are missing or were added in all streams",
            )
