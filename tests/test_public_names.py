"""The public names: completion offers them and no others, and the example of each one runs."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import itertools
import rlcompleter
from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam
import pytest
from command_line import EXAMPLE, PROJECT, called

import beam_bleu

NAMES = [name for name in beam_bleu.__all__ if name != "__version__"]


def test_completion_offers_the_public_names_only() -> None:
    assert dir(beam_bleu) == sorted(beam_bleu.__all__)
    completer = rlcompleter.Completer({"beam_bleu": beam_bleu})
    words = (completer.complete("beam_bleu.", number) for number in itertools.count())
    offered = [word.rstrip("()") for word in itertools.takewhile(bool, words)]
    assert offered == [f"beam_bleu.{name}" for name in NAMES]


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"beam_bleu' has no attribute 'CorpusBlue'"):
        _ = beam_bleu.CorpusBlue


def classes() -> Iterator[tuple[str, type]]:
    """The public classes, and those in them, such as `CorpusBleu.Globally`."""
    for name in NAMES:
        value = getattr(beam_bleu, name)
        if inspect.isclass(value):
            yield name, value
            for inner, one in vars(value).items():
                if inspect.isclass(one) and not inner.startswith("_"):
                    yield f"{name}.{inner}", one


@pytest.mark.parametrize(("name", "one"), list(classes()))
def test_an_attribute_of_a_class_is_a_field_or_is_explained(name: str, one: type) -> None:
    of_beam = dir(beam.PTransform) if issubclass(one, beam.PTransform) else []
    fields = [field.name for field in dataclasses.fields(one)] if _is_dataclass(one) else []
    for attribute in {*dir(one)} - {*of_beam, *fields}:
        if not attribute.startswith("_"):
            assert not attribute.isupper(), attribute
            assert inspect.getdoc(getattr(one, attribute)), attribute


@pytest.mark.parametrize("one", [one for _, one in classes() if dataclasses.is_dataclass(one)])
def test_a_public_dataclass_is_frozen(one: type) -> None:
    assert one.__dataclass_params__.frozen  # type: ignore[attr-defined]


def _is_dataclass(one: type) -> bool:
    return dataclasses.is_dataclass(one)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the examples run: it has the bundled example, and a result of it."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "examples").symlink_to(PROJECT / "examples")
    assert called(*EXAMPLE, "--output", folder / "out" / "notebook").code == 0
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_name_runs(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    value = getattr(beam_bleu, name)
    assert ">>> from beam_bleu import " in (inspect.getdoc(value) or ""), "it has no example"
    runner, said = doctest.DocTestRunner(), []
    for example in doctest.DocTestFinder().find(value, name, globs={}):
        runner.run(example, out=said.append)
    assert "".join(said) == ""
