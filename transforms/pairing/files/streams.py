"""Streams of lines, their files, and the order of these: each shard must be there once. In the path
that identifies a shard, numbers are read as numbers, so `part-2` comes before `part-10`.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import os
import re
from collections.abc import Sequence, Set
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError

Compression = Literal[".gz", ".bz2", ".zst", ".xz"]
COMPRESSIONS: tuple[Compression, ...] = get_args(Compression)

_WILDCARD = re.compile(r"[*?\[]")


def is_pattern(path: str) -> bool:
    return bool(_WILDCARD.search(path))


def name_and_pattern(text: str) -> tuple[str | None, str]:
    """NAME and PATTERN of [NAME=]PATTERN; a NAME has no slash and no wildcard."""
    name, equals, pattern = text.partition("=")
    is_named = equals and "/" not in name and not is_pattern(name)
    return (name, pattern) if is_named else (None, text)


def before_wildcard(pattern: str) -> str:
    return _WILDCARD.split(pattern.removeprefix("./"), maxsplit=1)[0]


@dataclasses.dataclass(frozen=True)
class Stream:
    """Candidates, references, ...; `pipe` is the name in messages of the pipe that was copied."""

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
    """A file, its size before decompression, and the version of the table that lists it."""

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


def _uncompressed(path: str) -> str:
    return path[: len(path) - len(compression(path) or "")]


def changed(stream: Stream, path: str, how: str) -> InputError:
    remedy = "the file changed while the job ran: start again when it is complete"
    return InputError(stream.told(f"the file {how}", path), remedy)


# Names of Beam and TensorFlow, part-00003-of-00010: the last such place.
_OF = re.compile(
    r".*(?<![0-9])(?P<number>[0-9]+)([-_. ])of\2(?P<total>[0-9]+)", re.DOTALL | re.IGNORECASE
)

# A name in words, numbers and other characters: a number n is ("0", n), a text is (text, 0). A
# slash is U+0000, so names in a folder come before those in a folder with a longer name.
Name = tuple[tuple[str, int], ...]

_PART = re.compile(r"[0-9]+|[^\W\d_]+|.", re.DOTALL)

_COPY = re.compile(r"[.~](?=[^/]*\Z)")  # follows another name in out.txt.bak, out.txt.1, out.txt~


def shards_in_order(number: int, stream: Stream, files: Sequence[FoundFile]) -> list[Shard]:
    require_files(stream, files)
    keys = _order_keys([file.path for file in files])
    ordered = sorted(files, key=lambda file: keys[file.path])
    paths = [file.path for file in ordered]
    same = [pair for pair in itertools.pairwise(paths) if keys[pair[0]] == keys[pair[1]]]
    bare = {_uncompressed(path): path for path in paths}
    ends = ((name, match.start()) for name in bare for match in _COPY.finditer(name))
    copies = [(bare[name[:end]], bare[name]) for name, end in ends if name[:end] in bare]
    for one, other in [*same, *copies]:
        raise InputError(
            f"{stream.label}: two files are the same shard by their names: {one}, {other}",
            "move a copy to another folder; or give the shards names that differ before the "
            "extension (out-aa.txt, out-ab.txt)",
        )
    if is_pattern(stream.pattern):
        _require_all_of_total(stream, paths)
    last = len(ordered) - 1
    return [Shard(number, i, file, is_last=i == last) for i, file in enumerate(ordered)]


def require_files(stream: Stream, files: Sequence[FoundFile]) -> None:
    if files:
        return
    path = stream.pattern
    if is_pattern(path) or "://" in path:
        remedy = "check the path; a pattern is matched where the workers run"
        raise InputError(f"{stream.label}: nothing matches {path}", remedy)
    remedy = "check the path; the workers must see the file, too"
    raise InputError(f"{stream.label}: there is no file {path}", remedy)


def _of_total(stream: Stream, path: str) -> re.Match[str] | None:
    """The last place with a shard's number and the total, outside of fixed folders."""
    head = before_wildcard(stream.pattern).rpartition("/")[0]
    start = len(head) if path.startswith(head) else path.rfind("/") + 1
    return _OF.match(path, start)


def _require_all_of_total(stream: Stream, paths: Sequence[str]) -> None:
    """Checks shards such as part-00003-of-00010, from 0, or from 1 if the total is one of them."""
    sets: dict[str, list[re.Match[str]]] = collections.defaultdict(list)
    for path in paths:
        if match := _of_total(stream, path):
            sets[path[: match.start("number")]].append(match)
    for shards in sets.values():
        first = shards[0]
        total = int(first["total"])
        other = next((shard for shard in shards if int(shard["total"]) != total), None)
        if other is not None:
            raise InputError(
                f"{stream.label}: the shards belong to two sets, one of {total} and one of "
                f"{int(other['total'])}: {first.string}, {other.string}",
                "remove the older set, or use a pattern that matches only one",
            )
        numbers = {int(shard["number"]) for shard in shards}
        base = 1 if total in numbers and 0 not in numbers else 0
        if numbers != {*range(base, base + total)}:
            missing = next(number for number in itertools.count(base) if number not in numbers)
            raise InputError(
                f"{stream.label}: by their names there are {total} shards, but here are "
                f"{len(numbers)}, from {min(numbers)} to {max(numbers)} without {missing}: "
                f"{first.string}",
                "wait until all shards are written, or copy the missing ones; remove older ones",
            )


def _order_keys(paths: Sequence[str]) -> dict[str, Name]:
    """The key of each shard. Names of equal length without a common pattern of numbers can be
    hexadecimal numbers, so they are ordered by their characters.
    """
    stems = _stems(paths)
    keys = {path: _name(stem) for path, stem in stems.items()}
    forms = {tuple(text for text, _ in key) for key in keys.values()}
    if len({len(stem) for stem in stems.values()}) == 1 and len(forms) > 1:
        return {path: ((stem.replace("/", "\0"), 0),) for path, stem in stems.items()}
    return keys


def in_order(paths: Sequence[str]) -> list[str]:
    keys = _order_keys(paths)
    return sorted(paths, key=lambda path: (keys[path], path))


def names_of(paths: Sequence[str]) -> list[Name]:
    stems = [stem.split("/") for stem in _stems(paths).values()]
    shared = len(os.path.commonprefix([stem[:-1] for stem in stems]))  # noqa: RUF071
    return [_name("/".join(stem[shared:])) for stem in stems]


def what_varies(one: Sequence[Name], other: Sequence[Name]) -> tuple[list[Name], list[Name]]:
    """The names by which two streams correspond: whole if they share one, else only what varies."""
    if set(one).isdisjoint(other):
        return _without_shared(one), _without_shared(other)
    return list(one), list(other)


def _without_shared(names: Sequence[Name]) -> list[Name]:
    for _ in range(2):
        shared = len(os.path.commonprefix(names))  # noqa: RUF071
        names = [name[shared:][::-1] for name in names]
    return list(names)


def _stems(paths: Sequence[str]) -> dict[str, str]:
    """Each path without its compression suffix and its extension, unless the extension numbers
    files, as in `out.1`, Beam's `out.txt-00000-of-00002` and `out.aa` from `split`.
    """
    bare = {path: _uncompressed(path) for path in paths}
    halves = {path: os.path.splitext(name) for path, name in bare.items()}
    extensions = collections.defaultdict(set)
    for stem, extension in halves.values():
        extensions[stem].add(extension[1:])
    counted = {stem for stem, of_stem in extensions.items() if _are_counted(of_stem)}
    return {
        path: bare[path] if stem in counted or extension[1:].isdecimal() else stem
        for path, (stem, extension) in halves.items()
    }


def _are_counted(extensions: Set[str]) -> bool:
    """Whether extensions number files: they differ only in numbers, or are those of `split`."""
    if len({re.sub("[0-9]+", "0", extension) for extension in extensions}) == 1:
        return len(extensions) > 1
    first = min(extensions)  # aa, or 00 of hexadecimal numbers
    return first in ("a" * len(first), "0" * len(first)) and len({*map(len, extensions)}) == 1


def _name(stem: str) -> Name:
    parts = _PART.findall(stem.replace("/", "\0"))
    return tuple(("0", int(part)) if "0" <= part[0] <= "9" else (part, 0) for part in parts)
