"""Tab-separated text: the fields of each line, compared with str.split.

A carriage return at the end of a line is a part of the line's end.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from reading_records import numbered_columns, read_lines, rows_of

from beam_bleu.transforms.pairing.records.choosing import has_header
from beam_bleu.transforms.pairing.records.wanted import ColumnPath, Condition, Wanted

FIELDS = st.one_of(
    st.sampled_from(["\r", "a\r", "\r\r", "x" * 63 + "\r"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n"), max_size=6),
    st.just("x" * 64),
    st.just('"'),
)
LINES = st.lists(FIELDS, min_size=1, max_size=5).map("\t".join)


@settings(max_examples=80, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=12))
def test_fields_are_those_of_split(lines: list[str]) -> None:
    read, bad = read_lines("tsv", [line.encode() for line in lines], numbered_columns(3, 1, 3))
    split = [line.removesuffix("\r").split("\t") for line in lines]
    assert rows_of(read) == [
        {"3": fields[2], "1": fields[0]} if len(fields) == 3 else None for fields in split
    ]
    assert [record.what for record in bad] == [
        f"has {len(fields)} field{'s' if len(fields) > 1 else ''}, and the first line has 3"
        for fields in split
        if len(fields) != 3
    ]


def test_names_need_a_header_and_numbers_do_not() -> None:
    for wanted, header in (
        (Wanted(), True),
        (Wanted(("1",), ("2",)), False),
        (Wanted(("a=1", "3"), ("2",)), False),
        (Wanted(("hyp",), ("2",)), True),
        (Wanted(("1",), ("2",), labels=("domain",)), True),
        (Wanted(("1",), ("2",), labels=("3",)), False),
        (Wanted(("1",), ("2",), where=(Condition(ColumnPath("a", ("a",)), "x"),)), True),
    ):
        assert has_header(wanted) == header
