"""Windows line ends change nothing in records and in files of labels, in any line of a file."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLES, called, read_lines

from beam_bleu.transforms.pairing.lines.line_counting import SMALLEST_RANGE

REFERENCES = read_lines(EXAMPLES / "references" / "a.txt")[:24]
ATLAS, BIRCH = (
    read_lines(EXAMPLES / "systems" / f"{name}.txt")[:24] for name in ("atlas", "birch")
)
LANGUAGES = [("de", "en", "fr")[i % 3] for i in range(24)]
ENDS = {"unix": ["\n"], "windows": ["\r\n"], "mixed": ["\r\n", "\n", "\n"]}
FILES = [
    ("hyp", "tsv", "windows", None),
    ("lang", "tsv.gz", "windows", "\r"),
    ("id", "tsv.gz", "mixed", ""),
]
"""The last column, the suffix of a file, the ends of its lines, and the end of its last line."""


def write(path: Path, lines: list[str], ends: str, last: str | None = None) -> Path:
    text = "".join(map("".join, zip(lines, itertools.cycle(ENDS[ends]), strict=False)))
    if last is not None:
        text = text.rstrip("\r\n") + last
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows(last: str, candidates: list[str]) -> list[str]:
    columns = {
        "id": [f"s{i}" for i in range(24)],
        "lang": LANGUAGES,
        "ref": REFERENCES,
        "hyp": candidates,
    }
    names = [*(name for name in columns if name != last), last]
    return ["\t".join(names), *map("\t".join, zip(*(columns[name] for name in names), strict=True))]


def result(*arguments: Any) -> dict[str, Any]:
    run = called(*arguments, "--format", "json")
    assert run.code == 0, run.err
    return run.document


@pytest.mark.parametrize(("last", "suffix", "ends", "end"), FILES)
def test_paired_records(last: str, suffix: str, ends: str, end: str | None, tmp_path: Path) -> None:
    lines = rows(last, ATLAS)
    flags = ["--where", "lang!=de", "--slice_by", "lang", "--threads", "2"]
    expected = result("--input", write(tmp_path / "plain.tsv", lines, "unix"), *flags)
    assert expected["segments"] == 16
    path = write(tmp_path / f"all.{suffix}", lines, ends, end)
    assert result("--input", path, *flags) == expected


def test_ranges_that_begin_inside_a_line_end(tmp_path: Path) -> None:
    """Ranges of 16 bytes begin at every byte of lines of 17 bytes, and between CR and LF."""
    lines = ["hyp\tref\tlang", *(f"w{i:02d} a\tw{i:02d} a\t{i % 3:02d}" for i in range(36))]
    flags = ["--where", "lang!=02", "--slice_by", "lang", "--range_bytes", str(SMALLEST_RANGE)]
    found = [
        result("--input", write(tmp_path / f"{ends}.tsv", lines, ends), *flags) for ends in ENDS
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("names", "ends"), [("lang", "windows"), ("number,lang", "mixed")])
def test_files_of_labels(names: str, ends: str, tmp_path: Path) -> None:
    texts = write(tmp_path / "ref", REFERENCES, "unix"), write(tmp_path / "hyp", ATLAS, "unix")
    labels = LANGUAGES if names == "lang" else [f"1\t{each}" for each in LANGUAGES]
    flags = [texts[0], "-i", texts[1], "--slice_by", "lang", "--labels"]
    expected = result(*flags, f"{names}={write(tmp_path / 'unix', labels, 'unix')}")
    for end in (None, "\r"):
        path = write(tmp_path / "labels", labels, ends, end)
        assert result(*flags, f"{names}={path}") == expected


def test_the_text_of_plain_files_stays(tmp_path: Path) -> None:
    """As in sacreBLEU: with the tokenizer char, a carriage return would be a token."""
    reference = write(tmp_path / "ref", ["a b c d\r", "e f g h"], "unix")
    candidate = write(tmp_path / "hyp", ["a b c d", "e f g h"], "windows")
    assert result(reference, "-i", candidate)["counters"]["bytes"] == 7 * 4 + 1 + 2
