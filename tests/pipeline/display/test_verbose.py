"""What --verbose tells of a run, and which bytes count as done."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import re
from pathlib import Path

import pytest
from command_line import EXAMPLE, Run, called, streams, write_lines

from beam_bleu.pipeline.errors.reporting import reported
from beam_bleu.transforms.native.compiling import FUNCTIONS
from beam_bleu.transforms.native.machine_code import cache_folder
from beam_bleu.transforms.progress import COMPILING, PROGRESS
from beam_bleu.transforms.version import VERSION

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d beam-bleu: "


def told(run: Run) -> list[str]:
    """The log lines of a run, without their times, and without the line of the first run of all."""
    lines = [re.sub(TIME, "", line) for line in run.err.splitlines() if re.match(TIME, line)]
    return [line for line in lines if line != COMPILING]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two streams of two files; the candidates' first file is compressed."""
    lines = [f"line {number} of the corpus is here" for number in range(5000)]
    write_lines(tmp_path / "hyp-0.txt.gz", lines[:2000])
    write_lines(tmp_path / "hyp-1.txt", lines[2000:])
    write_lines(tmp_path / "ref-0.txt", [f"a {line}" for line in lines[:2000]])
    write_lines(tmp_path / "ref-1.txt", [f"a {line}" for line in lines[2000:]])
    return tmp_path


def scored(corpus: Path, *flags: str) -> Run:
    return called(*streams([f"h={corpus}/hyp-*"], [corpus / "ref-*"], *flags))


def size(*paths: Path) -> int:
    return sum(path.stat().st_size for path in paths)


def test_verbose_tells_what_the_job_does(corpus):
    references = [corpus / "ref-0.txt", corpus / "ref-1.txt"]
    candidates = [corpus / "hyp-0.txt.gz", corpus / "hyp-1.txt"]
    cut = [*references, candidates[1]]  # a compressed file is one range
    ranges = 1 + sum(-(-size(path) // 8192) for path in cut)
    run = scored(corpus, "-v", "--range_bytes", "8192", "--threads", "3")
    lines = told(run)
    assert lines[:6] == [
        f"beam-bleu {VERSION}, Apache Beam {importlib.metadata.version('apache-beam')}, "
        f"Python {platform.python_version()}",
        "runner: FnApiRunner, threads: 3",
        f"candidates h: 2 files, {size(*candidates):,} bytes: {candidates[0]} ... {candidates[1]}",
        f"references: 2 files, {size(*references):,} bytes: {references[0]} ... {references[1]}",
        f"ranges: {ranges}, of at most {max(size(candidates[0]), 8192):,} bytes",
        # The candidates lead, because they have a compressed file: a unit for each of the files.
        "segments: 5,000, portions: 2",
    ]
    assert lines[6] == (
        f"compiled functions: {FUNCTIONS['loaded']} loaded, {FUNCTIONS['compiled']} compiled; "
        f"cache folder: {cache_folder()}"
    )
    assert re.fullmatch(r"seconds: .*scoring \d+\.\d.*; in all \d+\.\d", lines[7])
    assert len(lines) == 8
    assert run.out == scored(corpus).out


def test_twice_verbose_shows_what_libraries_do_without_the_noise():
    once, twice = called(*EXAMPLE, "--verbose"), called(*EXAMPLE, "-vv")
    assert "apache_beam" not in once.err
    assert "INFO:apache_beam" in twice.err
    assert "string literal type hint" not in twice.err
    assert len(told(twice)) == len(told(once))
    assert (once.out, once.code) == (twice.out, 0)


def test_levels(capfd):
    def work() -> None:
        logging.getLogger("engine").info("a detail of the engine")
        logging.getLogger("engine").warning("a warning of the engine")
        logging.getLogger("beam_bleu").info("a detail")

    shown = {}
    for verbose in range(4):
        assert reported(work, verbose) == 0
        text = re.sub(TIME, "", capfd.readouterr().err)
        shown[verbose] = text.splitlines()
    assert shown[0] == []
    assert shown[1] == ["WARNING:engine:a warning of the engine", "a detail"]
    assert shown[2] == shown[3] == ["INFO:engine:a detail of the engine", *shown[1]]


# Which bytes count as done


@pytest.fixture
def ends(monkeypatch) -> dict[str, tuple[int, int | None]]:
    """The bytes done and planned at the end of each phase."""
    found: dict[str, tuple[int, int | None]] = {}
    begin = PROGRESS.begin

    def noted(phase, planned=None) -> None:
        found[PROGRESS.state.phase] = (PROGRESS._done, PROGRESS.state.planned)
        begin(phase, planned)

    monkeypatch.setattr(PROGRESS, "begin", noted)
    return found


@pytest.mark.parametrize("flags", [["--range_bytes", "4096"], ["--threads", "1"]])
def test_each_byte_is_counted_once_in_a_phase(flags, corpus, ends):
    assert scored(corpus, *flags).code == 0
    everything = size(*corpus.iterdir())
    if "--range_bytes" in flags:
        assert ends["counting lines"] == (everything, everything)
    else:  # some files are compressed, so all are read once
        assert "counting lines" not in ends
    assert ends["scoring"] == (everything, everything)
    assert ends["planning"] == (0, None)
