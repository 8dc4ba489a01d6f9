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
    return _WILDCARD.split(pattern.removeprefix("./"), maxsplit=1)[0]


@dataclasses.dataclass(frozen=True)
class Stream:
    """A system's candidates or one of the references, named in messages by `label`.

    If `pattern` is a temporary copy of a pipe, `pipe` is its name for messages.
    """

    label: str
    pattern: str
    pipe: str = ""

    def __str__(self) -> str:
        return f"{self.label} ({self.shown(self.pattern)})"

    def shown(self, path: str) -> str:
        return self.pipe or path

    def told(self, what: str, path: str) -> str:
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
    stream: int
    number: int
    file: FoundFile
    is_last: bool = True


def compression(path: str) -> Compression | None:
    return next((suffix for suffix in COMPRESSIONS if path.lower().endswith(suffix)), None)


def changed(stream: Stream, path: str, how: str) -> InputError:
    remedy = "the file changed while the job ran: start again when it is complete"
    return InputError(stream.told(f"the file {how}", path), remedy)
