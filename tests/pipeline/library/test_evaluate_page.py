"""docs/evaluate.md: its examples run, and its table has each flag of the command once."""

from __future__ import annotations

import argparse
import doctest

from command_line import PROJECT
from markdown_tables import tables

from beam_bleu import ArrowColumns, Evaluate
from beam_bleu.pipeline.command_line.options import our_parser
from beam_bleu.pipeline.library import evaluate
from beam_bleu.pipeline.library.beam_yaml import Evaluate as EvaluateRows
from beam_bleu.pipeline.library.keywords import Keywords
from docs.make_tables import ELSEWHERE

PAGE = PROJECT / "docs" / "evaluate.md"


def shown_flags() -> list[argparse.Action]:
    """The flags that the help shows, also those that Beam's parser reads."""
    return [flag for _, group in our_parser().groups() for flag in group]


def test_the_library_has_each_flag_or_says_why_it_has_not():
    flags = [flag.dest for flag in shown_flags()]
    keywords = [*Keywords.__annotations__]
    assert not {*keywords} & {*ELSEWHERE}
    assert {*keywords, *ELSEWHERE} == {*flags}
    (rows,) = [rows for header, *rows in tables(PAGE.read_text()) if header[0] == "flag"]
    assert len(rows) == len(flags) > 90
    spellings = {name for flag in shown_flags() for name in flag.option_strings[-1:]}
    assert spellings <= {row[0].strip("`") for row in rows}


def test_each_keyword_is_one_of_the_library_and_of_beam_yaml():
    columns = ArrowColumns({"a": "a"}, ["r"])
    for name in Keywords.__annotations__:
        Evaluate(columns=columns, **{name: None})
        EvaluateRows(candidates={"a": "a"}, references=["r"], **{name: None})


def test_the_examples_run(tmp_path, monkeypatch):
    assert doctest.testmod(evaluate) == (0, 10)
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, attempted >= 15) == (0, True)
