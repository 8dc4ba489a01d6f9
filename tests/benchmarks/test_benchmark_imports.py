"""Tests the rules for imports between benchmarks. They hold for new files, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import pytest
from command_line import PROJECT

SHARED = {"corpus", "machine", "measure", "program"}
"""What all groups use. It imports no group."""

GROUPS = {"engines", "plans", "significance", "speed", "streams", "unsplit_text"}
"""The folders and programs of what is measured. A group imports only itself and what is shared."""

SHARED_BY_SPEED = {"commands", "contestants", "report", "results", "sizes", "squad_evaluation"}
"""What all programs of speed use. It imports none of them."""

FRONT_OF_SPEED = {"__main__", "figures", "quick"}
"""The files of speed that bring figures together. The figures do not import each other."""


def sources() -> dict[str, str]:
    """The source of each module of the benchmarks."""
    files = (PROJECT / "benchmarks").rglob("*.py")
    return {
        ".".join(file.relative_to(PROJECT).with_suffix("").parts).removesuffix(
            ".__init__"
        ): file.read_text(encoding="utf-8")
        for file in files
    }


def imports(source: str) -> Iterator[str]:
    """The modules of the benchmarks that a source imports anywhere."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import"
            found = [f"{node.module}.{each.name}" for each in node.names]
        else:
            continue
        yield from (each for each in found if each.startswith("benchmarks."))


def place(module: str) -> tuple[str, str]:
    """(the group or shared part that a module is in, the part of the group), "" if none."""
    _, group, part, *_ = [*module.split("."), "", ""]
    return group, part


def may_import(name: str, other: str) -> bool:
    (group, part), (of_other, other_part) = place(name), place(other)
    if of_other in SHARED:
        return True
    if group != of_other:
        return False
    if group != "speed" or part == other_part or part in FRONT_OF_SPEED:
        return True
    return other_part in SHARED_BY_SPEED


def wrong_imports(modules: Mapping[str, str]) -> set[tuple[str, str]]:
    return {
        (name, other)
        for name, source in modules.items()
        for other in imports(source)
        if not may_import(name, other)
    }


def test_every_import_of_a_benchmark_follows_the_rules() -> None:
    assert wrong_imports(sources()) == set()


def test_the_rules_know_every_file_and_folder() -> None:
    assert {place(name)[0] for name in sources()} == {"", *SHARED, *GROUPS}
    of_speed = {place(name)[1] for name in sources() if place(name)[0] == "speed"}
    assert of_speed >= SHARED_BY_SPEED | FRONT_OF_SPEED


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("benchmarks.measure", "benchmarks.speed.results"),
        ("benchmarks.corpus.workspace", "benchmarks.speed.commands"),
        ("benchmarks.plans.steps", "benchmarks.speed.report"),
        ("benchmarks.speed.results", "benchmarks.speed.kernel"),
        ("benchmarks.speed.kernel", "benchmarks.speed.command.against_others"),
        ("benchmarks.speed.joins.records", "benchmarks.speed.records.figures"),
        ("benchmarks.speed.slices.__main__", "benchmarks.speed.figures"),
    ],
)
def test_a_wrong_import_of_a_benchmark_is_found(name: str, other: str) -> None:
    modules = sources()
    module, _, what = other.rpartition(".")
    source = f"{modules.get(name, '')}\n\ndef late():\n    from {module} import {what}\n"
    assert wrong_imports({**modules, name: source}) == {(name, other)}
