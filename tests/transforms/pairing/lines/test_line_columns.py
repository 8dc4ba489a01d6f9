"""The columns of fields of lines are those of sacreBLEU: `line.rstrip().split("\\t")`."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.lines.line_columns import split_fields

WHITE_SPACE = [chr(code) for code in range(0x110000) if chr(code).isspace() and chr(code) != "\n"]
LOOKS_WHITE = ["\u200b", "\u180e", "\ufeff", "\0", "\u2800"]  # not for Python
PIECES = ["\t", "\t", "a", "é", "日本", "😀", *WHITE_SPACE, *LOOKS_WHITE]

LINES = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=6)


def column(lines: list[str]) -> pa.LargeStringArray:
    return padded(pa.array(lines, pa.large_string()))


def assert_is_split_as_by_python(lines: list[str], of: pa.LargeStringArray, fields: int) -> None:
    expected = [line.rstrip().split("\t") for line in lines]
    wrong = [row for row, each in enumerate(expected) if len(each) != fields]
    found = split_fields(of, fields)
    assert found.wrong.tolist() == wrong
    assert found.counts.tolist() == [len(expected[row]) for row in wrong]
    rows = [*zip(*(each.to_pylist() for each in found.columns), strict=True)]
    assert len(rows) == len(lines)
    for number, (line, row, texts) in enumerate(zip(lines, rows, expected, strict=True)):
        if number in wrong:
            assert set(row) == {""}
            continue
        assert [*row[:-1], row[-1].rstrip()] == texts
        assert "\t".join(row) == line  # nothing is lost, also no line end


@given(LINES, st.integers(2, 4))
@example(["a b c\tx y\t", "d e f\tz"], 2)
@example(["a\tb\t\u3000\t \t", "\tb\t\r"], 2)
@example(["a\t\t", "\t\tb"], 3)
def test_any_lines_are_split_as_by_python(lines, fields):
    assert_is_split_as_by_python(lines, column(lines), fields)
