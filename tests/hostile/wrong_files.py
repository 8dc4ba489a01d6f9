"""Wrong files: damaged, in another encoding, or not files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import zstandard
from case import Case
from shards import COMPRESS, Layout, ShardFile, encoded, make_layout, plain_layout
from texts import Corpus, make_corpus
from wrong_input import Wrong, even_layout, names_of

COMPRESSED = [suffix for suffix in COMPRESS if suffix]
NOT_UTF8 = [
    *(b"\xff", b"\x80", b"\xc3", b"\xc0\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\xf0\x9f\x98", b"na\xefve", b"\xfe\xff", b"\xe0\x80\xaf"),
]


def _one_file(case: Case, corpus: Corpus, suffixes: Sequence[str]) -> tuple[Layout, ShardFile]:
    """A layout, and one file of it with lines and one of these suffixes."""
    layout = make_layout(case, corpus, suffixes=suffixes)
    shard = case.random.choice([shard for shard in layout.files if shard.lines])
    shard.write()
    return layout, shard


def _truncated(case: Case, corpus: Corpus) -> Wrong:
    """A truncated compressed file."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    data = shard.path.read_bytes()
    # The end mark has only a few bytes: without them the text may still be complete.
    end = len(data) - case.random.randint(1, 12)
    kept = case.random.choice([0, 1, end, end, end, case.random.randrange(len(data))])
    shard.path.write_bytes(data[:kept])
    return Wrong(layout, names=names_of(shard))


def _garbage_appended(case: Case, corpus: Corpus) -> Wrong:
    """Garbage after the compressed data."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    garbage = b"garbage" + case.random.randbytes(case.random.randrange(30))
    shard.path.write_bytes(shard.path.read_bytes() + garbage)
    return Wrong(layout, names=names_of(shard))


def _flipped(case: Case, corpus: Corpus) -> Wrong:
    """A bit flipped in a compressed file that has a checksum."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    if shard.suffix == ".zst":  # only this format has no checksum by default
        writer = zstandard.ZstdCompressor(write_checksum=True)
        shard.path.write_bytes(writer.compress(encoded(shard.lines)))
    data = bytearray(shard.path.read_bytes())
    data[case.random.randrange(len(data))] ^= 1 << case.random.randrange(8)
    shard.path.write_bytes(data)
    return Wrong(layout, names=names_of(shard), harmless=True)


def _not_compressed(case: Case, corpus: Corpus) -> Wrong:
    """Plain text under the name of a compressed file."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    shard.path.write_bytes(encoded(["a cat", *shard.lines]))
    return Wrong(layout, names=names_of(shard))


def _invalid_utf8(case: Case, corpus: Corpus) -> Wrong:
    """Bytes that are not UTF-8."""
    layout, shard = _one_file(case, corpus, list(COMPRESS))
    number = case.random.randrange(len(shard.lines))
    lines = [line.encode() for line in shard.lines]
    words = lines[number].split(b" ")
    words.insert(case.random.randint(0, len(words)), case.random.choice(NOT_UTF8))
    lines[number] = b" ".join(words)
    final = b"\n" if case.chance(0.7) or not lines[-1] else b""
    shard.write_bytes(b"\n".join(lines) + final)
    return Wrong(
        layout, names=names_of(shard), place=f": line {number + 1}: invalid UTF-8 at byte "
    )


def _wide_encoding(case: Case, corpus: Corpus) -> Wrong:
    """UTF-16 or UTF-32, in one stream or in all."""
    corpus = make_corpus(case.random, corpus.segments, plain=True)
    layout = even_layout(case, corpus)
    encoding = case.random.choice(
        ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
    )
    case.what += f", {encoding}"
    every = case.chance(0.5)
    for stream in layout.streams if every else layout.streams[:1]:
        for shard in stream.shards:
            shard.write_bytes("".join(f"{line}\n" for line in shard.lines).encode(encoding))
    return Wrong(layout)


def _nul_in_each_line(case: Case, corpus: Corpus) -> Wrong:
    """A text with a NUL in each line."""
    corpus = make_corpus(case.random, corpus.segments, plain=True)
    layout = plain_layout(case.folder / "in", corpus)
    shard = case.random.choice(layout.files)
    # More than 1 % of the bytes: rarer ones are text.
    shard.lines[:] = [
        line + "\0" * (1 + len(line) // 50) + "x" * case.random.randrange(40)
        for line in shard.lines
    ]
    shard.write()
    return Wrong(layout, names=names_of(shard))


def _line_too_long(case: Case, corpus: Corpus) -> Wrong:
    """A line longer than --max_line_bytes."""
    layout, shard = _one_file(case, corpus, list(COMPRESS))
    number = case.random.randrange(len(shard.lines))
    most = max(corpus.longest_line, 64) + case.random.randrange(1000)
    shard.lines[number] = ("long line " * most)[: most + 1]
    shard.write()
    return Wrong(layout, [f"--max_line_bytes={most}"], names=names_of(shard))


# Files


def _empty_stream(case: Case, corpus: Corpus) -> Wrong:
    """A stream without lines, or all of them."""
    layout = even_layout(case, corpus)
    every = case.chance(0.3)
    for stream in layout.streams if every else layout.streams[:1]:
        for shard in stream.shards:
            shard.lines.clear()
            shard.write()
    return Wrong(layout)


def _no_regular_file(case: Case, corpus: Corpus) -> Wrong:
    """Something else in place of a file."""
    what, make, codes = case.random.choice(NOT_FILES)
    case.what += f": {what}"
    layout = plain_layout(case.folder / "in", corpus)
    # A pattern leaves out folders, so a folder must be the stream itself. A pipe must not be: the
    # command would read it, and wait for a program that writes to it.
    if make is os.mkfifo or (make is not os.mkdir and case.chance(0.5)):
        layout = even_layout(case, corpus)
    shard = case.random.choice(layout.files)
    shard.path.unlink()
    make(shard.path)
    return Wrong(layout, codes=codes, names=names_of(shard))


NOT_FILES: list[tuple[str, Callable[[Path], None], Sequence[int]]] = [
    ("a folder", os.mkdir, (2, 3)),
    ("a pipe", os.mkfifo, (2, 3)),
    ("a broken link", lambda path: path.symlink_to(f"{path}.gone"), (3,)),
    ("a link to itself", lambda path: path.symlink_to(path), (3,)),
]


def _no_file(case: Case, corpus: Corpus) -> Wrong:
    """No file where one is named."""
    layout = plain_layout(case.folder / "in", corpus)
    shard = case.random.choice(layout.files)
    shard.path.unlink()
    return Wrong(layout, names=names_of(shard))


def _other_number_expected(case: Case, corpus: Corpus) -> Wrong:
    """Another number of segments than --expect_segments."""
    layout = make_layout(case, corpus)
    expected = case.random.choice([corpus.segments - 1, corpus.segments + 1, 1, 10**12])
    return Wrong(layout, [f"--expect_segments={expected}"])


WRONG_FILES = [
    *(
        _truncated,
        _truncated,
        _garbage_appended,
        _flipped,
        _not_compressed,
        _invalid_utf8,
        _wide_encoding,
    ),
    *(_nul_in_each_line, _line_too_long, _empty_stream, _no_file, _other_number_expected),
    *(_no_regular_file, _no_regular_file),
]
