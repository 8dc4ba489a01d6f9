"""The page on tokenizers of users: its example runs, and its numbers are those of sacreBLEU."""

from __future__ import annotations

import doctest
from typing import Any

import sacrebleu
from command_line import PROJECT

PAGE = PROJECT / "docs" / "tokenizers.md"


def test_the_example_of_the_page_runs_and_equals_sacrebleu() -> None:
    names: dict[str, Any] = {}
    parsed = doctest.DocTestParser().get_doctest(PAGE.read_text(), names, "page", str(PAGE), 0)
    runner = doctest.DocTestRunner()
    runner.run(parsed, clear_globs=False)
    assert (runner.failures, runner.tries) == (0, len(parsed.examples))
    names = parsed.globs
    candidates, references = zip(*map(names["tokenized"], names["segments"]), strict=True)
    bleu = sacrebleu.BLEU(tokenize="none")
    score = bleu.corpus_score(candidates, list(zip(*references, strict=True)))
    shown = f"{score.score:.2f} {(*score.counts,)} {(*score.totals,)}"
    signature = str(bleu.get_signature()).partition("|version")[0]
    assert f"\n{shown}\n{signature}\n" in PAGE.read_text()
