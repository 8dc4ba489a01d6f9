"""Makes a corpus of one size, and texts from it, on demand, and keeps them in a folder."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import itertools
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import run

SYSTEMS = 16
"""The number of systems in the first shard. The other shards have only the first system."""

_SOURCES = ("__main__.py", "lines.py", "vocabulary.py", "chinese.py", "records.py")
"""The files of this folder that make the texts, which are made again if one of these changes."""


@dataclasses.dataclass(frozen=True)
class Text:
    """Files of references and candidates that belong together.

    Attributes:
      pairs: the number of lines of each stream.
      references: the pattern of each stream of references.
      candidates: the pattern of each system's files.
    """

    pairs: int
    references: tuple[str, ...]
    candidates: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """The files of all patterns."""
        patterns = (*self.references, *self.candidates)
        return [path for pattern in patterns for path in sorted(glob.glob(pattern))]

    @property
    def arguments(self) -> list[str]:
        """The arguments of beam-bleu that name these files."""
        return [
            *(f"--references={pattern}" for pattern in self.references),
            *(f"--candidates=s{n:03}={each}" for n, each in enumerate(self.candidates, 1)),
        ]


class Workspace:
    """The corpus with this number of pairs, which is made unless it exists.

    Attributes:
      pairs: the number of pairs.
    """

    def __init__(self, folder: pathlib.Path, pairs: int) -> None:
        self.pairs = pairs
        here = pathlib.Path(__file__).parent
        sources = b"".join((here / name).read_bytes() for name in _SOURCES)
        digest = hashlib.sha256(sources).hexdigest()
        self._folder = folder.absolute() / f"{pairs}-pairs-{digest[:8]}"
        self._made("", "benchmarks.corpus", "--pairs", str(pairs))

    def whole(self, copies: int = 1) -> Text:
        """The whole corpus with one system; `copies` of it, as links."""
        return self._linked(1, "??", copies, self.pairs)

    def shard(self, systems: int = 1, copies: int = 1) -> Text:
        """A tenth of the corpus with up to SYSTEMS systems; `copies` of it, as links."""
        return self._linked(systems, "00", copies, self.pairs // 10)

    def head(self, lines: int, systems: int = 1, references: int = 1) -> Text:
        """The first lines of the corpus; of its first shard, if there are several systems.

        Further references are the outputs of other systems.

        Raises:
          ValueError: the corpus does not have so many lines of so many systems.
        """
        most = self.pairs if systems == references == 1 else self.pairs // 10
        if lines > most:
            raise ValueError(f"{lines} lines of {systems} systems are wanted, and there are {most}")
        folder = self._folder / "heads"
        folder.mkdir(exist_ok=True)
        paths = []
        for stream in _streams(max(systems, references)):
            paths.append(folder / f"{stream}-{lines:08}.txt")
            with open(paths[-1], "wb") as file:
                shards = sorted(self._folder.glob(f"{stream}-*.txt"))
                every = itertools.chain.from_iterable(map(_lines, shards))
                file.writelines(itertools.islice(every, lines))
        first, *others = map(str, paths)
        more = references - 1  # the last texts are references
        return Text(lines, (first, *others[len(others) - more :]), tuple(others[:systems]))

    def chinese_head(self, lines: int) -> Text:
        """The first lines of the corpus, made to look like Chinese."""
        files = self.head(lines).files
        folder = self._made(f"chinese-{lines}", "benchmarks.corpus.chinese", *files)
        references, candidates = (str(folder / pathlib.Path(path).name) for path in files)
        return Text(lines, (references,), (candidates,))

    def compressed(self) -> Text:
        """The whole corpus, each file compressed by gzip at its default level."""
        folder, text = self._folder / "gz", self.whole()
        if not folder.exists():
            partial = self._folder / "gz.partial"
            partial.mkdir(exist_ok=True)
            for path in text.files:
                with open(partial / f"{pathlib.Path(path).name}.gz", "wb") as file:
                    subprocess.run(["gzip", "--stdout", path], stdout=file, check=True)
            partial.rename(folder)
        return Text(self.pairs, (f"{folder}/ref-*.gz",), (f"{folder}/system01-*.gz",))

    def records(self) -> pathlib.Path:
        """The folder with the whole corpus as records (see `benchmarks.corpus.records`)."""
        text = self.whole()
        patterns = (*text.references, *text.candidates)
        return self._made("records", "benchmarks.corpus.records", *patterns)

    def _linked(self, systems: int, shards: str, copies: int, pairs: int) -> Text:
        streams, folder, copy_of = _streams(systems), self._folder, ""
        if copies > 1:
            folder, copy_of = folder / f"copies-{copies}", "????-"
            folder.mkdir(exist_ok=True)
            for stream, copy in itertools.product(streams, range(copies)):
                for path in self._folder.glob(f"{stream}-{shards}.txt"):
                    link = folder / path.name.replace("-", f"-{copy:04}-")
                    if not link.exists():
                        link.hardlink_to(path)
        patterns = [f"{folder}/{stream}-{copy_of}{shards}.txt" for stream in streams]
        return Text(copies * pairs, (patterns[0],), tuple(patterns[1:]))

    def _made(self, name: str, module: str, *arguments: str) -> pathlib.Path:
        """A folder made by a program that runs in a child, so that this process stays small."""
        folder = self._folder / name
        if not folder.exists():
            partial = folder.with_name(f"{folder.name}.partial")
            partial.mkdir(parents=True, exist_ok=True)
            print(f"making {folder}", file=sys.stderr)
            run([sys.executable, "-m", module, str(partial), *arguments])
            partial.rename(folder)
        return folder


def _streams(systems: int) -> list[str]:
    return ["ref", *(f"system{number:02}" for number in range(1, systems + 1))]


def _lines(path: pathlib.Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield from file
