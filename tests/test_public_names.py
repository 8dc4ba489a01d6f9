"""The public names: completion offers them and no others, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import itertools
import rlcompleter
from pathlib import Path

import pytest
from command_line import EXAMPLE, PROJECT, called

import beam_bleu

NAMES = beam_bleu.__all__


def test_completion_offers_the_public_names_only() -> None:
    assert dir(beam_bleu) == sorted(beam_bleu.__all__)
    completer = rlcompleter.Completer({"beam_bleu": beam_bleu})
    words = (completer.complete("beam_bleu.", number) for number in itertools.count())
    offered = [word.rstrip("()") for word in itertools.takewhile(bool, words)]
    assert offered == [f"beam_bleu.{name}" for name in NAMES]


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="No beam_bleu attribute CorpusBlue"):
        _ = beam_bleu.CorpusBlue


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the examples run: it has the bundled example, and a result of it."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "examples").symlink_to(PROJECT / "examples")
    assert called(*EXAMPLE, "--output", folder / "out" / "notebook").code == 0
    return folder


def has_example(name: str) -> bool:
    return ">>> from beam_bleu import " in (inspect.getdoc(getattr(beam_bleu, name)) or "")


@pytest.mark.parametrize("name", filter(has_example, NAMES))
def test_the_example_of_a_name_runs(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    value = getattr(beam_bleu, name)
    runner, said = doctest.DocTestRunner(), []
    for example in doctest.DocTestFinder().find(value, name, globs={}):
        runner.run(example, out=said.append)
    assert "".join(said) == ""
