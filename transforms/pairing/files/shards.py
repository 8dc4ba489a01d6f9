"""The shards of one stream: puts them in order, and checks that each is there once.

A shard is identified by its path without the compression suffix and without the extension.
Numbers in it are read as numbers, so `part-2` comes before `part-10`, and `news` comes before
`news-extra`, with any suffixes.
"""

from __future__ import annotations

import collections
import itertools
import os
import re
from collections.abc import Iterable, Sequence, Set

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import (
    FoundFile,
    Shard,
    Stream,
    before_wildcard,
    compression,
    is_pattern,
)

_OF = re.compile(
    r".*(?<![0-9])(?P<number>[0-9]+)([-_. ])of\2(?P<total>[0-9]+)", re.DOTALL | re.IGNORECASE
)
"""The names of Beam and TensorFlow, part-00003-of-00010. It finds the last such place."""

Parts = tuple[str | int, ...]
"""A name in parts: text and number alternate; the first and the last part are texts.

A text before a number ends with "0". So names are ordered by their characters, with a number
in the place of digits, and numbers are ordered by size. A slash is replaced by U+0000, so that
names in a folder come before those in a folder with a longer name.
"""

_NUMBER = re.compile(r"([0-9]+)")

_COPY = re.compile(r"~$|\.[^.]*$")
"""What the name of a copy has after the name of the file."""


def shards_in_order(number: int, stream: Stream, files: Sequence[FoundFile]) -> list[Shard]:
    """The files that a stream's pattern matched, in the order of the stream.

    Args:
      number: the stream's number.
      stream: the stream.
      files: the files, in any order.

    Raises:
      InputError: nothing matched, two files are the same shard, or the names say how
        many shards there are and one is missing.
    """
    require_files(stream, files)
    paths = [file.path for file in files]
    keys = order_keys(paths)
    ordered = sorted(files, key=lambda file: keys[file.path])
    for one, other in itertools.pairwise(ordered):
        if keys[one.path] == keys[other.path]:
            raise _same_shard(stream, one.path, other.path)
    _refuse_copies(stream, paths)
    if is_pattern(stream.pattern):
        _require_all_of_total(stream, [file.path for file in ordered])
    last = len(ordered) - 1
    return [Shard(number, i, file, is_last=i == last) for i, file in enumerate(ordered)]


def require_files(stream: Stream, files: Sequence[FoundFile]) -> None:
    """Checks that a stream's pattern matched a file.

    Raises:
      InputError: nothing matched.
    """
    if files:
        return
    path = stream.pattern
    if is_pattern(path) or "://" in path:
        raise InputError(
            f"{stream.label}: nothing matches {path}",
            "check the path; a pattern is matched where the workers run",
        )
    remedy = "check the path"
    if path.startswith("/"):  # for an engine, all paths of the command line are made absolute
        remedy = "check the path; the workers must see the file, too"
    raise InputError(f"{stream.label}: there is no file {path}", remedy)


def _refuse_copies(stream: Stream, paths: Sequence[str]) -> None:
    """Refuses a file with the name of a copy of another: p-0.txt.bak, p-0.txt~, .p-0.txt.swp."""
    originals = {name: path for path, name in bare_names(paths).items()}
    for name, path in originals.items():
        folder, slash, last = name.rpartition("/")
        original = originals.get(f"{folder}{slash}{_COPY.sub('', last.removeprefix('.'))}", path)
        if original != path:
            raise _same_shard(stream, original, path)


def _same_shard(stream: Stream, one: str, other: str) -> InputError:
    return InputError(
        f"{stream.label}: two files are the same shard by their names, so its lines would be "
        f"scored twice: {one}, {other}",
        "if one is a copy, move it to another folder; if they are different shards, give them "
        "names that differ before the extension (out-aa.txt, out-ab.txt)",
    )


def of_total(stream: Stream, path: str) -> re.Match[str] | None:
    """The place in a path with the shard's number and the total, if there is one.

    If there are several such places, it is the last one. Folders in the pattern before its
    first wildcard do not count.
    """
    head = before_wildcard(stream.pattern).rpartition("/")[0]
    start = len(head) if path.startswith(head) else path.rfind("/") + 1
    return _OF.match(path, start)


def _require_all_of_total(stream: Stream, paths: Sequence[str]) -> None:
    """Checks the shards whose names say how many there are, such as part-00003-of-00010.

    Numbers begin with 0, or with 1 if the total itself is one of them.
    """
    sets: dict[str, list[re.Match[str]]] = collections.defaultdict(list)
    for path in paths:
        if match := of_total(stream, path):
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
                "wait until all shards of one run are written, or copy the missing ones; remove "
                "those of other runs",
            )


def order_keys(paths: Sequence[str]) -> dict[str, Parts]:
    """The key of each shard, which identifies and orders it: its stem, with numbers as numbers.

    Names of equal length without a common pattern of numbers are ordered by their characters,
    so that hexadecimal numbers are in order.
    """
    stems = stems_of(paths)
    keys = {path: parts_of(stem) for path, stem in stems.items()}
    if len({len(stem) for stem in stems.values()}) == 1 and len(_forms(keys.values())) > 1:
        return {path: (stem.replace("/", "\0"),) for path, stem in stems.items()}
    return keys


def in_order(paths: Sequence[str]) -> list[str]:
    """The paths in the order in which shards are read."""
    keys = order_keys(paths)
    return sorted(paths, key=lambda path: (keys[path], path))


def _forms(names: Iterable[Parts]) -> set[Parts]:
    """The names without their numbers."""
    return {name[::2] for name in names}


def names_of(paths: Sequence[str]) -> list[Parts]:
    """The names of the shards of one stream, without the folders that are common to all."""
    stems = [stem.split("/") for stem in stems_of(paths).values()]
    shared = len(os.path.commonprefix([stem[:-1] for stem in stems]))  # noqa: RUF071
    return [parts_of("/".join(stem[shared:])) for stem in stems]


def what_varies(one: Sequence[Parts], other: Sequence[Parts]) -> tuple[list[Parts], list[Parts]]:
    """The varying parts of the names of two streams: they are equal if the streams correspond.

    If a name is in both streams, all names are compared as a whole. Otherwise each name is
    compared without the parts that are common to all names of its own stream.
    """
    if set(one).isdisjoint(other):
        return without_shared(one), without_shared(other)
    return list(one), list(other)


def without_shared(names: Sequence[Parts]) -> list[Parts]:
    """The names without their common beginning and their common end, in whole words."""
    names = _without_shared_beginning(names)
    return [_reversed(name) for name in _without_shared_beginning([*map(_reversed, names)])]


def _without_shared_beginning(names: Sequence[Parts]) -> list[Parts]:
    first, last = min(names), max(names)
    parts = enumerate(zip(first, last, strict=False))
    shared = next((i for i, (one, other) in parts if one != other), len(first))
    if shared % 2:  # the first difference is in a number, which is never cut
        return [("", *name[shared:]) for name in names]
    texts = [str(name[shared]) for name in names]
    end = len(os.path.commonprefix(texts))  # noqa: RUF071
    # A word is not cut, either: `xaa` and `xab` are not `a` and `b`.
    while end and any(text[end - 1 : end + 1].isalpha() for text in texts if len(text) > end):
        end -= 1
    return [(text[end:], *name[shared + 1 :]) for text, name in zip(texts, names, strict=True)]


def _reversed(name: Parts) -> Parts:
    return tuple(part[::-1] if isinstance(part, str) else part for part in name[::-1])


def stems_of(paths: Sequence[str]) -> dict[str, str]:
    """Each path without its compression suffix and its extension.

    If files have the same stem and their extensions number them (`out.1`, `out.2`; `split`'s
    `out.aa`, `out.ab`), the extensions are kept.
    """
    bare = bare_names(paths)
    halves = {path: os.path.splitext(name) for path, name in bare.items()}
    extensions = collections.defaultdict(set)
    for stem, extension in halves.values():
        extensions[stem].add(extension)
    counted = {stem for stem, of_stem in extensions.items() if _are_counted(of_stem)}
    return {
        path: bare[path] if stem in counted or extension[1:].isdecimal() else stem
        for path, (stem, extension) in halves.items()
    }


def bare_names(paths: Sequence[str]) -> dict[str, str]:
    """Each path without its compression suffix."""
    return {path: path[: len(path) - len(compression(path) or "")] for path in paths}


def _are_counted(extensions: Set[str]) -> bool:
    """Whether extensions number files: they differ only in numbers, or are those of `split`."""
    if len(extensions) < 2:
        return False
    if len({_NUMBER.sub("0", extension) for extension in extensions}) == 1:
        return True
    first = min(extensions)[1:]  # aa, or 00 of hexadecimal numbers
    return first in ("a" * len(first), "0" * len(first)) and len({*map(len, extensions)}) == 1


def parts_of(name: str) -> Parts:
    """A name in parts."""
    parts: list[str | int] = [*_NUMBER.split(name.replace("/", "\0"))]
    for i in range(1, len(parts), 2):
        parts[i - 1] = f"{parts[i - 1]}0"
        parts[i] = int(parts[i])
    return tuple(parts)
