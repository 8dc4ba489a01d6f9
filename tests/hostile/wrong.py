"""Wrong input: the run is refused with exit code 3, prints nothing, and changes no result."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence

import zstandard
from case import Case, OutputFolder, check, check_refusal, check_success
from command_line import Argument
from compressing import COMPRESS
from shards import OF_N, Layout, ShardFile, encoded, make_layout, plain_layout
from texts import Corpus, make_choices, make_corpus
from valid import run_flags

COMPRESSED = [suffix for suffix in COMPRESS if suffix]
NOT_UTF8 = [
    *(b"\xff", b"\x80", b"\xc3", b"\xc0\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\xf0\x9f\x98", b"na\xefve", b"\xfe\xff", b"\xe0\x80\xaf"),
]


@dataclasses.dataclass
class Wrong:
    """An input that must be refused.

    Attributes:
      layout: its files.
      flags: more flags.
      codes: the exit codes that fit.
      names: the message has to contain one of these, if there are any.
      harmless: whether the damage may change no text, so that the right result fits, too.
    """

    layout: Layout
    flags: Sequence[Argument] = ()
    codes: Sequence[int] = (3,)
    names: Sequence[str] = ()
    harmless: bool = False


def attack(case: Case) -> None:
    """Makes a random corpus wrong in one way."""
    chooser = case.random
    segments = chooser.choice([12, 24, 60, 120])
    corpus = make_corpus(chooser, segments, plain=case.chance(0.5))
    defect = chooser.choice(DEFECTS)
    case.what = (defect.__doc__ or "").rstrip(".").lower()
    wrong = defect(case, corpus)
    flags = ["--format=json", *make_choices(chooser).flags]
    more = [] if wrong.flags else [f for f in run_flags(case, corpus) if str(f)[2] in "rt"]
    output = OutputFolder(case)
    run = case.run(*wrong.layout.arguments(*flags, *wrong.flags, *more, "--output", output.path))
    if wrong.harmless and run.code == 0:
        right = case.run(*plain_layout(case.folder / "plain", corpus).arguments(*flags))
        check_success(right)
        check(run.out == right.out, "exit code 0 with another result than that of the sound files")
        return
    check_refusal(run, wrong.codes, wrong.names)
    output.check_untouched()


def _even(case: Case, corpus: Corpus, style: str | None = None) -> Layout:
    """All streams in the same several shards of the same number of lines, at least one each."""
    count = case.random.choice([3, 4, 6, 12])
    each = corpus.segments // count
    cuts = [each * i for i in range(1, count)]
    return make_layout(case, corpus, count, style, all_many=True, cuts=cuts)


def _stream(case: Case, layout: Layout) -> list[ShardFile]:
    return case.random.choice(layout.streams).shards


def _one_shard(case: Case, layout: Layout) -> tuple[ShardFile, list[str]]:
    """(any file of the layout, what a message may call it: its path, or its stream's pattern)."""
    stream = case.random.choice(layout.streams)
    shard = case.random.choice(stream.shards)
    return shard, [str(shard.path), stream.pattern]


def _names(shard: ShardFile) -> list[str]:
    return [str(shard.path)]


# Lines


def _line_lost(case: Case, corpus: Corpus) -> Wrong:
    """A line lost in a shard."""
    layout = _even(case, corpus)
    shard, names = _one_shard(case, layout)
    del shard.lines[case.random.randrange(len(shard.lines))]
    shard.write()
    return Wrong(layout, names=names)


def _line_added(case: Case, corpus: Corpus) -> Wrong:
    """A line added to a shard."""
    layout = _even(case, corpus)
    shard, names = _one_shard(case, layout)
    shard.lines.insert(case.random.randint(0, len(shard.lines)), "one more")
    shard.write()
    return Wrong(layout, names=names)


def _lines_lost_in_all(case: Case, corpus: Corpus) -> Wrong:
    """A line lost in each stream, in different shards, so that the totals agree."""
    layout = _even(case, corpus)
    first, second = case.random.sample(range(len(layout.streams[0].shards)), 2)
    for number, stream in enumerate(layout.streams):
        shard = stream.shards[second if number else first]
        shard.lines.pop()
        shard.write()
    return Wrong(layout)


def _line_moved(case: Case, corpus: Corpus) -> Wrong:
    """A line at the end of a shard moved to the start of the next one."""
    layout = _even(case, corpus)
    shards = _stream(case, layout)
    number = case.random.randrange(len(shards) - 1)
    shards[number + 1].lines.insert(0, shards[number].lines.pop())
    shards[number].write()
    shards[number + 1].write()
    return Wrong(layout)


# Shards


def _shard_lost(case: Case, corpus: Corpus) -> Wrong:
    """A shard lost in one stream."""
    layout = _even(case, corpus)
    case.random.choice(_stream(case, layout)).path.unlink()
    return Wrong(layout)


def _different_shards_lost(case: Case, corpus: Corpus) -> Wrong:
    """Different shards lost in two streams, of the same number of lines."""
    layout = _even(case, corpus)
    first, second = case.random.sample(range(len(layout.streams[0].shards) - 1), 2)
    for number, stream in enumerate(layout.streams):
        stream.shards[second if number else first].path.unlink()
    return Wrong(layout)


def _shard_of_n_lost(case: Case, corpus: Corpus) -> Wrong:
    """A shard of a set -of-N lost in all streams."""
    layout = _even(case, corpus, case.random.choice(OF_N))
    number = case.random.randrange(len(layout.streams[0].shards))
    for stream in layout.streams:
        stream.shards[number].path.unlink()
    return Wrong(layout)


def _shards_swapped(case: Case, corpus: Corpus) -> Wrong:
    """Two shards of different numbers of lines swapped in one stream."""
    half = corpus.segments // 2
    layout = make_layout(case, corpus, 3, all_many=True, cuts=[2, half])
    shards = _stream(case, layout)
    first, second = case.random.choice([(0, 1), (0, 2)])
    shards[first].lines, shards[second].lines = shards[second].lines, shards[first].lines
    shards[first].write()
    shards[second].write()
    return Wrong(layout)


def _shard_renamed(case: Case, corpus: Corpus) -> Wrong:
    """A shard of one stream has the number of none in the others."""
    layout = _even(case, corpus, "padded")
    shard = case.random.choice(_stream(case, layout))
    renamed = str(shard.path).replace("/in/", "/renamed/")
    digits = next(part for part in ("0000", "0001", "0009", "0010") if part in renamed)
    moved = renamed.replace(digits, "7" + digits[1:], 1).replace("/renamed/", "/in/")
    os.makedirs(os.path.dirname(moved), exist_ok=True)
    os.rename(shard.path, moved)
    return Wrong(layout)


def _stale_shard(case: Case, corpus: Corpus) -> Wrong:
    """A stale shard of another set -of-N, in one stream or in all."""
    layout = _even(case, corpus, case.random.choice(OF_N))
    count = len(layout.streams[0].shards)
    every = case.chance(0.5)
    for stream in layout.streams if every else layout.streams[:1]:
        shard = stream.shards[0]
        before, _, after = str(shard.path).rpartition("-of-")
        digits = after[: len(after) - len(after.lstrip("0123456789"))]
        stale = f"{before}-of-{count + 3:0{len(digits)}}{after[len(digits) :]}"
        os.makedirs(os.path.dirname(stale), exist_ok=True)
        ShardFile(type(shard.path)(stale), shard.lines).write()
    return Wrong(layout)


def _doubled_file(case: Case, corpus: Corpus) -> Wrong:
    """A shard twice, once as it is and once compressed, in one stream or in all."""
    layout = _even(case, corpus, case.random.choice(["padded", "not padded", "brackets"]))
    number = case.random.randrange(len(layout.streams[0].shards))
    every = case.chance(0.5)
    for stream in layout.streams if every else layout.streams[:1]:
        shard = stream.shards[number]
        suffix = case.random.choice([each for each in COMPRESS if each != shard.suffix])
        stem = str(shard.path).removesuffix(shard.suffix)
        ShardFile(type(shard.path)(stem + suffix), shard.lines).write()
    return Wrong(layout)


# Bytes


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
    kept = case.random.choice([0, 1, len(data) - 1, case.random.randrange(len(data))])
    shard.path.write_bytes(data[:kept])
    return Wrong(layout, names=_names(shard))


def _garbage_behind(case: Case, corpus: Corpus) -> Wrong:
    """Garbage behind the compressed data."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    garbage = b"garbage" + case.random.randbytes(case.random.randrange(30))
    shard.path.write_bytes(shard.path.read_bytes() + garbage)
    return Wrong(layout, names=_names(shard))


def _flipped(case: Case, corpus: Corpus) -> Wrong:
    """A bit flipped in a compressed file that has a checksum."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    if shard.suffix == ".zst":  # only here the checksum has to be asked for
        writer = zstandard.ZstdCompressor(write_checksum=True)
        shard.path.write_bytes(writer.compress(encoded(shard.lines)))
    data = bytearray(shard.path.read_bytes())
    data[case.random.randrange(len(data))] ^= 1 << case.random.randrange(8)
    shard.path.write_bytes(data)
    return Wrong(layout, names=_names(shard), harmless=True)


def _not_compressed(case: Case, corpus: Corpus) -> Wrong:
    """Plain text under the name of a compressed file."""
    layout, shard = _one_file(case, corpus, COMPRESSED)
    shard.path.write_bytes(encoded(["a cat", *shard.lines]))
    return Wrong(layout, names=_names(shard))


def _invalid_utf8(case: Case, corpus: Corpus) -> Wrong:
    """Bytes that are not UTF-8."""
    layout, shard = _one_file(case, corpus, list(COMPRESS))
    number = case.random.randrange(len(shard.lines))
    lines = [line.encode() for line in shard.lines]
    words = lines[number].split(b" ")
    words.insert(case.random.randint(0, len(words)), case.random.choice(NOT_UTF8))
    lines[number] = b" ".join(words)
    shard.write_bytes(b"\n".join(lines) + (b"\n" if case.chance(0.7) else b""))
    return Wrong(layout, names=[f"{shard.path}: line {number + 1}:"])


def _wide_encoding(case: Case, corpus: Corpus) -> Wrong:
    """UTF-16 or UTF-32, in one stream or in all."""
    corpus = make_corpus(case.random, corpus.segments, plain=True)
    layout = _even(case, corpus)
    encoding = case.random.choice(
        ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
    )
    case.what += f", {encoding}"
    every = case.chance(0.5)
    for stream in layout.streams if every else layout.streams[:1]:
        for shard in stream.shards:
            shard.write_bytes("".join(f"{line}\n" for line in shard.lines).encode(encoding))
    return Wrong(layout)


def _line_too_long(case: Case, corpus: Corpus) -> Wrong:
    """A line longer than --max_line_bytes."""
    layout, shard = _one_file(case, corpus, list(COMPRESS))
    number = case.random.randrange(len(shard.lines))
    most = max(corpus.longest_line, 64) + case.random.randrange(1000)
    shard.lines[number] = "long line " * (most // 10 + 2)
    shard.write()
    return Wrong(layout, [f"--max_line_bytes={most}"], names=_names(shard))


# Files


def _empty_stream(case: Case, corpus: Corpus) -> Wrong:
    """A stream without lines, or all of them."""
    layout = _even(case, corpus)
    every = case.chance(0.3)
    for stream in layout.streams if every else layout.streams[:1]:
        for shard in stream.shards:
            shard.lines.clear()
            shard.write()
    return Wrong(layout)


def _replaced(make: Callable[[str], None], codes: Sequence[int]) -> Callable[..., Wrong]:
    """A defect: something that is no file in place of a file."""

    def defect(case: Case, corpus: Corpus) -> Wrong:
        # A folder among the files of a pattern is not meant, so the file has to be the stream.
        layout = plain_layout(case.folder / "in", corpus)
        if make is not os.mkdir and case.chance(0.5):
            layout = _even(case, corpus)
        shard = case.random.choice(layout.files)
        shard.path.unlink()
        make(str(shard.path))
        return Wrong(layout, codes=codes, names=_names(shard))

    defect.__doc__ = f"A stream with {make.__doc__ or 'a folder or pipe'} instead of a file."
    return defect


def _broken_link(path: str) -> None:
    """a broken link"""
    os.symlink(path + ".gone", path)


def _ring(path: str) -> None:
    """a link to itself"""
    os.symlink(path, path)


def _no_file(case: Case, corpus: Corpus) -> Wrong:
    """No file where one is named."""
    layout = plain_layout(case.folder / "in", corpus)
    shard = case.random.choice(layout.files)
    shard.path.unlink()
    return Wrong(layout, names=_names(shard))


def _other_number_expected(case: Case, corpus: Corpus) -> Wrong:
    """Another number of segments than --expect_segments."""
    layout = make_layout(case, corpus)
    expected = case.random.choice([corpus.segments - 1, corpus.segments + 1, 1, 10**12])
    return Wrong(layout, [f"--expect_segments={expected}"])


DEFECTS: list[Callable[[Case, Corpus], Wrong]] = [
    *(_line_lost, _line_added, _lines_lost_in_all, _line_moved),
    *(_shard_lost, _different_shards_lost, _shard_of_n_lost, _shards_swapped, _shard_renamed),
    *(_stale_shard, _doubled_file),
    *(_truncated, _garbage_behind, _flipped, _not_compressed, _invalid_utf8, _wide_encoding),
    *(_line_too_long, _empty_stream, _no_file, _other_number_expected),
    *(_replaced(os.mkdir, (2, 3)), _replaced(os.mkfifo, (2, 3))),
    *(_replaced(_broken_link, (3,)), _replaced(_ring, (3,))),
]
