"""Tab-separated text: the fields of each line, compared with str.split.

A carriage return at the end of a line is a part of the line's end.
"""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_records import chosen_columns, raw_lines, rows_of

from beam_bleu.transforms.pairing.bad_records import BadRecord
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath, Condition, Wanted
from beam_bleu.transforms.pairing.records.text.tsv import has_header, numbered, read_tab_separated

FIELDS = st.one_of(
    st.sampled_from(["\r", "a\r", "\r\r", "x" * 63 + "\r"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n"), max_size=6),
    st.just("x" * 64),
    st.just('"'),
)
LINES = st.lists(FIELDS, min_size=1, max_size=5).map("\t".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=12))
def test_fields_are_those_of_split(lines: list[str]) -> None:
    read = read_tab_separated(
        raw_lines([line.encode() for line in lines]), chosen_columns(["3"], ["1"]), numbered(3)
    )
    split = [line.removesuffix("\r").split("\t") for line in lines]
    assert rows_of(read) == [
        {"3": fields[2], "1": fields[0]} if len(fields) == 3 else None for fields in split
    ]
    assert [bad.what for bad in read.bad] == [
        f"has {len(fields)} field{'s' if len(fields) > 1 else ''}, and the first line has 3"
        for fields in split
        if len(fields) != 3
    ]


def test_lines_that_are_known_to_be_bad_are_not_judged_again() -> None:
    lines = raw_lines([b"a\tb", b"c", b"d"], first=5)
    known = BadRecord(6, "input", "records", "line 7", "line-too-long", "has more", "raise it")
    read = read_tab_separated(
        dataclasses.replace(lines, bad=(known,)), chosen_columns(["1"], ["2"]), numbered(2)
    )
    assert [(bad.number, bad.reason) for bad in read.bad] == [
        (6, "line-too-long"),
        (7, "wrong-number-of-fields"),
    ]
    assert rows_of(read) == [{"1": "a", "2": "b"}, None, None]


@pytest.mark.parametrize(
    ("wanted", "header"),
    [
        (Wanted(), True),
        (Wanted(("1",), ("2",)), False),
        (Wanted(("a=1", "3"), ("2",)), False),
        (Wanted(("hyp",), ("2",)), True),
        (Wanted(("1",), ("2",), labels=("domain",)), True),
        (Wanted(("1",), ("2",), labels=("3",)), False),
        (Wanted(("1",), ("2",), where=(Condition(ColumnPath("a", ("a",)), "x"),)), True),
    ],
)
def test_names_need_a_header_and_numbers_do_not(wanted: Wanted, header: bool) -> None:
    assert has_header(wanted) == header
