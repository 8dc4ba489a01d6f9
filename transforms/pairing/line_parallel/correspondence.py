"""Checks that the streams of a corpus belong together, shard by shard.

Two streams with the same number of lines can still be misaligned: a different shard is
missing in each, or each has lost a different line. So streams of several shards must
have the same shards, each with the same number of lines. A stream of one file can be
paired with any stream.
"""

from __future__ import annotations

import collections
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.line_parallel.shard_names import Parts, names_of, what_varies
from beam_bleu.transforms.pairing.line_parallel.streams import Shard, Stream

Cuts = Literal["same", "any"]
"""Where streams may be cut into shards: all at the same lines, or each one at any lines."""

CUTS: tuple[Cuts, ...] = get_args(Cuts)

_REMEDY = (
    "give all streams the same shards, with corresponding names; if the streams are cut at "
    "different lines on purpose, add --cuts any"
)
_SHOWN = 3
"""How many shards a message names."""


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
    said = [
        f"{streams[one].label}: no shard corresponds to {_shown(missing)}"
        for one, other in ((odd, usual), (usual, odd))
        if (missing := [path for name, path in paths[other].items() if name not in paths[one]])
    ]
    if not said:
        pairs = zip(odd_names, usual_names, strict=True)
        one_name, other_name = next(pair for pair in pairs if pair[0] != pair[1])
        said = [
            f"{paths[odd][one_name]} and {paths[usual][other_name]} are in the same place, "
            "but are different shards by their names"
        ]
    same = len(paths[odd].keys() & paths[usual].keys())
    rest = f"the other {same} {'corresponds' if same == 1 else 'correspond'}"
    return InputError("; ".join([*said, rest if same else "no shards correspond"]), _REMEDY)


def require_same_lines(shards: Sequence[Sequence[Shard]], lines: Sequence[Sequence[int]]) -> None:
    """Checks that corresponding shards have the same number of lines.

    Args:
      shards: the shards of each stream; streams of several shards correspond.
      lines: the number of lines of each shard of each stream.

    Raises:
      InputError: they differ; the message begins with the shard that differs from the others.
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
        f"{shards[odd][place].file.path} has {lines[odd][place]:,} lines, "
        f"{shards[other][place].file.path} has {lines[other][place]:,}"
    )
    if len(different) > 1:
        more = [shards[odd][place].file.path for place, odd, _ in different[1:]]
        cause += f"; also different: {_shown(more)}"
    equal = len(shards[sharded[0]]) - len(different)
    rest = f"the other {equal} {'is' if equal == 1 else 'are'} equal"
    raise InputError(
        f"{cause}; {rest if equal else 'no shards are equal'}",
        "line i of corresponding shards must belong to one segment: find the lost or added line; "
        "if the streams are cut at different lines on purpose, add --cuts any",
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


def _shown(paths: Sequence[str]) -> str:
    more = len(paths) - _SHOWN
    return ", ".join(paths[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
