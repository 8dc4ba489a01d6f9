"""Keeps the corpus of one size, and larger and smaller texts that are made from it, in a folder."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import itertools
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Iterator

from benchmarks.measure import run

SYSTEMS = 16
"""The number of systems in the first shard. The other shards have only the first system."""

_SOURCES = ("__main__.py", "lines.py", "vocabulary.py")
"""The files of this folder that make the corpus. If one changes, the corpus is made again."""


@dataclasses.dataclass(frozen=True)
class Text:
    """Files of references and candidates that belong together.

    Attributes:
      pairs: the lines of each stream.
      references: the pattern of the references' files.
      candidates: the pattern of each system's files.
      more_references: the patterns of more streams of references.
    """

    pairs: int
    references: str
    candidates: tuple[str, ...]
    more_references: tuple[str, ...] = ()

    @property
    def all_references(self) -> tuple[str, ...]:
        """The pattern of each stream of references."""
        return (self.references, *self.more_references)

    @property
    def patterns(self) -> tuple[str, ...]:
        """All patterns."""
        return (*self.all_references, *self.candidates)

    @property
    def files(self) -> list[str]:
        """The files of all patterns."""
        return [path for pattern in self.patterns for path in sorted(glob.glob(pattern))]

    @property
    def arguments(self) -> list[str]:
        """The arguments of beam-bleu that name these files."""
        named = [f"system{i:02}={pattern}" for i, pattern in enumerate(self.candidates, 1)]
        return [
            *(f"--references={each}" for each in self.all_references),
            *(f"--candidates={each}" for each in named),
        ]


class Workspace:
    """The corpus with this number of pairs. It is made if it is not there yet."""

    def __init__(self, folder: pathlib.Path, pairs: int) -> None:
        self._pairs = pairs
        here = pathlib.Path(__file__).parent
        sources = b"".join((here / name).read_bytes() for name in _SOURCES)
        digest = hashlib.sha256(sources).hexdigest()
        self._folder = folder.absolute() / f"{pairs}-pairs-{digest[:8]}"
        if not self._folder.exists():
            # In a child, so that this process stays small.
            program = [sys.executable, "-m", "benchmarks.corpus"]
            made = run([*program, str(self._folder), "--pairs", str(pairs)])
            print(f"made {self._folder} in {made.wall:.0f} s", file=sys.stderr)

    def whole(self) -> Text:
        """The whole corpus, with one system."""
        return self._text(self._pairs, "ref-*.txt", ["system01-*.txt"])

    def first_shard(self, systems: int = 1) -> Text:
        """A tenth of the corpus, up to SYSTEMS systems."""
        names = [f"system{number:02}-00.txt" for number in range(1, systems + 1)]
        return self._text(self._pairs // 10, "ref-00.txt", names)

    def repeated_shard(self, systems: int) -> Text:
        """As many pairs as the corpus, with several systems: the first shard, ten times."""
        folder = "repeated-shard"
        (self._folder / folder).mkdir(exist_ok=True)
        streams = ["ref", *(f"system{number:02}" for number in range(1, systems + 1))]
        for stream in streams:
            for copy in range(10):
                link = self._folder / folder / f"{stream}-{copy:02}.txt"
                if not link.exists():
                    link.hardlink_to(self._folder / f"{stream}-00.txt")
        names = [f"{folder}/{stream}-*.txt" for stream in streams]
        return self._text(self._pairs // 10 * 10, names[0], names[1:])

    def tenfold(self) -> Text:
        """Ten times the corpus."""
        return self.copies(10)

    def copies(self, count: int) -> Text:
        """`count` times the corpus, as hard links to its files."""
        folder = f"copies-{count}"
        (self._folder / folder).mkdir(exist_ok=True)
        for copy in range(count):
            for pattern in self.whole().patterns:
                for path in self._folder.glob(os.path.basename(pattern)):
                    stream, _, shard = path.name.partition("-")
                    link = self._folder / folder / f"{stream}-{copy:04}-{shard}"
                    if not link.exists():
                        link.hardlink_to(path)
        names = [f"{folder}/system01-*.txt"]
        return self._text(count * self._pairs, f"{folder}/ref-*.txt", names)

    def tenfold_half(self, half: int) -> Text:
        """The first (0) or second (1) half of `tenfold`."""
        copies = "000[0-4]" if half == 0 else "000[5-9]"
        names = [f"copies-10/system01-{copies}-*.txt"]
        return self._text(5 * self._pairs, f"copies-10/ref-{copies}-*.txt", names)

    def head(self, lines: int, systems: int = 1) -> Text:
        """The first lines of the corpus, in separate files; of several systems in one shard.

        Raises:
          ValueError: the corpus has fewer lines of so many systems.
        """
        most = self._pairs if systems == 1 else self._pairs // 10
        if lines > most:
            raise ValueError(f"{lines} lines of {systems} systems are wanted, and there are {most}")
        (self._folder / "heads").mkdir(exist_ok=True)
        streams = ["ref", *(f"system{number:02}" for number in range(1, systems + 1))]
        names = [f"heads/{stream}-{lines:08}.txt" for stream in streams]
        for stream, name in zip(streams, names, strict=True):
            shards = sorted(self._folder.glob(f"{stream}-*.txt"))
            with open(self._folder / name, "wb") as file:
                file.writelines(itertools.islice(_lines(shards), lines))
        return self._text(lines, names[0], names[1:])

    def head_with_references(self, lines: int, references: int) -> Text:
        """The first lines with several references: those of the corpus and other systems' texts."""
        text = self.head(lines, systems=references)
        candidate, *others = text.candidates
        return dataclasses.replace(text, candidates=(candidate,), more_references=tuple(others))

    def compressed(self) -> Text:
        """The whole corpus as .gz, each file by itself, by gzip with its own level."""
        folder = self._folder / "gz"
        if not folder.exists():
            partial = self._folder / "gz.partial"
            partial.mkdir(exist_ok=True)
            for pattern in self.whole().patterns:
                for path in self._folder.glob(os.path.basename(pattern)):
                    with open(partial / f"{path.name}.gz", "wb") as file:
                        subprocess.run(["gzip", "--stdout", path], stdout=file, check=True)
            partial.rename(folder)
        return self._text(self._pairs, "gz/ref-*.txt.gz", ["gz/system01-*.txt.gz"])

    def chinese_head(self, lines: int) -> Text:
        """The first lines of the corpus, changed to look like Chinese."""
        western = self.head(lines)
        names = [f"heads/zh-{stream}-{lines:08}.txt" for stream in ("ref", "system01")]
        text = self._text(lines, names[0], names[1:])
        paths = [
            path for pair in zip(western.patterns, text.patterns, strict=True) for path in pair
        ]
        run([sys.executable, "-m", "benchmarks.corpus.chinese", *paths])
        return text

    def _text(self, pairs: int, references: str, candidates: list[str]) -> Text:
        paths = [str(self._folder / name) for name in (references, *candidates)]
        return Text(pairs, paths[0], tuple(paths[1:]))


def _lines(paths: Iterable[pathlib.Path]) -> Iterator[bytes]:
    for path in paths:
        with open(path, "rb") as file:
            yield from file
