"""The command counts lines while it starts: which texts, and that the result is the same."""

from __future__ import annotations

import gzip
import pathlib
import threading

import pytest

from beam_bleu.pipeline.command_line import counting_ahead
from beam_bleu.pipeline.command_line.counting_ahead import named_texts
from beam_bleu.pipeline.main import main
from beam_bleu.transforms.pairing.lines import counted_ahead, line_counting
from beam_bleu.transforms.pairing.lines.counted_ahead import CountedAhead


@pytest.mark.parametrize(
    ("words", "patterns"),
    [
        ("r -i a b=c", ["r", "a", "c"]),
        ("r s -i a -q", ["r", "s", "a"]),
        ("--references=r --candidates=a=x*", ["r", "x*"]),
        ("--references r --candidates a=x --candidates y", ["r", "x", "y"]),
        ("--references file:///r -i a", ["/r", "a"]),
        ("-q r -i a", ["a"]),
        ("--output o --references r -i a --slices s", ["r", "a"]),
        ("r -i a -- b", ["r", "a"]),
        ("r -i a --runner FlinkRunner", []),
        ("r -i a --threads=1", []),
        ("r -i a --range-bytes 100", []),
        ("r -i a --join_on id", []),
        ("--input x.jsonl", []),
        ("r -i a --direct-running-mode=multi_processing", []),
        ("r -i a --help", []),
        ("", []),
    ],
)
def test_texts_are_found_in_the_words_of_a_command_line(words, patterns):
    assert named_texts(words.split()) == patterns


@pytest.fixture
def begun(monkeypatch):
    """What is counted ahead of small files, too, and to the end before the job begins."""
    monkeypatch.setattr(counting_ahead, "_LEAST_BYTES", 1)
    monkeypatch.setattr(counting_ahead, "available_threads", lambda: 2)
    begin = CountedAhead.begin
    listed: list[str] = []

    def begin_and_end(self, files):
        listed.extend(pathlib.Path(each.path).name for each in files)
        begin(self, files)
        for thread in threading.enumerate():
            if thread.name == counted_ahead.THREAD:
                thread.join()

    monkeypatch.setattr(CountedAhead, "begin", begin_and_end)
    return listed


@pytest.fixture
def corpus(tmp_path):
    for name in ("r", "a"):
        (tmp_path / name).write_text(
            "".join(f"the {name} of line {i} is here\n" for i in range(99))
        )
    return tmp_path


def command(corpus: pathlib.Path, *more: str) -> list[str]:
    return [f"--references={corpus / 'r'}", f"--candidates=x={corpus / 'a'}", *more]


def test_the_result_is_the_same_and_lines_are_counted_once(
    corpus, begun, monkeypatch, capsysbinary
):
    assert main(command(corpus, "--range_bytes", "1000")) == 0
    usual = capsysbinary.readouterr()
    assert begun == []

    def count(*_):
        raise AssertionError("the lines were counted ahead")

    monkeypatch.setattr(line_counting, "count_parts", count)
    assert main(command(corpus)) == 0
    assert begun == ["r", "a"]
    assert capsysbinary.readouterr() == usual


@pytest.mark.parametrize("text", ["one line\n", "", "\0\n" * 99])
def test_a_file_that_changed_after_it_was_counted_is_counted_again(
    corpus, begun, monkeypatch, capsysbinary, text
):
    begin = CountedAhead.begin

    def begin_and_change(self, files):
        begin(self, files)
        (corpus / "a").write_text(text)

    monkeypatch.setattr(CountedAhead, "begin", begin_and_change)
    code = main(command(corpus))
    assert begun == ["r", "a"]
    ahead = capsysbinary.readouterr()
    monkeypatch.setattr(counting_ahead, "available_threads", lambda: 1)
    begun.clear()
    assert main(command(corpus)) == code != 0
    assert capsysbinary.readouterr() == ahead
    assert begun == []


@pytest.mark.parametrize(
    "text", [b"too few\n", b"\xff\n" * 99, b"\x1f\x8b\x08\n" * 99, b"x" * 99 + b"\n", b""]
)
def test_errors_are_the_same(corpus, begun, monkeypatch, capsysbinary, text):
    (corpus / "a").write_bytes(text)
    arguments = command(corpus, "--max_line_bytes=50")
    code = main(arguments)
    assert begun == ["r", "a"]
    ahead = capsysbinary.readouterr()
    monkeypatch.setattr(counting_ahead, "available_threads", lambda: 1)
    assert main(arguments) == code != 0
    assert capsysbinary.readouterr() == ahead


def test_files_that_are_not_there_are_an_error_of_the_job(corpus, begun, capsysbinary):
    (corpus / "a").unlink()
    assert main(command(corpus)) == 3
    assert b"candidates x: there is no file" in capsysbinary.readouterr().err


def test_compressed_text_is_not_counted_ahead(corpus, begun, capsysbinary):
    text = (corpus / "a").read_bytes()
    (corpus / "a.gz").write_bytes(gzip.compress(text))
    assert main([f"{corpus / 'r'}", "-i", f"{corpus / 'a.gz'}"]) == 0
    assert begun == []


def test_small_files_are_not_counted_ahead(corpus, begun, monkeypatch, capsysbinary):
    monkeypatch.setattr(counting_ahead, "_LEAST_BYTES", 1 << 26)
    assert main(command(corpus)) == 0
    assert begun == []
