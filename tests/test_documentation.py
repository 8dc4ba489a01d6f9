"""The commands and examples in the documentation give the results that it shows."""

from __future__ import annotations

import dataclasses
import doctest
import math
import pathlib
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from command_line import without_progress
from engine_parts import need
from markdown_tables import sections, tables
from scoring import score_of

import beam_bleu
from beam_bleu.pipeline.command_line.options import our_groups, parse
from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from beam_bleu.pipeline.errors.exit_codes import EXIT_CODES
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.config import PRESETS, BleuConfig
from beam_bleu.transforms.metrics.bleu.score import BleuScore
from beam_bleu.transforms.metrics.bleu.scoring import SMOOTH_METHODS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

PROJECT = pathlib.Path(__file__).parent.parent
CONTRIBUTING = PROJECT / "CONTRIBUTING.md"
README = (PROJECT / "README.md").read_text()

# Pages whose console blocks show commands and all that they print.
SHOWN = [
    PROJECT / name
    for name in (
        "README.md",
        "docs/tour.md",
        "docs/definitions.md",
        "docs/examples.md",
        "docs/history.md",
        "docs/chrf.md",
        "docs/ter.md",
        "docs/rouge.md",
        "docs/exact_match.md",
        "docs/wer.md",
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


def test_the_pages_show_commands() -> None:
    assert len(console_blocks()) >= 10


def test_the_first_pages_are_short() -> None:
    assert len(README.splitlines()) <= 250
    assert len(CONTRIBUTING.read_text().split()) <= 2500


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


@pytest.mark.parametrize("block", shown_runs())
def test_a_command_prints_what_the_page_shows(
    block: str, tmp_path: pathlib.Path, request: pytest.FixtureRequest
) -> None:
    if NEEDS_FLINK in block:
        request.getfixturevalue("started_flink")
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    (tmp_path / "run.sh").write_text(f'#!/bin/sh\nexec "{PROJECT}/run.sh" "$@"\n')
    (tmp_path / "run.sh").chmod(0o755)
    before = set(tmp_path.iterdir())
    script, expected = "", []
    for command, shown in commands(block):
        script += command + "\n"
        expected += shown
    # In one shell, so that $? is the exit code of the previous command.
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    # The id and the page of an engine's job are new for each job.
    hidden = ("run.sh:", "beam-bleu: Created job with id: [", "beam-bleu: the page of the job: ")
    output = without_progress(done.stdout)
    printed = [line for line in output.splitlines() if not line.startswith(hidden)]
    if expected[-1].strip() == "...":
        expected = expected[:-1]
        printed = printed[: len(expected)]
    # The pages show that of Python 3.11.
    tables_of_unicode = f"|unicode:{unicodedata.unidata_version}|"
    expected = [line.replace("|unicode:14.0.0|", tables_of_unicode) for line in expected]
    assert printed == expected
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"out"}


WRITES = re.compile(r"(?:--output[= ]|(?<![-<=])>{1,2} ?| -o |^ +path: )([^\s;)&]+)", re.MULTILINE)
"""What a command or a pipeline of a page writes (or reads by ReadFrom... of Beam YAML)."""

ELSEWHERE = re.compile(r"/|[a-z0-9]+://|\$|[A-Z]+\b|\.\.\.|examples/beam_yaml/records\.jsonl$")
"""Paths that are not in the project, places for a user's own names, and the example's input."""


def written_by(page: pathlib.Path) -> Iterator[str]:
    for block in re.findall(r"```(?:sh|bash|console|yaml)\n(.*?)```", page.read_text(), re.DOTALL):
        yield from WRITES.findall(re.sub(r"</?\w+>", "", block))  # tags redirect nothing


def test_the_examples_write_into_the_ignored_folder_only() -> None:
    pages = [page for page in PAGES if page.parts[-2] != "benchmarks"]  # its reports are pages
    wrong = {
        f"{page.relative_to(PROJECT)}: {path}"
        for page in pages
        for path in written_by(page)
        if not path.startswith("out/") and not ELSEWHERE.match(path)
    }
    assert wrong == set()
    found = {path for page in pages for path in written_by(page)}
    assert {"out/here", "out/there", "out/short.txt", "out/scores.jsonl"} <= found
    assert "/out/" in (PROJECT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("page", ["README.md", "docs/inputs.md"])
def test_the_library_examples_print_what_the_pages_show(page: str) -> None:
    text = (PROJECT / page).read_text()
    example = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
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


def test_the_page_shows_the_yaml_example_as_it_is() -> None:
    page = PROJECT / "docs" / "beam_yaml.md"
    (shown,) = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    example = (PROJECT / "examples" / "beam_yaml" / "score.yaml").read_text()
    assert shown == example[example.index("pipeline:") :]


def test_the_page_of_flags_has_all_flags() -> None:
    page = (PROJECT / "docs" / "flags.md").read_text()
    assert "whole 95 % interval" in page
    flags = [flag for _, group in our_groups() for flag in group]
    assert len(flags) > 60
    for flag in flags:
        assert f"`{flag.option_strings[-1] if flag.option_strings else flag.metavar}" in page


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


def test_the_page_of_the_library_lists_the_public_names() -> None:
    # The site shows the docstring of each of these names below the lists.
    page = (PROJECT / "docs" / "library.md").read_text()
    listed = re.findall(r"^- `(\w+)`: ", page, re.MULTILINE)
    assert sorted([*listed, "__version__"]) == sorted(beam_bleu.__all__)


def test_pages_name_only_pages_that_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"`(docs/[\w./-]+)`", page.read_text()):
            # The changelog may name a page by an old name.
            assert (PROJECT / name).exists() or page.name == "CHANGELOG.md", f"{page}: {name}"


def links_of(page: pathlib.Path) -> set[pathlib.Path]:
    """The pages that a page has links to."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    return {(page.parent / link).resolve() for link in links if link.endswith(".md")}


def test_every_page_can_be_reached_from_the_index() -> None:
    index = PROJECT / "docs" / "README.md"
    found, waiting = set(), [index.resolve()]
    while waiting:
        page = waiting.pop()
        if page not in found:
            found.add(page)
            waiting.extend(links_of(page))
    assert found >= {page.resolve() for page in PAGES}
    assert links_of(index) >= set((PROJECT / "docs").glob("*.md")) - {index}


def test_the_way_of_the_data_names_files_and_rooms_that_exist() -> None:
    files = [path.relative_to(PROJECT) for path in PROJECT.glob("*/**/*.py")]
    names = {path.name for path in files}
    pages = [CONTRIBUTING, PROJECT / "docs" / "recipes.md", PROJECT / "docs" / "glossary.md"]
    page = "\n".join(each.read_text() for each in pages)
    for language, block in re.findall(r"^ *```(\w*)\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE):
        for name in re.findall(r"\b\w+\.py\b", block if not language else ""):
            assert name in names, name
    folders = {parent for path in files for parent in path.parents}
    known = [f"/{path}" for path in files] + [f"/{folder}/" for folder in folders]
    for path in re.findall(r"(?:\w+/)+\w+\.py\b|`(?:\w+/)+`", page):
        written = path.startswith("out/")  # by the reader
        assert written or any(each.endswith(f"/{path.strip('`')}") for each in known), path
    (tree,) = re.findall(r"^transforms/ .*?^pipeline/", page, re.DOTALL | re.MULTILINE)
    listed = re.findall(r"^ +(\w+)/ ", tree, re.MULTILINE)
    rooms = {path.parent for path in (PROJECT / "transforms").glob("**/__init__.py")}
    without_line = {PROJECT / "transforms", *(PROJECT / "transforms" / "metrics").iterdir()}
    assert sorted(listed) == sorted(room.name for room in rooms - without_line)


def test_the_readme_and_the_page_of_output_have_the_same_exit_codes() -> None:
    of_page, of_readme = (
        [row[0] for row in table[1:]]
        for text in ((PROJECT / "docs" / "terminal.md").read_text(), README)
        for table in tables(text)
        if table[0][0] == "code"
    )
    assert of_page == of_readme
    assert of_page == [", ".join(map(str, row.codes)) for row in EXIT_CODES]


def test_the_readme_says_what_the_help_says_of_exit_codes() -> None:
    (table,) = (table for table in tables(README) if table[0][0] == "code")
    for (_, shown), row in zip(table[1:], EXIT_CODES, strict=True):
        assert shown.startswith(row.meaning)


def test_the_readme_names_every_subcommand() -> None:
    for name in SUBCOMMANDS:
        assert re.search(rf"`(beam-bleu|\./run\.sh) {name}\b|^\./run\.sh {name}\b", README, re.M)


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


DEFINITIONS = PROJECT / "docs" / "definitions.md"


def scored(candidates: str, references: str, flags: str) -> BleuScore:
    """The score of an example as the page writes it."""
    job = parse([*flags.split(), "--candidates=x", "--references=y"]).job
    scoring = job.metrics[0].corpus.scoring
    config = BleuConfig(**dataclasses.asdict(scoring), **dataclasses.asdict(job.text))
    segments = [
        (candidate.strip(), [reference.strip() for reference in of_segment.split(" / ")])
        for candidate, of_segment in zip(candidates.split(";"), references.split(";"), strict=True)
    ]
    return score_of(segments, config)


@pytest.mark.parametrize(
    ("candidates", "references", "flags", "shown"),
    rows(DEFINITIONS, "| candidates | references | flags | score |"),
)
def test_an_example_of_a_definition_scores_what_the_page_shows(
    candidates: str, references: str, flags: str, shown: str
) -> None:
    score = scored(candidates, references, flags).score
    digits = len(shown.partition(".")[2])
    # The founding documents print all digits of a float between 0 and 1. The last may be rounded.
    assert score == pytest.approx(float(shown), rel=1e-15, abs=0.5 * 10**-digits)


@pytest.mark.parametrize(
    ("candidate", "references", "order", "shown"),
    rows(DEFINITIONS, "| candidate | references | order | precision |"),
)
def test_a_precision_is_what_the_page_shows(
    candidate: str, references: str, order: str, shown: str
) -> None:
    score = scored(candidate, references, "--preset papineni2002")
    assert f"{score.matches[int(order) - 1]}/{score.totals[int(order) - 1]}" == shown


def test_the_page_of_definitions_shows_examples_and_names_every_choice() -> None:
    assert len(rows(DEFINITIONS, "| candidates | references | flags | score |")) > 40
    assert len(rows(DEFINITIONS, "| candidate | references | order | precision |")) == 6
    page = DEFINITIONS.read_text()
    for choice in (*PRESETS, *TOKENIZERS, *REFERENCE_LENGTHS, *SMOOTH_METHODS):
        assert f"`{choice}`" in page, choice
    for number in ("1.70", "0.516", "1.95", "0.135"):
        assert number in page
    assert (math.exp((4 / 6 + 2 / 5) / 2), math.exp(1 - 1 / 3)) == pytest.approx(
        (1.70, 1.95), abs=5e-3
    )
    assert math.sqrt(4 / 6 * 2 / 5) == pytest.approx(0.516, abs=5e-4)


def test_the_examples_of_the_page_of_calls_run() -> None:
    results = doctest.testfile(str(PROJECT / "docs" / "call.md"), module_relative=False)
    assert results.attempted >= 20
    assert results.failed == 0
