"""Turns lines of the corpus into lines that look like Chinese, to measure Chinese tokenizers.

    python -m benchmarks.corpus.chinese FOLDER FILE...

Every word becomes one to four Han characters, always the same ones, so candidates match references
as they do in the corpus. Acronyms stay Latin, numbers do not change, and punctuation becomes
full-width.
"""

from __future__ import annotations

import pathlib
import re
import sys
import zlib

_FIRST_HAN, _HANS = 0x4E00, 3_500
"""How many Han characters are in common use. Frequent words become frequent characters."""

_WORD = re.compile(r" ?([^\W\d_]+) ?")
_FULL_WIDTH = str.maketrans({mark: chr(ord(mark) + 0xFEE0) for mark in ",!?:;()"} | {".": "。"})


def _hans(match: re.Match[str]) -> str:
    word = match.group(1)
    if word.isupper():
        return match.group()
    number, hans = zlib.crc32(word.encode()), ""
    for _ in range(min(1 + len(word) // 4, 4)):
        number, digit = divmod(number * 2_654_435_761 % 2**61, _HANS)
        hans += chr(_FIRST_HAN + digit)
    return hans


def _main() -> None:
    folder, *sources = map(pathlib.Path, sys.argv[1:])
    for source in sources:
        western = source.read_text(encoding="utf-8")
        made = _WORD.sub(_hans, western).translate(_FULL_WIDTH)
        (folder / source.name).write_text(made, encoding="utf-8")


if __name__ == "__main__":
    _main()
