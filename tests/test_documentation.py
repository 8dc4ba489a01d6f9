"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from engine_parts import need

import transforms.corpus_bleu

PROJECT = pathlib.Path(__file__).parent.parent
README = (PROJECT / "README.md").read_text()


@pytest.fixture
def started_flink(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The cluster of `./run.sh cluster start flink`, apart from a user's own."""
    need("flink")
    monkeypatch.setenv("BEAM_BLEU_CLUSTERS", str(tmp_path / "clusters"))

    def cluster(action: str) -> None:
        subprocess.run([PROJECT / "run.sh", "cluster", action, "flink"], check=True)

    cluster("start")
    yield
    cluster("stop")


def console_blocks() -> list[str]:
    return re.findall(r"```console\n(.*?)```", README, re.DOTALL)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command, shown lines) of each `$ command` in a console block."""
    pairs: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        else:
            pairs[-1][1].append(line)
    return pairs


def test_the_readme_shows_commands() -> None:
    assert len(console_blocks()) >= 3


@pytest.mark.parametrize("block", console_blocks(), ids=lambda block: commands(block)[-1][0])
def test_a_command_prints_what_the_readme_shows(
    block: str, tmp_path: pathlib.Path, request: pytest.FixtureRequest
) -> None:
    if "cluster flags flink" in block:
        request.getfixturevalue("started_flink")
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    (tmp_path / "run.sh").write_text(f'#!/bin/sh\nexec "{PROJECT}/run.sh" "$@"\n')
    (tmp_path / "run.sh").chmod(0o755)
    script, expected = "", []
    for command, shown in commands(block):
        script += command + "\n"
        expected += shown
    # In one shell, so that $? is that of the command before.
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    printed = [line for line in done.stdout.splitlines() if not line.startswith("run.sh:")]
    if expected[-1].strip() == "...":
        expected = expected[:-1]
        printed = printed[: len(expected)]
    assert printed == expected


def test_the_library_example_prints_what_the_readme_shows(tmp_path: pathlib.Path) -> None:
    example = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL)
    assert example is not None
    code, shown = example.groups()
    done = subprocess.run(
        [sys.executable, "-c", code.replace("beam.Pipeline()", "beam.Pipeline('FnApiRunner')")],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(done.stdout.splitlines()) == shown.splitlines()


def test_the_readme_names_every_flag() -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "pipeline", "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    flags = set(re.findall(r"--\w+", help_text)) - {"--help", "--version"}
    assert len(flags) > 10
    assert not {flag for flag in flags if f"`{flag}" not in README}


PAGES = [
    page
    for page in PROJECT.rglob("*.md")
    if not {".venv", "build"} & set(page.relative_to(PROJECT).parts)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_to_files_lead_somewhere(page: pathlib.Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]


def test_docstring_examples_run() -> None:
    results = doctest.testmod(transforms.corpus_bleu)
    assert results.attempted >= 3
    assert results.failed == 0
