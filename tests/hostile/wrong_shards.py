"""Wrong lines and shards: each file is good, but they do not belong together."""

from __future__ import annotations

import re
from pathlib import Path

from case import Case
from shards import COMPRESS, OF_N, ShardFile, make_layout
from texts import Corpus
from wrong_input import Wrong, even_layout, one_shard, one_stream


def _line_lost(case: Case, corpus: Corpus) -> Wrong:
    """A line lost in a shard."""
    layout = even_layout(case, corpus)
    shard, names = one_shard(case, layout)
    del shard.lines[case.random.randrange(len(shard.lines))]
    shard.write()
    return Wrong(layout, names=names)


def _line_added(case: Case, corpus: Corpus) -> Wrong:
    """A line added to a shard."""
    layout = even_layout(case, corpus)
    shard, names = one_shard(case, layout)
    shard.lines.insert(case.random.randint(0, len(shard.lines)), "one more")
    shard.write()
    return Wrong(layout, names=names)


def _lines_lost_in_all(case: Case, corpus: Corpus) -> Wrong:
    """A line lost in each stream, in different shards, so that the total numbers agree."""
    layout = even_layout(case, corpus)
    first, second = case.random.sample(range(len(layout.streams[0].shards)), 2)
    for number, stream in enumerate(layout.streams):
        shard = stream.shards[second if number else first]
        shard.lines.pop()
        shard.write()
    return Wrong(layout)


def _line_moved(case: Case, corpus: Corpus) -> Wrong:
    """A line at the end of a shard moved to the start of the next one."""
    layout = even_layout(case, corpus)
    shards = one_stream(case, layout)
    number = case.random.randrange(len(shards) - 1)
    shards[number + 1].lines.insert(0, shards[number].lines.pop())
    shards[number].write()
    shards[number + 1].write()
    return Wrong(layout)


# Shards


def _shard_lost(case: Case, corpus: Corpus) -> Wrong:
    """A shard lost in one stream."""
    layout = even_layout(case, corpus)
    case.random.choice(one_stream(case, layout)).path.unlink()
    return Wrong(layout)


def _different_shards_lost(case: Case, corpus: Corpus) -> Wrong:
    """Different shards lost in two streams, of the same number of lines."""
    layout = even_layout(case, corpus)
    first, second = case.random.sample(range(len(layout.streams[0].shards) - 1), 2)
    for number, stream in enumerate(layout.streams):
        stream.shards[second if number else first].path.unlink()
    return Wrong(layout)


def _shard_of_n_lost(case: Case, corpus: Corpus) -> Wrong:
    """A shard of a set -of-N lost in all streams."""
    layout = even_layout(case, corpus, case.random.choice(OF_N))
    number = case.random.randrange(len(layout.streams[0].shards))
    for stream in layout.streams:
        stream.shards[number].path.unlink()
    return Wrong(layout)


def _shards_swapped(case: Case, corpus: Corpus) -> Wrong:
    """Two shards of different numbers of lines swapped in one stream."""
    half = corpus.segments // 2
    layout = make_layout(case, corpus, 3, all_sharded=True, cuts=[2, half])
    shards = one_stream(case, layout)
    first, second = case.random.choice([(0, 1), (0, 2)])
    shards[first].lines, shards[second].lines = shards[second].lines, shards[first].lines
    shards[first].write()
    shards[second].write()
    return Wrong(layout)


def _shard_renamed(case: Case, corpus: Corpus) -> Wrong:
    """A shard of one stream has a number that no shard of the others has."""
    layout = even_layout(case, corpus, "padded")
    shard = case.random.choice(one_stream(case, layout))
    folder = case.folder / "in"
    name = str(shard.path.relative_to(folder))
    shard.path.unlink()
    shard.path = folder / re.sub(r"\d{5}", lambda number: "7" + number[0][1:], name)
    shard.write()
    return Wrong(layout)


def _stale_shard(case: Case, corpus: Corpus) -> Wrong:
    """A stale shard of another set -of-N, in one stream or in all."""
    layout = even_layout(case, corpus, case.random.choice(OF_N))
    count = len(layout.streams[0].shards)
    every = case.chance(0.5)
    for stream in layout.streams if every else layout.streams[:1]:
        shard = stream.shards[0]
        before, _, after = str(shard.path).rpartition("-of-")
        digits = after[: len(after) - len(after.lstrip("0123456789"))]
        stale = f"{before}-of-{count + 3:0{len(digits)}}{after[len(digits) :]}"
        ShardFile(Path(stale), shard.lines).write()
    return Wrong(layout)


def _doubled_file(case: Case, corpus: Corpus) -> Wrong:
    """A shard twice, once plain and once compressed, in one stream or in all."""
    layout = even_layout(case, corpus, case.random.choice(["padded", "not padded", "brackets"]))
    number = case.random.randrange(len(layout.streams[0].shards))
    every = case.chance(0.5)
    for stream in layout.streams if every else layout.streams[:1]:
        shard = stream.shards[number]
        suffix = case.random.choice([each for each in COMPRESS if each != shard.suffix])
        stem = str(shard.path).removesuffix(shard.suffix)
        ShardFile(Path(stem + suffix), shard.lines).write()
    return Wrong(layout)


WRONG_SHARDS = [
    *(_line_lost, _line_added, _lines_lost_in_all, _line_moved),
    *(_shard_lost, _different_shards_lost, _shard_of_n_lost, _shards_swapped, _shard_renamed),
    *(_stale_shard, _doubled_file),
]
