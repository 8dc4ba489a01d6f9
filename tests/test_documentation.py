"""Commands, examples, links and made parts of the documentation are what they should be."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import io
import os
import re
import shlex
import subprocess
import unicodedata

import pytest
from command_line import PROJECT, called, without_progress
from engine_parts import need
from markdown_tables import sections, tables
from scoring import score_of
from shells import run_shell

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from docs.make import made
from docs.pages import COMMAND as MAKE

SHOWN = ["README.md", *(f"docs/{name}.md" for name in ("inputs", "metrics", "significance"))]
SHOWN += [f"docs/{name}.md" for name in ("tables", "nights", "result", "evaluation")]
"""Pages whose console blocks show commands and all that they print."""

NEEDS_FLINK = "cluster flags flink"
"""A command with this text needs a running cluster."""

MADE = made()


def read(page):
    return (PROJECT / page).read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which commands and examples run."""
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def started_flink(tmp_path, monkeypatch):
    """The cluster of `./run.sh cluster start flink`, separate from a user's own."""
    need("flink")
    monkeypatch.setenv("BEAM_BLEU_CLUSTERS", str(tmp_path / "clusters"))
    for action in ("start", "stop"):
        subprocess.run([PROJECT / "run.sh", "cluster", action, "flink"], check=True)
        if action == "start":
            yield


def commands(block):
    """(command, shown lines) of each `$ command` in a console block."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        else:
            pairs[-1][1].append(line)
    return pairs


def shown_runs():
    """The console blocks; those that start an engine are tests of the set `nightly`."""
    text = "\n".join(map(read, SHOWN))
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        marks = [pytest.mark.nightly] if NEEDS_FLINK in block else []
        yield pytest.param(block, marks=marks, id=commands(block)[-1][0])


def output_of(script, folder):
    """What commands print, in one shell, so that $? is the exit code of the previous command."""
    run_sh = folder / "run.sh"
    run_sh.write_text(f'#!/bin/sh\nexec "{PROJECT}/run.sh" "$@"\n')
    run_sh.chmod(0o755)
    env = os.environ | {"PATH": f"{folder}/.bin:{os.environ['PATH']}"}
    return run_shell(["bash", "-c", script], folder / ".bin", env, stderr=subprocess.STDOUT).stdout


@pytest.mark.parametrize("block", [*shown_runs()])
def test_a_command_prints_what_the_page_shows(block, folder, request):
    if NEEDS_FLINK in block:
        request.getfixturevalue("started_flink")
    output = output_of("\n".join(command for command, _ in commands(block)), folder)
    expected = [line for _, shown in commands(block) for line in shown]
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
    assert {path.name for path in folder.iterdir()} <= {"examples", "out", "run.sh", ".bin"}


def programs():
    """(page, section) of the programs that print; the section of other pages is the whole page."""
    yield from [("README.md", None), ("docs/tables.md", None)]
    for section, text in sections(read("docs/inputs.md")).items():
        if "```python" in text:
            yield "docs/inputs.md", section


def printed_by(program, page):
    """The lines that a program prints, sorted: steps of a pipeline print in any order."""
    output = io.StringIO()
    program = program.replace("beam.Pipeline()", 'beam.Pipeline("FnApiRunner")')
    with contextlib.redirect_stdout(output):
        exec(compile(program, page, "exec"), {"__name__": "__main__"})
    return sorted(output.getvalue().splitlines())


@pytest.mark.parametrize(("page", "section"), [*programs()])
def test_a_program_prints_what_the_page_shows(page, section, folder):
    (folder / "out").mkdir()
    text = read(page)
    if page == "docs/tables.md":  # the result of its command
        (command,) = re.findall(r"```sh\nbeam-bleu (examples.*?)```", text, re.DOTALL)
        words = [word for word in shlex.split(command.replace("\\\n", "")) if word]
        paths = [sorted(map(str, folder.glob(word))) if "*" in word else [word] for word in words]
        assert called(*(path for found in paths for path in found)).code == 0
    if section is not None:
        text = sections(text)[section]
    found = re.findall(r"```python\n((?:(?!```).)*)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert found
    for program, shown in found:
        assert printed_by(program, page) == sorted(shown.splitlines())


def test_the_page_shows_the_yaml_example_as_it_is():
    shown = re.findall(r"```yaml\n(.*?)```", read("docs/library.md"), re.DOTALL)
    example = (PROJECT / "examples" / "beam_yaml" / "score.yaml").read_text()
    assert example[example.index("pipeline:") :] in shown


PAGES = [
    page
    for page in PROJECT.rglob("*.md")
    if not re.match(r"\.|build/", str(page.relative_to(PROJECT)))
]


def anchor(title):
    """The end of a link to a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_links_lead_to_files_and_headings():
    for page in PAGES:
        for path, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
            target = page.parent / path if path else page
            assert target.exists(), (page, path)
            if heading:
                headings = map(anchor, sections(target.read_text()))
                assert heading in headings, (page, f"{path}#{heading}")


def examples_of_definitions():
    """The rows of a table; an empty cell is the same as the one above it."""
    before = []
    for header, *rows in tables(read("docs/metrics.md")):
        for row in rows if header == ["candidates", "references", "flags", "score"] else []:
            cells = [cell.strip("`") for cell in row]
            before = [cell or before[place] for place, cell in enumerate(cells)]
            yield before


@pytest.mark.parametrize(
    ("candidates", "references", "flags", "shown"), [*examples_of_definitions()]
)
def test_an_example_of_a_definition_scores_what_the_page_shows(
    candidates, references, flags, shown
):
    job = parse([*flags.split(), "--candidates=x", "--references=y"]).job
    (scorings,) = job.scorings.values()
    texts = {name: getattr(job.metrics.lengths, name) for name in BleuConfig.text_fields()}
    segments = [
        (candidate.strip(), [reference.strip() for reference in of_segment.split(" / ")])
        for candidate, of_segment in zip(candidates.split(";"), references.split(";"), strict=True)
    ]
    score = score_of(segments, dataclasses.replace(scorings.corpus, **texts)).score
    digits = len(shown.partition(".")[2])
    # The founding documents print all digits of a float between 0 and 1. The last may be rounded.
    assert score == pytest.approx(float(shown), rel=1e-15, abs=0.5 * 10**-digits)


def test_the_examples_of_the_library_run(folder):
    results = doctest.testfile(str(PROJECT / "docs" / "library.md"), module_relative=False)
    assert results.attempted >= 40
    assert results.failed == 0


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_a_file_has_what_the_code_says(path):
    assert path.read_text(encoding="utf-8") == MADE[path], f"run: {MAKE}"
