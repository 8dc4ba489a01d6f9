"""Turns lines of the corpus into lines that look like Chinese, for the tokenizers of Chinese.

    python -m benchmarks.corpus.chinese FROM TO [FROM TO ...]

Every word becomes one to four Han characters, the same ones each time. So candidates match
references as in the corpus. Acronyms and a share of the names stay Latin, numbers do not change,
and punctuation becomes full-width. As in the corpus, each line is unique.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Sequence

_FIRST_HAN, _HANS = 0x4E00, 3_500
"""The number of Han characters in common use. Frequent words make frequent characters."""

_WORD = re.compile(r"[^\W\d_]+")
_FULL_STOP = re.compile(r"\.(?=[\"“]?$)")
_MARK = re.compile(r"(?<!\d)[,.]|[,.](?=\D)|[!?:;()]")
_SPACE_ROUND_HAN = re.compile(r"(?<=[^\x00-\x7f]) +| +(?=[^\x00-\x7f])")
_FULL_WIDTH = ord("！") - ord("!")
_LATIN_NAMES = 6
"""One capitalized word out of this number stays Latin."""


def chinese(line: str) -> str:
    """A line that looks like Chinese, made from a line of the corpus."""
    line = _FULL_STOP.sub("。", _WORD.sub(lambda word: _hans(word.group()), line))
    line = _MARK.sub(lambda mark: chr(ord(mark.group()) + _FULL_WIDTH), line)
    return _SPACE_ROUND_HAN.sub("", line)


def _hans(word: str) -> str:
    number = zlib.crc32(word.encode())
    if word.isupper() or (word[0].isupper() and number % _LATIN_NAMES == 0):
        return word
    hans = ""
    for _ in range(min(1 + len(word) // 4, 4)):
        number, digit = divmod(number * 2_654_435_761 % 2**61, _HANS)
        hans += chr(_FIRST_HAN + digit)
    return hans


def _main(paths: Sequence[str]) -> None:
    seen: set[int] = set()
    lines = 0
    for source, target in zip(paths[0::2], paths[1::2], strict=True):
        with (
            open(source, encoding="utf-8", newline="\n") as western,
            open(target, "w", encoding="utf-8", newline="\n") as file,
        ):
            for line in western:
                made = chinese(line.removesuffix("\n"))
                file.write(made + "\n")
                seen.add(hash(made))
                lines += 1
    if len(seen) != lines:
        sys.exit(f"chinese.py: {lines - len(seen)} of {lines} lines are not unique")


if __name__ == "__main__":
    _main(sys.argv[1:])
