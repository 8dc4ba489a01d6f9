"""A corpus that is wrong in one way: exit code 3, nothing printed, and an older result stays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from case import Case, complaints, numbers
from compressing import COMPRESS
from corpora import Corpus, flags_of, make_corpus, make_definition
from shards import OF_N, Layout, ShardFile, make_layout, run_flags

NOT_UTF8 = [
    *(b"\xff", b"\x80", b"\xc3", b"\xc0\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\xf0\x9f\x98", b"na\xefve", b"\xfe\xff", b"\xe0\x80\xaf"),
]


@dataclasses.dataclass
class Wrong:
    """Files that must be refused by a message with one of the names, if any, and with the place."""

    layout: Layout
    names: Sequence[str] = ()
    place: str = ""


def _even(case: Case, corpus: Corpus, style: str | None = None) -> Layout:
    """All streams in the same several shards of the same number of lines, at least one each."""
    count = case.random.choice([3, 4, 6, 12])
    cuts = [corpus.segments // count * i for i in range(1, count)]
    return make_layout(case, corpus, count, style, cuts=cuts)


# Lines and shards: each file is good, but they do not belong together


def _line_lost_or_added(case: Case, corpus: Corpus) -> Wrong:
    """A line lost in a shard, or one more."""
    layout = _even(case, corpus)
    stream = case.random.choice(layout.streams)
    shard = case.random.choice(stream.shards)
    at = case.random.randrange(len(shard.lines))
    if case.chance(0.5):
        del shard.lines[at]
    else:
        shard.lines.insert(at, "one more")
    shard.write()
    return Wrong(layout, [str(shard.path), stream.pattern])


def _lines_lost_in_all(case: Case, corpus: Corpus) -> Wrong:
    """A line lost in each stream, in different shards, so that the total numbers agree."""
    layout = _even(case, corpus)
    first, second = case.random.sample(range(len(layout.streams[0].shards)), 2)
    for number, stream in enumerate(layout.streams):
        shard = stream.shards[second if number else first]
        shard.lines.pop()
        shard.write()
    return Wrong(layout)


def _shards_lost(case: Case, corpus: Corpus) -> Wrong:
    """A shard lost in one stream, or different ones, of the same number of lines, in two."""
    layout = _even(case, corpus)
    first, second = case.random.sample(range(len(layout.streams[0].shards) - 1), 2)
    alone = case.chance(0.5)
    for number, stream in enumerate(layout.streams):
        if number or not alone:
            stream.shards[second if number else first].path.unlink()
    return Wrong(layout)


def _shard_of_n_lost(case: Case, corpus: Corpus) -> Wrong:
    """A shard of a set -of-N lost in all streams."""
    layout = _even(case, corpus, case.random.choice(OF_N))
    number = case.random.randrange(len(layout.streams[0].shards))
    for stream in layout.streams:
        stream.shards[number].path.unlink()
    return Wrong(layout)


def _doubled_file(case: Case, corpus: Corpus) -> Wrong:
    """A shard twice, once plain and once compressed, in one stream or in all."""
    layout = _even(case, corpus, case.random.choice(["padded", "not padded", "brackets"]))
    number = case.random.randrange(len(layout.streams[0].shards))
    for stream in layout.streams[: case.random.choice([1, None])]:
        shard = stream.shards[number]
        suffix = case.random.choice([each for each in COMPRESS if each != shard.suffix])
        stem = str(shard.path).removesuffix(shard.suffix)
        ShardFile(Path(stem + suffix), shard.lines).write()
    return Wrong(layout)


# Files: damaged, in another encoding, or not files


def _file_of(case: Case, layout: Layout) -> ShardFile:
    return case.random.choice([shard for shard in layout.files if shard.lines])


def _truncated(case: Case, corpus: Corpus) -> Wrong:
    """A truncated compressed file."""
    layout = make_layout(case, corpus, suffixes=[suffix for suffix in COMPRESS if suffix])
    shard = _file_of(case, layout)
    shard.write()
    data = shard.path.read_bytes()
    # The end mark has only a few bytes: without them the text may still be complete.
    end = len(data) - case.random.randint(1, 12)
    shard.path.write_bytes(data[: case.random.choice([0, 1, end, end, end, len(data) // 2])])
    return Wrong(layout, [str(shard.path)])


def _invalid_utf8(case: Case, corpus: Corpus) -> Wrong:
    """Bytes that are not UTF-8."""
    layout = make_layout(case, corpus)
    shard = _file_of(case, layout)
    number = case.random.randrange(len(shard.lines))
    lines = [line.encode() for line in shard.lines]
    words = lines[number].split(b" ")
    words.insert(case.random.randint(0, len(words)), case.random.choice(NOT_UTF8))
    lines[number] = b" ".join(words)
    final = b"\n" if case.chance(0.7) or not lines[-1] else b""
    shard.write_bytes(b"\n".join(lines) + final)
    return Wrong(layout, [str(shard.path)], f": line {number + 1}: invalid UTF-8 at byte ")


DEFECTS = [
    *(_line_lost_or_added, _lines_lost_in_all, _shards_lost, _shard_of_n_lost, _doubled_file),
    *(_truncated, _invalid_utf8),
]


@pytest.mark.parametrize("number", numbers(1, 20))
@pytest.mark.parametrize("defect", DEFECTS)
def test_the_message_names_what_is_wrong(defect, number, tmp_path):
    case = Case(f"{defect.__name__} {number}", tmp_path)
    chooser = case.random
    corpus = make_corpus(chooser, chooser.choice([12, 24, 60, 120]), plain=case.chance(0.5))
    wrong = defect(case, corpus)
    flags = ["--format=json", "--allow=marks", *flags_of(make_definition(chooser))]
    more = [flag for flag in run_flags(case, corpus) if flag[2] in "rt"]
    run = case.run(*wrong.layout.arguments(*flags, *more, "--output", case.output))
    assert (run.code, run.out) == (3, b""), run.err
    cause, remedy = complaints(run)
    assert cause.startswith("beam-bleu: ")
    assert remedy.startswith("  ")
    assert not wrong.names or any(name in run.err for name in wrong.names), run.err
    assert wrong.place in run.err
    case.check_output(case.older)
