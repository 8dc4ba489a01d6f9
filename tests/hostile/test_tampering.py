"""Changes some fields of each run's totals, and proves that a wrong command would be found."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from checks import DifferenceError
from saved_runs import RUN_NAMES, make_run
from tampering import REASONS, Change, Tampering, changes, some_changes

import beam_bleu.pipeline.saved.totals_file
from beam_bleu.transforms.metrics.bleu.columns import FIRST_MATCHES


@pytest.fixture(scope="module")
def tamper(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Tampering]:
    """Makes each run only once."""
    made: dict[str, Tampering] = {}

    def make(name: str) -> Tampering:
        if name not in made:
            folder: Path = tmp_path_factory.mktemp("run")
            file = make_run(name, folder, random.Random(name))
            made[name] = Tampering(name, file, folder / "changed")
        return made[name]

    return make


@pytest.mark.parametrize("count", [120, pytest.param(2400, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", RUN_NAMES)
def test_changes_are_refused_or_known(name, count, tamper):
    tampering = tamper(name)
    for change in some_changes(tampering.frame["content"], random.Random(name), count):
        tampering.try_change(change)


def shown(content: Any, path: Sequence[str]) -> str:
    """The value with this path of keys and places; empty if it is missing."""
    *holders, last = path
    for key in holders:
        content = content[int(key) if isinstance(content, list) else key]
    if isinstance(content, list):
        return repr(content[int(last)])
    return repr(content[last]) if last in content else ""


@pytest.mark.parametrize("name", RUN_NAMES)
def test_every_field_is_changed_and_put_back(name, tamper):
    content = tamper(name).frame["content"]
    before = repr(content)
    fields = set()
    for change in changes(content):
        path = re.findall(r"[^.\[\]]+", change.field)
        # Not the whole content, which has thousands of numbers, for each of thousands of changes.
        assert shown(change.content, path) != shown(content, path), change
        fields.add(change.field)
    assert repr(change.content) == repr(content) == before
    for part in (
        "tally.read",
        "metrics[0].sums[0].text.tokenize",
        "partitions[0].inputs[0].files[0].path",
    ):
        assert part in fields


def test_every_reason_is_of_a_field(tamper):
    fields = {
        (name, each.field) for name in RUN_NAMES for each in changes(tamper(name).frame["content"])
    }
    for reason in REASONS:
        assert any(
            re.fullmatch(reason.field, field) and re.fullmatch(reason.runs, name)
            for name, field in fields
        ), reason


def first(tampering: Tampering, field: str, how: str) -> Change:
    return next(
        each
        for each in changes(tampering.frame["content"])
        if (each.field, each.how) == (field, how)
    )


@pytest.mark.parametrize(
    ("field", "how"),
    [
        ("tally.read", "zero"),
        ("metrics[0].moments.common_sums.values[0]", "one more"),
        ("metrics[0].moments.own_units.values[0]", "double"),
        ("metrics[0].moments.common_units.values[0]", "one less"),
        ("metrics[0].moments.own_products.values[0]", "double"),
    ],
)
def test_a_command_that_checks_nothing_is_found(field, how, tamper, monkeypatch):
    def unchecked(saved: Any) -> None:
        return None

    monkeypatch.setattr(beam_bleu.pipeline.saved.totals_file, "contradiction", unchecked)
    tampering = tamper("slices")
    with pytest.raises(DifferenceError):
        tampering.try_change(first(tampering, field, how))


def test_a_reason_that_is_wrong_is_found(tamper, monkeypatch):
    tampering = tamper("one system")
    change = first(
        tampering, f"metrics[0].sums[0].systems.alpha.columns[{FIRST_MATCHES}]", "one less"
    )
    with monkeypatch.context() as context:
        context.setattr("tampering.REASONS", ())
        with pytest.raises(DifferenceError, match="no reason is known"):
            tampering.try_change(change)
    (reason,) = (each for each in REASONS if each.runs == "one system")
    wrong = type(reason)(reason.field, "name", "it is only a name")
    monkeypatch.setattr("tampering.REASONS", (wrong,))
    with pytest.raises(DifferenceError, match=r"changes numbers.*although it is only a name"):
        tampering.try_change(change)
