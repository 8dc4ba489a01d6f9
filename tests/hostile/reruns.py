"""Runs again with --if_exists skip: a result is kept only if it is that of the texts of now."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from case import Case
from checks import check, check_refusal, check_success
from command_line import Argument
from definition import make_definition
from oracle import differences
from output_folder import OutputFolder
from shards import Layout, plain_layout
from texts import Corpus, make_corpus

Change = Callable[[Case, Corpus, Layout], tuple[Corpus, Sequence[Argument]]]
"""Changes files or flags between two runs; gives the corpus of now and flags for the second run."""


def attack(case: Case) -> None:
    """Scores a corpus, changes one thing or nothing, and runs again with --if_exists skip."""
    chooser = case.random
    corpus = make_corpus(chooser, plain=case.chance(0.5))
    definition = make_definition(chooser, corpus)
    layout = plain_layout(case.folder / "in", corpus)
    change = chooser.choice(CHANGES)
    case.what = (change.__doc__ or "").rstrip(".").lower()
    output = OutputFolder(case)
    flags = ["--format=json", *definition.flags, "--output", output.path]
    first = case.run(*layout.arguments(*flags))
    check_success(first)
    now, more = change(case, corpus, layout)
    again = case.run(*layout.arguments(*flags, *more, "--if_exists=skip"))
    if change is _nothing:
        check(again.code == 0, f"the same run is refused: {again.err.strip()}")
        check("nothing was scored" in again.err, "the same run scores again")
    if again.code == 0:
        check(again.out == first.out, "a kept result has other bytes")
        wrong = list(differences(check_success(again), now, definition))
        check(wrong == [], "; ".join(wrong))
        return
    check_refusal(again, (2,), ())
    check("already has a different result" in again.err, again.err.strip())
    replaced = case.run(*layout.arguments(*flags, "--if_exists=replace"))
    wrong = list(differences(check_success(replaced), now, definition))
    check(wrong == [], "; ".join(wrong))


def _nothing(case: Case, corpus: Corpus, layout: Layout) -> tuple[Corpus, Sequence[Argument]]:
    """Nothing."""
    return corpus, ()


def _same_size(case: Case, corpus: Corpus, layout: Layout) -> tuple[Corpus, Sequence[Argument]]:
    """Another text of the same size, with the date of the first one."""
    texts = [list(text) for text in corpus.texts]
    number = case.random.randrange(len(texts))
    path = Path(layout.files[number].path)
    state = path.stat()
    before, texts[number] = texts[number], texts[number][::-1]
    data = path.read_bytes()
    layout.files[number].lines[:] = texts[number]
    layout.files[number].write()
    if path.stat().st_size != len(data):  # a byte order mark or a newline less
        path.write_bytes(data)
        layout.files[number].lines[:] = before  # which are also those of the corpus
        return corpus, ()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    systems = len(corpus.systems)
    return Corpus(texts[:systems], texts[systems:]), ()


def _other_number(case: Case, corpus: Corpus, layout: Layout) -> tuple[Corpus, Sequence[Argument]]:
    """A number of segments that the corpus does not have."""
    return corpus, [f"--expect_segments={corpus.segments + case.random.randint(1, 9)}"]


def _replaced(case: Case, corpus: Corpus, layout: Layout) -> tuple[Corpus, Sequence[Argument]]:
    """A file that was replaced by another one."""
    new = make_corpus(case.random, corpus.segments, plain=True).references[0]
    texts = [list(text) for text in corpus.texts]
    number = case.random.randrange(len(texts))
    texts[number] = new
    shard = layout.files[number]
    Path(shard.path).unlink()
    shard.lines[:] = new
    shard.write()
    systems = len(corpus.systems)
    return Corpus(texts[:systems], texts[systems:]), ()


CHANGES: list[Change] = [_nothing, _same_size, _other_number, _replaced]
