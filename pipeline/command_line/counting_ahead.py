"""Begins to count the lines of large files as soon as the command has begun.

The whole command line is known only when Beam is imported, which takes most of the time of a start.
So this looks only for the words that usually name texts. If it finds too little or too much, the
result is the same: the job counts what is missing, and does not ask for the rest.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from beam_bleu.transforms.errors import BleuError
from beam_bleu.transforms.wiring.cores import available_threads

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.files.streams import FoundFile

_PREVENTING = (
    "-h",
    "-V",
    "--direct_",
    "--help",
    "--input",
    "--join_on",
    "--layout",
    "--range_bytes",
    "--runner",
    "--threads",
    "--version",
)
"""With a flag that begins like this, no job runs, or it does not count lines in this process on all
cores, or not in the usual ranges."""

_LEAST_BYTES = 1 << 26
"""Fewer bytes are counted in a few milliseconds."""

_MOST_ENTRIES = 2_000
"""If a folder has more, to list it takes too long for the start."""


@contextlib.contextmanager
def counting_ahead(argv: Sequence[str]) -> Iterator[None]:
    """While the body runs, lines of the texts that a command line names are counted on a thread.

    It does nothing if there is only one core, if the files are small or compressed, or if they are
    not on this machine.
    """
    patterns = named_texts(argv)
    if not patterns or available_threads() == 1:
        yield
        return
    from beam_bleu.transforms.pairing.lines.counted_ahead import COUNTED_AHEAD

    files = _files(patterns)
    if sum(file.size for file in files) >= _LEAST_BYTES:
        COUNTED_AHEAD.begin(files)
    try:
        yield
    finally:
        COUNTED_AHEAD.end()


def _files(patterns: Sequence[str]) -> list[FoundFile]:
    """The files of the patterns; none if they are not plain files here that are found quickly."""
    from beam_bleu.transforms.pairing.files.listing import local_files
    from beam_bleu.transforms.pairing.files.streams import compression

    try:
        if not all(map(_is_quick, patterns)):
            return []
        files = [file for pattern in patterns for file in local_files("", pattern)]
    except (OSError, ValueError, BleuError):  # the job meets it again, and says what is wrong
        return []
    return [] if any(compression(file.path) for file in files) else files


def _is_quick(pattern: str) -> bool:
    """Whether a pattern is looked for in one folder on this machine, with few files.

    Raises:
      OSError: there is no such folder, or it cannot be read.
    """
    from beam_bleu.transforms.pairing.files.streams import is_pattern

    folder, name = os.path.split(pattern)
    if "://" in pattern or is_pattern(folder) or "**" in name:
        return False
    if not is_pattern(name):
        return True
    with os.scandir(folder or ".") as entries:
        return next(itertools.islice(entries, _MOST_ENTRIES, None), None) is None


def named_texts(argv: Sequence[str]) -> list[str]:
    """The paths and patterns of line-parallel text that a command line names, as far as it is seen.

    Words without a flag are seen only where they usually are: before all flags, as references.
    """
    patterns: list[str] = []
    flag = "REF"
    for word in argv:
        if word == "--":
            break
        if word.startswith("-") and len(word) > 1:
            flag, equals, value = word.partition("=")
            flag = flag[:2] + flag[2:].replace("-", "_")
            if flag.startswith(_PREVENTING):
                return []
            if not equals:
                continue
            word = value
        if flag in ("-i", "--candidates"):
            word = word.partition("=")[2] or word  # without the system's name
        if flag in ("REF", "-i", "--candidates", "--references"):
            patterns.append(word.removeprefix("file://"))
        if flag not in ("REF", "-i"):
            flag = ""  # it has one value
    return patterns
