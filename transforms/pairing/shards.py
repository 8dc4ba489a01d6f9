"""The shards of one stream: their order, and what their names say about missing ones.

A shard is known by its path without the compression suffix and without the
extension, its numbers read as numbers, so that `part-2` comes before `part-10`
and `news` before `news-extra`, whatever the suffixes are.
"""

from __future__ import annotations

import collections
import datetime
import itertools
import os
import re
import string
from collections.abc import Iterable, Sequence, Set

from transforms.errors import InputError
from transforms.pairing.streams import FoundFile, Shard, Stream, compression, is_pattern

Parts = tuple[str | int, ...]
"""A name in parts: text and number in turn, beginning and ending with a text.

A text that is followed by a number ends with "0", so that such names are ordered by their
characters, and the numbers, which stand where digits do, by size. A slash is U+0000, so that
names in a folder come before those in a folder with a longer name.
"""

_NUMBER = re.compile(r"([0-9]+)")
_OF = re.compile(r"(?P<number>[0-9]+)(?P<between>[-_. ]?)of(?P=between)(?P<total>[0-9]+)")
"""The habit of Beam and TensorFlow: part-00003-of-00010."""

_SHOWN = 5
"""How many missing shards a message names."""


def shards_in_order(number: int, stream: Stream, found: Sequence[FoundFile]) -> list[Shard]:
    """The files that a stream's pattern matched, in the order of the stream.

    Args:
      number: the stream's number.
      stream: the stream.
      found: the files, in any order.

    Raises:
      InputError: nothing matched, two files are the same shard, or the names say how
        many shards there are and one is missing.
    """
    if not found:
        raise InputError(
            f"{stream.label}: nothing matches {stream.pattern}",
            "check the path; a pattern is matched where the workers run",
        )
    paths = [file.path for file in found]
    keys = {path: _parts(stem) for path, stem in _stems(paths).items()}
    ordered = sorted(found, key=lambda file: keys[file.path])
    for one, other in itertools.pairwise(ordered):
        if keys[one.path] == keys[other.path]:
            raise _same_shard(stream, one.path, other.path)
    _refuse_copies(stream, paths)
    if is_pattern(stream.pattern):
        _require_all_of_total(stream, [file.path for file in ordered])
    last = len(ordered) - 1
    return [
        Shard(number, i, file.path, file.size, is_last=i == last) for i, file in enumerate(ordered)
    ]


def names_of(paths: Sequence[str]) -> list[Parts]:
    """The names of the shards of one stream: what follows the folders that all of them are in."""
    stems = [stem.split("/") for stem in _stems(paths).values()]
    shared = len(os.path.commonprefix([stem[:-1] for stem in stems]))  # noqa: RUF071
    return [_parts("/".join(stem[shared:])) for stem in stems]


def what_varies(one: Sequence[Parts], other: Sequence[Parts]) -> tuple[list[Parts], list[Parts]]:
    """What tells the shards of a stream from each other, of two streams: equal if they correspond.

    Names that stand in both streams are names of shards, and all of them count in full. If
    all names are alike but for their numbers, the numbers count that vary in either stream.
    Else each name counts without what all names of its own stream share.

    Args:
      one: the names of the shards of one stream, of which no two are the same.
      other: likewise, of the other stream.
    """
    if not set(one).isdisjoint(other):
        return list(one), list(other)
    if len({name[::2] for name in (*one, *other)}) == 1:
        places = [
            place
            for place in range(1, len(one[0]), 2)
            if any(len({name[place] for name in names}) > 1 for names in (one, other))
        ]
        by_number = [[tuple(name[i] for i in places) for name in names] for names in (one, other)]
        return by_number[0], by_number[1]
    return _without_shared(one), _without_shared(other)


def _without_shared(names: Sequence[Parts]) -> list[Parts]:
    """The names without what all begin with and without what all end with, in whole words."""
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


def notes_of(streams: Sequence[Stream], shards: Sequence[Sequence[Shard]]) -> tuple[str, ...]:
    """What a reader of the result should know about the shards' names, a sentence each.

    Gaps in a numbering, a shard of several that was named alone, and shards that `cat` would
    join in another order, if another stream is one file.

    Args:
      streams: the streams.
      shards: the shards of each.
    """
    gaps: dict[str, list[str]] = {}  # the gap -> the streams that have it
    notes = []
    whole = next((i for i, of_stream in enumerate(shards) if len(of_stream) == 1), None)
    for stream, of_stream in zip(streams, shards, strict=True):
        paths = [shard.path for shard in of_stream]
        if len(paths) > 1:
            missing = _gaps(paths)
            if missing:
                gaps.setdefault(missing, []).append(stream.label)
            pairs = zip(paths, sorted(paths), strict=True)
            unlike = next((pair for pair in pairs if pair[0] != pair[1]), None)
            if whole is not None and unlike:
                notes.append(
                    f"{stream.label}: {unlike[0]} is read before {unlike[1]}, but `cat` with a "
                    f"pattern joins them the other way round; check that {streams[whole]}, which "
                    "is one file, is in the order of the shards"
                )
        elif (match := _of_total(paths[0])) and int(match["total"]) > 1:
            notes.append(
                f"{stream.label}: {paths[0]} is one of {int(match['total'])} shards, "
                "and only this one is read"
            )
    notes += [f"{', '.join(labels)}: {missing}" for missing, labels in gaps.items()]
    return tuple(notes)


def _stems(paths: Sequence[str]) -> dict[str, str]:
    """Each path without its compression suffix and its extension.

    Where files have one stem and their extensions count them (`out.1`, `out.2`; `split`'s
    `out.aa`, `out.ab`), the extensions are kept.
    """
    bare = _bare(paths)
    stems = {path: os.path.splitext(name)[0] for path, name in bare.items()}
    if len(set(stems.values())) < len(stems):
        extensions = collections.defaultdict(set)
        for path, stem in stems.items():
            extensions[stem].add(bare[path][len(stem) :])
        counted = {stem for stem, of_stem in extensions.items() if _are_counted(of_stem)}
        stems = {path: bare[path] if stem in counted else stem for path, stem in stems.items()}
    return stems


def _bare(paths: Sequence[str]) -> dict[str, str]:
    return {path: path[: len(path) - len(compression(path) or "")] for path in paths}


def _refuse_copies(stream: Stream, paths: Sequence[str]) -> None:
    """Refuses a file that is called as a copy of another: p-0.txt.bak, p-0.txt~, .p-0.txt.swp."""
    originals = {name: path for path, name in _bare(paths).items()}
    for name, path in originals.items():
        folder, slash, last = name.rpartition("/")
        last = last.removeprefix(".")
        ends = [i for i, letter in enumerate(last) if i and letter in ".~"]
        for original in (f"{folder}{slash}{last[:end]}" for end in ends):
            if originals.get(original, path) != path:
                raise _same_shard(stream, originals[original], path)


def _are_counted(extensions: Set[str]) -> bool:
    """Whether extensions are a count: alike but for their numbers, or `split`'s aa, ab, ac..."""
    if len(extensions) < 2:
        return False
    if len({_NUMBER.sub("0", extension) for extension in extensions}) == 1:
        return True
    letters = sorted(extension[1:] for extension in extensions)
    width = len(letters[0])
    if not 2 <= width <= 4:
        return False
    counted = itertools.product(string.ascii_lowercase, repeat=width)
    return letters == ["".join(each) for each in itertools.islice(counted, len(letters))]


def _parts(name: str) -> Parts:
    parts: list[str | int] = [*_NUMBER.split(name.replace("/", "\0"))]
    for i in range(1, len(parts), 2):
        parts[i - 1] = f"{parts[i - 1]}0"
        parts[i] = int(parts[i])
    return tuple(parts)


def _same_shard(stream: Stream, one: str, other: str) -> InputError:
    return InputError(
        f"{stream.label}: {one} and {other} are the same shard by their names, "
        "so its lines would be scored twice",
        "if one is a copy, move it away; if they are different shards, name them so that they "
        "differ before the extension (out-aa.txt, out-ab.txt)",
    )


def _of_total(path: str) -> re.Match[str] | None:
    """Where a file's name says which shard of how many it is."""
    start = path.rfind("/") + 1
    return max(_OF.finditer(path, start), key=lambda match: match.start(), default=None)


def _require_all_of_total(stream: Stream, paths: Sequence[str]) -> None:
    """Checks the shards whose names say how many there are, such as part-00003-of-00010.

    Numbers count from 0, or from 1 where the total itself is one of them.
    """
    sets: dict[str, list[re.Match[str]]] = collections.defaultdict(list)
    for path in paths:
        if match := _of_total(path):
            sets[path[: match.start()]].append(match)
    for matches in sets.values():
        for one_set in _sets_by_ends(matches):
            _require_all(stream, one_set)


def _sets_by_ends(matches: Sequence[re.Match[str]]) -> Iterable[Sequence[re.Match[str]]]:
    """The shards as one set or, where a number is there twice, as a set for each end of a name."""
    if len({int(match["number"]) for match in matches}) == len(matches):
        return [matches]  # each shard may have an end of its own, a hash
    by_end: dict[str, list[re.Match[str]]] = collections.defaultdict(list)
    for match in matches:
        by_end[_bare([match.string])[match.string][match.end() :]].append(match)
    return by_end.values()


def _require_all(stream: Stream, shards: Sequence[re.Match[str]]) -> None:
    first = shards[0]
    total = int(first["total"])
    for shard in shards:
        if int(shard["total"]) != total:
            raise InputError(
                f"{stream.label}: {first.string} and {shard.string} are of two sets of "
                f"shards, one of {total} and one of {int(shard['total'])}",
                "remove the older set, or use a pattern that matches only one: "
                f"...-of-{first['total']}*",
            )
    found = {int(shard["number"]): shard for shard in shards}
    base = 1 if total in found and 0 not in found else 0
    beyond = next((shard for number, shard in found.items() if number - base >= total), None)
    if beyond:
        raise InputError(
            f"{stream.label}: {beyond.string} is beyond the last of {total} shards",
            "find out which of the shards are of one run, and remove the others",
        )
    if len(found) < total:
        missing = next(number for number in itertools.count(base) if number not in found)
        name = (
            first.string[: first.start("number")]
            + f"{missing:0{len(first['number'])}}"
            + first.string[first.end("number") :]
        )
        more = total - len(found) - 1
        raise InputError(
            f"{stream.label}: {name} {f'and {more} more are' if more else 'is'} missing: "
            f"the names say {total} shards, and {len(found)} are there",
            "wait until all shards are written, or copy the missing ones",
        )


def _gaps(paths: Sequence[str]) -> str:
    """What is missing in the numbering of a stream's shards, as a message says it; "" if nothing.

    The last number that varies counts the shards, among those that are otherwise alike.
    """
    runs: dict[tuple[Parts, Parts], list[int]] = collections.defaultdict(list)
    for name in _without_shared(names_of(paths)):
        *before, number, after = name if len(name) > 1 else ("", 0, "")
        runs[tuple(before), (after,)].append(int(number))
    count = 0
    missing: list[str] = []
    for numbers in runs.values():
        for one, other in itertools.pairwise(sorted(numbers)):
            between, first_of_them = _between(one, other)
            count += between
            missing += first_of_them
    if not count:
        return ""
    return (
        f"the numbers of the {len(paths)} shards have gaps: {', '.join(missing[:_SHOWN])}"
        f"{', ...' if count > _SHOWN else ''} ({count} missing in all)"
    )


def _between(one: int, other: int) -> tuple[int, list[str]]:
    """(how many numbers lie between two, the first few of them); of days such as 20261130, days."""
    first, last = _day(one), _day(other)
    if first and last:
        count = max((last - first).days - 1, 0)
        days = (first + datetime.timedelta(i) for i in range(1, min(count, _SHOWN) + 1))
        return count, [f"{day:%Y%m%d}" for day in days]
    count = max(other - one - 1, 0)
    return count, [str(one + i) for i in range(1, min(count, _SHOWN) + 1)]


def _day(number: int) -> datetime.date | None:
    if not 19000101 <= number <= 29991231:
        return None
    try:
        return datetime.datetime.strptime(str(number), "%Y%m%d").date()
    except ValueError:
        return None
