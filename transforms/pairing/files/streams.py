"""Streams of lines, and their files."""

from __future__ import annotations

import dataclasses
import re
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError

Compression = Literal[".gz", ".bz2", ".zst", ".xz"]
COMPRESSIONS: tuple[Compression, ...] = get_args(Compression)

_WILDCARD = re.compile(r"[*?\[]")


def is_pattern(path: str) -> bool:
    return bool(_WILDCARD.search(path))


def before_wildcard(pattern: str) -> str:
    """The text of a pattern before its first wildcard."""
    return _WILDCARD.split(pattern.removeprefix("./"), maxsplit=1)[0]


@dataclasses.dataclass(frozen=True)
class Stream:
    """A system's candidates or one of the references, as the user named it.

    Attributes:
      label: its name for messages, such as "candidates LIUM-NMT".
      pipe: the name of the pipe for messages, if the pattern is a temporary copy of it.
    """

    label: str
    pattern: str
    pipe: str = ""

    def __str__(self) -> str:
        return f"{self.label} ({self.shown(self.pattern)})"

    def shown(self, path: str) -> str:
        """A path of this stream, as messages show it."""
        return self.pipe or path

    def told(self, what: str, path: str) -> str:
        """The cause of an error: the stream, then what is wrong, and the path last."""
        return f"{self.label}: {what}: {self.shown(path)}"


@dataclasses.dataclass(frozen=True)
class FoundFile:
    """A file of a stream, and its size before decompression.

    `snapshot` is the version of the Delta or Iceberg table that lists it.
    """

    path: str
    size: int
    snapshot: str | None = None


@dataclasses.dataclass(frozen=True)
class Shard:
    """One file of a stream, and the numbers of both."""

    stream: int
    number: int
    file: FoundFile
    is_last: bool = True


def compression(path: str) -> Compression | None:
    return next((suffix for suffix in COMPRESSIONS if path.lower().endswith(suffix)), None)


def changed(stream: Stream, path: str, how: str) -> InputError:
    remedy = "the file changed while the job ran: start again when it is complete"
    return InputError(stream.told(f"the file {how}", path), remedy)
