"""Right input in any form: the scores are sacreBLEU's; see the README here."""

from __future__ import annotations

import pytest
from case import Case, complaints, numbers
from corpora import assert_right, flags_of, make_corpus, make_definition
from shards import make_layout, plain_layout, run_flags


@pytest.mark.parametrize("number", numbers(8, 100))
def test_the_scores_are_sacrebleus(number, tmp_path):
    case = Case(f"right {number}", tmp_path)
    chooser = case.random
    corpus, choices = make_corpus(chooser), make_definition(chooser)
    form = chooser.choice(["plain", "shards", "shards", "shards", "other cuts"])
    more = run_flags(case, corpus)
    if form == "plain":
        layout = plain_layout(case.folder / "in", corpus)
    elif form == "other cuts":
        layout, more = make_layout(case, corpus, same_cuts=False), [*more, "--cuts=any"]
    else:
        layout = make_layout(case, corpus)
    document = ["--format=json", "--allow=marks", *flags_of(choices)]
    run = case.run(*layout.arguments(*document, *more, "--output", case.output))
    assert (run.code, complaints(run)) == (0, []), run.err
    assert_right(run.document, corpus, choices)
    case.check_output(run.out)
    if case.chance(0.4):
        plain = case.run(*plain_layout(case.folder / "plain", corpus).arguments(*document))
        assert plain.out == run.out, "the plain files give other bytes than the shards"
