"""docs/evaluate.md: its examples run, and its table has each flag of the command once."""

from __future__ import annotations

import doctest

from command_line import PROJECT

from beam_bleu import ArrowColumns, Evaluate
from beam_bleu.pipeline.library import evaluate
from beam_bleu.pipeline.library.beam_yaml import Evaluate as EvaluateRows
from beam_bleu.pipeline.library.keywords import KEYWORDS

PAGE = PROJECT / "docs" / "evaluate.md"


def test_each_keyword_is_one_of_the_library_and_of_beam_yaml():
    columns = ArrowColumns({"a": "a"}, ["r"])
    for name in KEYWORDS:
        Evaluate(columns=columns, **{name: None})
        EvaluateRows(candidates={"a": "a"}, references=["r"], **{name: None})


def test_the_examples_run(tmp_path, monkeypatch):
    assert doctest.testmod(evaluate) == (0, 10)
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, attempted >= 15) == (0, True)
