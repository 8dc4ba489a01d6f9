"""The commands and examples in the documentation give the results that it shows."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import io
import os
import pathlib
import re
import shlex
import subprocess
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from command_line import COMMAND, PROJECT, called, without_progress
from engine_parts import need
from markdown_tables import sections, tables
from scoring import score_of

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig, BleuScore


def read(page: str) -> str:
    return (PROJECT / page).read_text()


# Pages whose console blocks show commands and all that they print.
SHOWN = [
    PROJECT / name
    for name in (
        "README.md",
        "docs/inputs.md",
        "docs/metrics.md",
        "docs/significance.md",
        "docs/tables.md",
        "docs/nights.md",
        "docs/result.md",
    )
]

NEEDS_FLINK = "cluster flags flink"
"""A command with this text needs a running cluster."""


@pytest.fixture
def started_flink(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The cluster of `./run.sh cluster start flink`, separate from a user's own."""
    need("flink")
    monkeypatch.setenv("BEAM_BLEU_CLUSTERS", str(tmp_path / "clusters"))

    def cluster(action: str) -> None:
        subprocess.run([PROJECT / "run.sh", "cluster", action, "flink"], check=True)

    cluster("start")
    yield
    cluster("stop")


def console_blocks() -> list[str]:
    text = "\n".join(page.read_text() for page in SHOWN)
    return re.findall(r"```console\n(.*?)```", text, re.DOTALL)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command, shown lines) of each `$ command` in a console block."""
    pairs: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        else:
            pairs[-1][1].append(line)
    return pairs


def shown_runs() -> list[Any]:
    """The console blocks; those that start an engine are tests of the set `nightly`."""
    return [
        pytest.param(
            block,
            marks=[pytest.mark.nightly] if NEEDS_FLINK in block else [],
            id=commands(block)[-1][0],
        )
        for block in console_blocks()
    ]


def output_of(script: str, folder: pathlib.Path) -> str:
    """What commands print, in one shell, so that $? is the exit code of the previous command."""
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder}/.bin:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize("block", shown_runs())
def test_a_command_prints_what_the_page_shows(
    block: str,
    tmp_path: pathlib.Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if NEEDS_FLINK in block:
        request.getfixturevalue("started_flink")
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    for name, words in (("run.sh", [PROJECT / "run.sh"]), (".bin/beam-bleu", COMMAND)):
        program = tmp_path / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
        program.chmod(0o755)
    before = set(tmp_path.iterdir())
    scripts = [command for command, _ in commands(block)]
    expected = [line for _, shown in commands(block) for line in shown]
    if all(re.fullmatch(r"beam-bleu [^|<>$;&]*", command) for command in scripts):
        monkeypatch.chdir(tmp_path)
        output = ""
        for command in scripts:  # in this process, which saves a second of imports
            _, *arguments = output_of(f"printf '%s\\n' {command}", tmp_path).splitlines()
            run = called(*arguments)
            output += run.err + run.out.decode()
    else:
        output = output_of("\n".join(scripts), tmp_path)
    # The id and the page of an engine's job are new for each job.
    hidden = ("run.sh:", "beam-bleu: Created job with id: [", "beam-bleu: the page of the job: ")
    lines = without_progress(output).splitlines()
    printed = [line for line in lines if not line.startswith(hidden)]
    if expected[-1].strip() == "...":
        expected = expected[:-1]
        printed = printed[: len(expected)]
    # The pages show that of Python 3.11.
    tables_of_unicode = f"|unicode:{unicodedata.unidata_version}|"
    expected = [line.replace("|unicode:14.0.0|", tables_of_unicode) for line in expected]
    assert printed == expected
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"out"}


def programs() -> Iterator[Any]:
    """(page, section) of the programs that print; the section of other pages is the whole page."""
    for page in ("README.md", "docs/tables.md"):
        yield pytest.param(page, None)
    for section, text in sections(read("docs/inputs.md")).items():
        if "```python" in text:
            yield pytest.param("docs/inputs.md", section)


def printed_by(program: str, page: str) -> list[str]:
    """The lines that a program prints, sorted: steps of a pipeline print in any order."""
    output = io.StringIO()
    program = program.replace("beam.Pipeline()", 'beam.Pipeline("FnApiRunner")')
    with contextlib.redirect_stdout(output):
        exec(compile(program, page, "exec"), {"__name__": "__main__"})
    return sorted(output.getvalue().splitlines())


@pytest.mark.parametrize(("page", "section"), [*programs()])
def test_a_program_prints_what_the_page_shows(
    page: str, section: str | None, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    text = read(page)
    if page == "docs/tables.md":  # the result of its command
        (command,) = re.findall(r"```sh\nbeam-bleu (examples.*?)```", text, re.DOTALL)
        words = [word for word in shlex.split(command.replace("\\\n", "")) if word]
        paths = [sorted(map(str, tmp_path.glob(word))) if "*" in word else [word] for word in words]
        assert called(*(path for found in paths for path in found)).code == 0
    if section is not None:
        text = sections(text)[section]
    found = re.findall(r"```python\n((?:(?!```).)*)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert found
    for program, shown in found:
        assert printed_by(program, page) == sorted(shown.splitlines())


def table(page: str, *header: str) -> list[list[str]]:
    """The rows of the table of a page with this header."""
    (found,) = (each for each in tables(read(page)) if tuple(each[0]) == header)
    return found[1:]


def test_the_page_shows_the_yaml_example_as_it_is() -> None:
    shown = re.findall(r"```yaml\n(.*?)```", read("docs/library.md"), re.DOTALL)
    example = (PROJECT / "examples" / "beam_yaml" / "score.yaml").read_text()
    assert example[example.index("pipeline:") :] in shown


PAGES = [
    page
    for page in PROJECT.rglob("*.md")
    if not re.match(r"\.|build/", str(page.relative_to(PROJECT)))
]


def anchor(title: str) -> str:
    """The end of a link to a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_to_files_and_headings(page: pathlib.Path) -> None:
    for path, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            assert heading in map(anchor, sections(target.read_text())), f"{path}#{heading}"


def rows(page: pathlib.Path, header: str) -> list[list[str]]:
    """The cells of all tables with this header; an empty cell is the same as the one above it."""
    found: list[list[str]] = []
    for block in page.read_text().split("\n\n"):
        lines = block.splitlines()
        if lines[0] == header:
            for line in lines[2:]:
                cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
                found.append([cell or found[-1][i] for i, cell in enumerate(cells)])
    return found


METRICS = PROJECT / "docs" / "metrics.md"


def scored(candidates: str, references: str, flags: str) -> BleuScore:
    """The score of an example as the page writes it."""
    job = parse([*flags.split(), "--candidates=x", "--references=y"]).job
    (scorings,) = job.scorings.values()
    texts = {name: getattr(job.metrics.lengths, name) for name in BleuConfig.text_fields()}
    config = dataclasses.replace(scorings.corpus, **texts)
    segments = [
        (candidate.strip(), [reference.strip() for reference in of_segment.split(" / ")])
        for candidate, of_segment in zip(candidates.split(";"), references.split(";"), strict=True)
    ]
    return score_of(segments, config)


@pytest.mark.parametrize(
    ("candidates", "references", "flags", "shown"),
    rows(METRICS, "| candidates | references | flags | score |"),
)
def test_an_example_of_a_definition_scores_what_the_page_shows(
    candidates: str, references: str, flags: str, shown: str
) -> None:
    score = scored(candidates, references, flags).score
    digits = len(shown.partition(".")[2])
    # The founding documents print all digits of a float between 0 and 1. The last may be rounded.
    assert score == pytest.approx(float(shown), rel=1e-15, abs=0.5 * 10**-digits)


def test_the_examples_of_the_library_run(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    page = PROJECT / "docs" / "library.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.attempted >= 40
    assert results.failed == 0
