"""Files for the lines of a corpus: how each stream is cut, named, compressed and encoded."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from case import Case
from command_line import Argument, streams
from compressing import COMPRESS
from corpora import Corpus

MARK = b"\xef\xbb\xbf"
NAMES: dict[str, Callable[[int, int, int], str]] = {
    # (number of the shard, how many, the first number) -> the part of its name that varies
    "padded": lambda i, count, first: f"{first + i:05}",
    "not padded": lambda i, count, first: f"{first + i}",
    "of": lambda i, count, first: f"{i:05}-of-{count:05}",
    "of, not padded": lambda i, count, first: f"{i}-of-{count}",
    "brackets": lambda i, count, first: f"({first + i})",
    "letters": lambda i, count, first: chr(ord("a") + i // 26) + chr(ord("a") + i % 26),
    "dates": lambda i, count, first: f"2026-{1 + i // 28:02}-{1 + i % 28:02}",
    "two numbers": lambda i, count, first: f"{i // 3}_{8 + i % 3}",
}
OF_N = ("of", "of, not padded")
PLACES = {
    # what is before and after the part that varies, and the pattern
    "name": ("{stream}{part}{extension}", "{stream}*"),
    "own folder": ("{stream}/part {part}{extension}", "{stream}/*"),
    "a folder each": ("{stream}/n={part}/text+1{extension}", "{stream}/*/text*"),
    # Here the part that varies looks like an extension; `split -d` makes such names.
    "dots": ("{stream}.v1.{part}", "{stream}.v1.*"),
}


@dataclasses.dataclass
class ShardFile:
    """One file of a stream: its path and its lines."""

    path: Path
    lines: list[str]

    @property
    def suffix(self) -> str:
        """That of its compression, or ""."""
        return self.path.suffix if self.path.suffix in COMPRESS else ""

    def write(self, chooser: random.Random | None = None) -> None:
        """Writes the file; with a chooser, in a random form with the same lines."""
        self.write_bytes(encoded(self.lines, chooser), chooser)

    def write_bytes(self, data: bytes, chooser: random.Random | None = None) -> None:
        """Writes the file with this content, compressed as its suffix says."""
        compress = COMPRESS[self.suffix]
        parts = [data]
        if chooser and self.suffix and chooser.random() < 0.2:  # several members in one file
            cut = chooser.randrange(len(data) + 1)
            parts = [data[:cut], data[cut:]]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"".join(map(compress, parts)))


@dataclasses.dataclass
class StreamFiles:
    """The files of a stream, in order, and the pattern that matches them."""

    pattern: str
    shards: list[ShardFile]


@dataclasses.dataclass
class Layout:
    """The files of a corpus; the systems' streams first."""

    streams: list[StreamFiles]
    systems: int

    @property
    def files(self) -> list[ShardFile]:
        return [shard for stream in self.streams for shard in stream.shards]

    def arguments(self, *flags: Argument) -> list[Argument]:
        named = [f"s{i}={each.pattern}" for i, each in enumerate(self.streams[: self.systems])]
        return streams(named, [each.pattern for each in self.streams[self.systems :]], *flags)


def encoded(lines: Sequence[str], chooser: random.Random | None = None) -> bytes:
    """The bytes of a file with these lines, with or without a mark and a last newline."""
    data = "".join(f"{line}\n" for line in lines).encode()
    if lines and lines[-1] and chooser and chooser.random() < 0.3:
        data = data[:-1]
    # One mark at the start is dropped, so a line that begins with a mark needs a second one.
    marked = data.startswith(MARK) or (chooser is not None and chooser.random() < 0.1)
    return MARK + data if marked else data


def plain_layout(folder: Path, corpus: Corpus) -> Layout:
    """A plain file for each stream."""
    made = []
    for number, text in enumerate(corpus.texts):
        shard = ShardFile(folder / f"stream-{number:03}.txt", text)
        shard.write()
        made.append(StreamFiles(str(shard.path), [shard]))
    return Layout(made, len(corpus.systems))


def run_flags(case: Case, corpus: Corpus) -> list[str]:
    """Flags that must not change the result."""
    chooser = case.random
    size = sum(len(line.encode()) + 1 for text in corpus.texts for line in text)
    flags = {
        f"--range_bytes={max(16, size // chooser.choice([1, 3, 10, 40]))}": 0.7,
        f"--threads={chooser.choice([1, 2, 3, 8])}": 0.7,
        f"--expect_segments={corpus.segments}": 0.15,
        f"--max_line_bytes={max(corpus.longest_line, 64) + chooser.randint(3, 900)}": 0.15,
    }
    return [flag for flag, probability in flags.items() if case.chance(probability)]


def make_layout(
    case: Case,
    corpus: Corpus,
    count: int | None = None,
    style: str | None = None,
    suffixes: Sequence[str] = tuple(COMPRESS),
    cuts: Sequence[int] | None = None,
    same_cuts: bool = True,
) -> Layout:
    """Cuts the streams into shards and writes them in random order.

    What is not given is random. With `cuts`, every stream has several files; else some have one.
    """
    chooser, folder = case.random, case.folder / "in"
    all_sharded = cuts is not None or not same_cuts
    count = count or chooser.choice([2, 3, 3, 5, 11, 13])
    style = style or chooser.choice(list(NAMES))
    cuts = random_cuts(chooser, corpus, count) if cuts is None else cuts
    parts = _parts(chooser, style, count)
    made = []
    for label, text in zip("uvwxyz", corpus.texts, strict=False):
        name = chooser.choice(["hyp-", "ref ", "part-"]) + label
        if not same_cuts:
            count = chooser.randint(2, 12)
            cuts = random_cuts(chooser, corpus, count)
            parts = _parts(chooser, chooser.choice(list(NAMES)), count)
        if all_sharded or case.chance(0.7):
            made.append(_shard_files(case, folder, name, text, parts, cuts, suffixes))
        else:
            name += chooser.choice([".txt", "", ".en"]) + chooser.choice(suffixes)
            made.append(StreamFiles(f"{folder}/{name}", [ShardFile(folder / name, text)]))
    layout = Layout(made, len(corpus.systems))
    for shard in chooser.sample(layout.files, len(layout.files)):
        shard.write(chooser)
    return layout


def random_cuts(chooser: random.Random, corpus: Corpus, count: int) -> list[int]:
    """The first lines of all shards but the first; some shards may be empty."""
    return sorted(chooser.randint(0, corpus.segments) for _ in range(count - 1))


def _parts(chooser: random.Random, style: str, count: int) -> list[str]:
    first = chooser.choice([0, 1, 8, 97])
    return [NAMES[style](i, count, first) for i in range(count)]


def _shard_files(
    case: Case,
    folder: Path,
    name: str,
    text: list[str],
    parts: Sequence[str],
    cuts: Sequence[int],
    suffixes: Sequence[str],
) -> StreamFiles:
    place = case.random.choice(list(PLACES))
    if place == "name":
        # Letters that follow a letter are one word with it.
        name += case.random.choice(["-", "_"] if parts[0].isalpha() else ["", "-", "_"])
    extension = case.random.choice([".txt", "", ".en"])
    path, pattern = PLACES[place]
    shards = []
    for part, (begin, end) in zip(parts, itertools.pairwise([0, *cuts, len(text)]), strict=True):
        file = path.format(stream=name, part=part, extension=extension)
        shards.append(ShardFile(folder / (file + case.random.choice(suffixes)), text[begin:end]))
    return StreamFiles(f"{folder}/{pattern.format(stream=name)}", shards)
