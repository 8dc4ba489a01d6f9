"""Streams of lines: which files make up each one, and in which order."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from transforms.errors import InputError, UsageError

COMPRESSIONS = (".gz", ".bz2", ".zst", ".xz")


@dataclasses.dataclass(frozen=True)
class Stream:
    """A system's candidates or one of the references, as the user named it.

    Attributes:
      label: what messages call it, such as "candidates LIUM-NMT".
      pattern: a path or a glob of any Beam filesystem; the shards it matches
        form one stream in name order.
    """

    label: str
    pattern: str

    def __str__(self) -> str:
        return f"{self.label} ({self.pattern})"


@dataclasses.dataclass(frozen=True)
class FoundFile:
    """A file that a stream's pattern matched.

    Attributes:
      path: its path.
      size: its bytes, compressed as it is.
      modified: when it was last changed, in its filesystem's seconds; 0 if that has no clock.
    """

    path: str
    size: int
    modified: float = 0.0


@dataclasses.dataclass(frozen=True)
class Shard:
    """One file of a stream.

    Attributes:
      stream: the stream's number.
      number: the file's number in the stream.
      path: its path.
      size: its bytes, compressed as it is.
      modified: when it was last changed; 0 if its filesystem does not tell.
      is_last: whether it is the stream's last file.
    """

    stream: int
    number: int
    path: str
    size: int
    modified: float = 0.0
    is_last: bool = True


def compression(path: str) -> str | None:
    """The compression suffix of a path, or None."""
    return next((suffix for suffix in COMPRESSIONS if path.lower().endswith(suffix)), None)


def shards_in_order(number: int, stream: Stream, found: Sequence[FoundFile]) -> list[Shard]:
    """The files that a stream's pattern matched, in the order of the stream.

    Args:
      number: the stream's number.
      stream: the stream.
      found: the files, in any order.

    Raises:
      InputError: nothing matched.
      UsageError: the shards are numbered and their name order is not their
        number order (part-10 before part-2), so that lines would be misaligned.
    """
    if not found:
        raise InputError(
            f"{stream.label}: nothing matches {stream.pattern}",
            "check the path; a pattern is matched where the workers run",
        )
    found = sorted(found, key=lambda file: file.path)
    by_number = sorted(found, key=lambda file: _numbers_as_numbers(file.path))
    for named, numbered in zip(found, by_number, strict=True):
        if named != numbered:
            raise UsageError(
                f"{stream.label}: by name {named.path} comes before {numbered.path}, "
                "by number after it",
                "name the shards with leading zeros (part-00002, part-00010)",
            )
    return [
        Shard(number, i, file.path, file.size, file.modified, is_last=i == len(found) - 1)
        for i, file in enumerate(found)
    ]


def _numbers_as_numbers(path: str) -> list[tuple[int, str]]:
    parts = re.split(r"([0-9]+)", path)  # text and numbers in turn
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]
