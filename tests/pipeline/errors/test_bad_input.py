"""Input that is missing, unreadable, truncated or bad: exit code 3 and no score."""

from __future__ import annotations

import pytest
from command_line import COMPRESS, EXAMPLE, REFERENCES, SYSTEMS, called, streams, typed, write_lines

ATLAS, BIRCH, COBALT = SYSTEMS.values()


def truncated(suffix: str) -> bytes:
    return COMPRESS[suffix](ATLAS.read_bytes())[:-40]


def with_bad_line(number: int, line: bytes) -> bytes:
    lines = ATLAS.read_bytes().split(b"\n")
    lines[number - 1] = line
    return b"\n".join(lines)


BAD_INPUTS = [
    # the file's name, its bytes (None: no file), what the message says
    ("bad.txt", None, "candidates bad: there is no file {path}"),
    ("bad.txt", b"one\ntwo\n", "candidates bad have 2 lines, candidates atlas have 72: {path}, "),
    (
        "bad.txt",
        with_bad_line(33, b"na\xefve"),
        "candidates bad: line 33: invalid UTF-8 at byte 3 of the line (0xef): {path}\n",
    ),
    ("bad.txt.gz", truncated(".gz"), "candidates bad: truncated: "),
]


@pytest.mark.parametrize(
    ("name", "data", "cause"), BAD_INPUTS, ids=["missing", "short", "UTF-8", "truncated"]
)
def test_bad_input_gives_no_score(tmp_path, name, data, cause):
    path, output = tmp_path / name, tmp_path / "out"
    if data is not None:
        path.write_bytes(data)
    run = called(*streams([ATLAS, path], REFERENCES, "--output", output))
    run.assert_failed(3, cause.format(path=path))
    assert not (output / "scores.json").exists()


def test_what_is_missing_is_told_before_an_engine_gets_the_job(tmp_path):
    # Nothing answers at this address, so the job is not submitted.
    engine = ("--runner", "PortableRunner", "--job_endpoint", "127.0.0.1:1")
    flags = (*engine, "--output", tmp_path / "out")
    missing = tmp_path / "missing.txt"
    called(*streams([ATLAS, missing], REFERENCES, *flags)).assert_failed(
        3, f"candidates missing: there is no file {missing}\n"
    )
    elsewhere = called(*streams([ATLAS, "/no/such/folder/x.txt"], REFERENCES, *flags))
    elsewhere.assert_failed(1, "--job_endpoint")


def test_an_empty_corpus(tmp_path):
    empty = write_lines(tmp_path / "empty.txt", [])
    called(*streams([empty], [empty])).assert_failed(3, "the corpus is empty", str(empty))


def test_verbose_shows_the_traceback_and_then_cause_and_remedy():
    run = typed(*EXAMPLE, "--candidates", "missing.txt", "--verbose")
    assert (run.code, run.out) == (3, b"")
    assert "Traceback (most recent call last)" in run.err
    cause, remedy = run.err.splitlines()[-2:]
    assert cause.startswith("beam-bleu: candidates missing: there is no file missing.txt")
    assert remedy.startswith("  check the path")
