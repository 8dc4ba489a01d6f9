"""JSON lines and tab-separated text through the command: same scores, and clear errors."""

from __future__ import annotations

import itertools
import json
import pathlib
import random
from typing import Any

import pytest
from command_line import REFERENCES, SYSTEMS, called, read_lines, streams
from compressing import COMPRESS

from beam_bleu.transforms.pairing.lines.line_counting import SMALLEST_RANGE

PAIRS = list(zip(*map(read_lines, (SYSTEMS["atlas"], REFERENCES[0])), strict=True))


def jsonl() -> str:
    records = [
        {"id": i, "hyp": hyp, "more": [{}], "ref": ref} for i, (hyp, ref) in enumerate(PAIRS)
    ]
    lines = (json.dumps(each, ensure_ascii=bool(each["id"] % 2)) for each in records)
    return "".join(f"{line}\n" for line in lines)


def tsv(header: str = "hyp\tref\n") -> str:
    return header + "".join(f"{hyp}\t{ref}\n" for hyp, ref in PAIRS)


def write(path: pathlib.Path, text: str | bytes) -> pathlib.Path:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](data))
    return path


@pytest.fixture(scope="module")
def line_parallel():
    """The result of the same texts as line-parallel text."""
    flags = ["--format", "json"]
    return called(*streams([f"hyp={SYSTEMS['atlas']}"], REFERENCES[:1], *flags)).document


GOOD = '{"hyp": "a b", "ref": "a b"}\n'
LONG = '{"hyp": "' + "a" * 200 + '", "ref": "a"}\n'


@pytest.mark.parametrize(
    ("name", "text", "flags", "said"),
    [
        ("r.jsonl", GOOD + "\n" + GOOD, [], ["input: line 2: the line is empty", "r.jsonl"]),
        ("r.jsonl", GOOD + '{"hyp": ', [], ["line 2: not JSON: ", "at character 9"]),
        ("r.jsonl", GOOD * 9 + "x\n" * 5, [], ["line 10: ", "line 12: ", "5 of 14 in this part"]),
        ("r.jsonl", GOOD.encode() + b'{"hyp": "\xff"}', [], ["line 2: invalid UTF-8 at byte 10"]),
        ("r.jsonl", GOOD + LONG, ["--max_line_bytes", "99"], ["line 2 has more than 99 bytes"]),
        ("r.jsonl", '[{"hyp": 1}]', [], ["none of the first lines is a record", "jq -c"]),
        ("r.jsonl", "", [], ["the corpus is empty"]),
        ("r.jsonl", GOOD.encode("utf-16"), [], ["in UTF-16", "-f UTF-16 -t UTF-8 "]),
        ("r.jsonl", GOOD + "\n\n", [], ["input: line 2: the line is empty"]),
        ("r.tsv", "hyp\tref\na\tb\nhyp\tref\n", [], ["line 3 has the names of columns"]),
        ("r.tsv", b"hyp\tr\xff\na\tb\n", [], ["line 1: invalid UTF-8 at byte 6"]),
    ],
)
def test_errors_say_what_is_wrong_and_where(tmp_path, name, text, flags, said):
    called("--input", write(tmp_path / name, text), *flags).assert_failed(3, *said)


@pytest.mark.parametrize(("name", "end"), [("r.jsonl", "\n"), ("r.jsonl.gz", "\r\n")])
def test_an_empty_last_line_is_no_record(tmp_path, line_parallel, name, end):
    path = write(tmp_path / name, jsonl() + end)
    flags = [f"--range_bytes={SMALLEST_RANGE}", f"--expect_segments={len(PAIRS)}"]
    run = called("--input", path, *flags, "--format=json")
    assert run.document["scores"] == line_parallel["scores"]


BAD = {
    "jsonl": [b"", b"[]", b"{", b'{"hyp": 1}', b'{"hyp": "\xff"}', b'{"hyp": "%s"}' % (b"x" * 999)],
    "tsv": [b"", b"a", b"a\tb\tc", b"\xff\tb", b"x" * 999, b"hyp\tref"],
}


@pytest.mark.parametrize("suffix", BAD)
def test_rejected_records_are_left_out(tmp_path, line_parallel, suffix):
    draw = random.Random(3)
    lines = (jsonl() if suffix == "jsonl" else tsv()).encode().splitlines()
    for each in BAD[suffix]:
        lines.insert(draw.randrange(2, len(lines)), each)
    name = f"r.{suffix.replace('jsonl', 'ndjson')}"
    path, out = write(tmp_path / name, b"\n".join(lines)), tmp_path / "out"
    flags = ["--on_bad_record=reject", "--max_line_bytes=900", "--max_rejected=9"]
    flags += [f"--range_bytes={SMALLEST_RANGE}", "--format=json"]
    run = called("--input", path, "--output", out, *flags)
    assert run.document["scores"] == line_parallel["scores"]
    assert run.document["counters"]["rejected"] == len(BAD[suffix])
    written = "".join(file.read_text() for file in out.glob("rejected-*.jsonl"))
    assert len(written.splitlines()) == len(BAD[suffix])


def test_some_files_may_have_no_line_that_can_be_read(tmp_path):
    for name, text in {"a": "", "b": GOOD * 4, "c": LONG}.items():
        write(tmp_path / f"{name}.jsonl", text)
    flags = ["--on_bad_record=reject", "--max_rejected=1", "--max_line_bytes=99", "--format=json"]
    run = called(f"--input={tmp_path}/*.jsonl", f"--output={tmp_path / 'out'}", *flags)
    assert (run.document["segments"], run.document["counters"]["rejected"]) == (4, 1)


def test_a_first_line_that_may_be_a_header_is_an_error(tmp_path):
    path = write(tmp_path / "r.tsv", tsv(header="MT\treference\r\n"))
    flags = ["--input", path, "--candidate_columns=1", "--reference_columns=2", "--format=json"]
    run = called(*flags)
    run.assert_failed(3, "the first line looks like a header", "--no_header", str(path))
    named = called(*flags, "--header").document
    assert named["counters"]["segments"] == len(PAIRS)
    numbered = called(*flags, "--no_header").document
    assert numbered["counters"]["segments"] == len(PAIRS) + 1


def test_files_of_json_lines_with_other_references_are_an_error(tmp_path):
    records = [{"hyp": "a b c d", "ref0": "a b c d", "ref1": "a"}, {"hyp": "a", "ref0": "a"}]
    paths = [
        write(tmp_path / f"{number}.jsonl", json.dumps(record))
        for number, record in enumerate(records)
    ]
    run = called("--input", tmp_path / "*.jsonl")
    run.assert_failed(3, "two files do not have the same columns", "ref1", *map(str, paths))


@pytest.mark.parametrize(
    ("column", "right", "odd", "place"),
    [
        ("hyp", {"hyp": "a"}, {"hyp": ["the cat"]}, 3),
        ("t.hyp", {"t": {"hyp": "a"}}, {"t": "the cat"}, 0),
    ],
)
def test_one_odd_record_is_a_bad_record(tmp_path, column, right, odd, place):
    records = [right | {"ref": "a"}] * 7
    records.insert(place, odd | {"ref": "a"})
    path = write(tmp_path / "r.jsonl", "\n".join(map(json.dumps, records)))
    flags = ["--input", path, "--candidate_columns", column]
    called(*flags).assert_failed(3, f"line {place + 1}: ", "must be ", str(path))


def test_a_file_that_begins_with_lines_that_are_too_long(tmp_path):
    first = b"\n".join([b"x" * 1_500_000] * 3)
    path = write(tmp_path / "r.jsonl", first + b"\n" + jsonl().encode())
    flags = ["--on_bad_record", "reject", "--max_rejected", "5", "--output", tmp_path / "out"]
    run = called("--input", path, "--max_line_bytes", "1000000", *flags, "--format", "json")
    assert run.document["counters"]["rejected"] == 3


# Windows line ends change nothing in records and in files of labels, in any line of a file.

ENDS = [(["\n"], ""), (["\r\n"], "\r"), (["\r\n", "\n", "\n"], "")]
"""The ends of lines, and that of the last line if it is another one."""


def results_with_all_ends(path: pathlib.Path, lines: list[str], flags: list[Any]) -> None:
    found = []
    for ends, last in ENDS:
        text = "".join(map("".join, zip(lines, itertools.cycle(ends), strict=False)))
        write(path, text.rstrip("\r\n") + (last or ends[0]))
        found.append(called(*flags, "--format", "json").document)
    assert found[0] == found[1] == found[2]


def test_line_ends_of_records(tmp_path):
    """Ranges of 16 bytes begin at every byte of lines of 17 bytes, and between CR and LF."""
    lines = ["hyp\tref\tlang", *(f"w{i:02d} a\tw{i:02d} a\t{i % 3:02d}" for i in range(36))]
    flags = ["--where", "lang!=02", "--slice_by", "lang", "--range_bytes", str(SMALLEST_RANGE)]
    path = tmp_path / "r.tsv"
    results_with_all_ends(path, lines, ["--input", path, *flags])


def test_line_ends_of_files_of_labels(tmp_path):
    path = tmp_path / "labels"
    flags = streams([SYSTEMS["atlas"]], REFERENCES[:1], "--slice_by", "lang", "--labels")
    lines = [f"1\t{('de', 'en', 'fr')[i % 3]}" for i in range(len(PAIRS))]
    results_with_all_ends(path, lines, [*flags, f"number,lang={path}"])
