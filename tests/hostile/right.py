"""Right input, in every form: the result is the oracle's, with the same bytes as plain files."""

from __future__ import annotations

from case import Case, OutputFolder, check, check_success
from corpora import Corpus, differences, make_corpus, make_definition
from shards import Layout, make_layout, plain_layout


def attack(case: Case) -> None:
    """Scores a random corpus in a random form."""
    chooser = case.random
    corpus = make_corpus(chooser)
    definition = make_definition(chooser)
    layout, more = _layout(case, corpus)
    output = OutputFolder(case)
    document = ["--format=json", *definition.flags]
    more += run_flags(case, corpus)
    run = case.run(*layout.arguments(*document, *more, "--output", output.path))
    found = list(differences(check_success(run), corpus, definition))
    check(found == [], "; ".join(found))
    check(output.now == run.out, "scores.json is not what was printed")
    output.check_no_litter()
    if case.chance(0.4):
        plain = case.run(*plain_layout(case.folder / "plain", corpus).arguments(*document))
        check_success(plain)
        check(plain.out == run.out, "the plain files give other bytes than the shards")


def _layout(case: Case, corpus: Corpus) -> tuple[Layout, list[str]]:
    """The files of the corpus, and the flags that this form of them needs."""
    form = case.random.choice(["plain", "shards", "shards", "shards", "other cuts"])
    case.what = form
    if form == "plain":
        return plain_layout(case.folder / "in", corpus), []
    if form == "other cuts":
        return make_layout(case, corpus, all_sharded=True, same_cuts=False), ["--cuts=any"]
    return make_layout(case, corpus), []


def run_flags(case: Case, corpus: Corpus) -> list[str]:
    """Flags that must not change the result."""
    chooser = case.random
    size = sum(len(line.encode()) + 1 for text in corpus.texts for line in text)
    flags = {
        f"--range_bytes={max(16, size // chooser.choice([1, 3, 10, 40]))}": 0.7,
        f"--threads={chooser.choice([1, 2, 3, 8])}": 0.7,
        f"--expect_segments={corpus.segments}": 0.15,
        f"--max_line_bytes={max(corpus.longest_line, 64) + chooser.randint(3, 900)}": 0.15,
    }
    return [flag for flag, probability in flags.items() if case.chance(probability)]
