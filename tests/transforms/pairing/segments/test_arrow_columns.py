"""Segments in the columns of Arrow tables: the same batches as those of single segments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu import ArrowColumns
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments import arrow_columns
from beam_bleu.transforms.pairing.segments.arrow_columns import table_batches
from beam_bleu.transforms.pairing.text_lists import reference_counts

ONE = ArrowColumns(candidate="c", references=["a", "b"])
KEYED = ArrowColumns(candidate="c", references=["a"], key="k")
LISTS = ArrowColumns(candidate="c", references="r")

Row = tuple[Any, str, list[str]]


def rows_of(batch: SegmentBatch) -> list[Row]:
    """(key, candidate, the references that are there) of each row."""
    (candidates,) = (column.to_pylist() for column in batch.candidates)
    references = list(zip(*(column.to_pylist() for column in batch.references), strict=True))
    return [
        (group.key, candidates[row], [each for each in references[row] if each is not None])
        for group in batch.groups
        for row in range(*group.rows.indices(len(batch)))
    ]


def read(table: Any, columns: ArrowColumns) -> list[Row]:
    return [row for batch in table_batches(table, columns) for row in rows_of(batch)]


def table(**columns: Any) -> pa.Table:
    return pa.table(columns)


TEXTS = ["one", "", "drei ß"]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_each_type_of_strings_is_read(kind: pa.DataType) -> None:
    made = table(
        c=pa.array(TEXTS).cast(kind),
        a=pa.array(TEXTS, pa.string()).cast(kind),
        b=pa.array(["x", None, ""], pa.string()).cast(kind),
    )
    expected = [
        (None, "one", ["one", "x"]),
        (None, "", [""]),
        (None, "drei ß", ["drei ß", ""]),
    ]
    assert read(made, ONE) == expected
    assert read(made.slice(1), ONE) == expected[1:]
    assert read(made.to_batches()[0], ONE) == expected
    assert read(pa.concat_tables([made.slice(0, 1), made.slice(1)]), ONE) == expected


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string(), 2)],
    ids=str,
)
def test_a_column_of_lists_has_several_references(kind: pa.DataType) -> None:
    lists = [["x", "y"], [None, "z"], ["", "w"]]
    expected = [
        (None, "one", ["x", "y"]),
        (None, "", ["z"]),
        (None, "drei ß", ["", "w"]),
    ]
    made = table(c=TEXTS, r=pa.array(lists, kind))
    assert read(made, LISTS) == expected
    assert read(made.slice(1), LISTS) == expected[1:]
    assert read(pa.concat_tables([made.slice(0, 1), made.slice(1)]), LISTS) == expected


@pytest.mark.parametrize(
    "keys",
    [
        ["x", "y", "x", None, "x"],
        pa.array(["x", "y", "x", None, "x"]).dictionary_encode(),
        [3, 1, 3, None, 3],
        [True, False, True, None, True],
        [None] * 5,
    ],
    ids=["strings", "a dictionary", "integers", "booleans", "nulls"],
)
def test_all_rows_of_a_key_are_one_group(keys: Any) -> None:
    texts = list("abcde")
    made = table(c=texts, a=texts, k=keys)
    (batch,) = table_batches(made, KEYED)
    assert len(batch.groups) == len({*made["k"].to_pylist()})
    expected = [(key, text, [text]) for key, text in zip(made["k"].to_pylist(), texts, strict=True)]
    found = rows_of(batch)
    assert sorted(found, key=lambda row: row[1]) == expected
    assert all(type(row[0]) in (str, int, bool, type(None)) for row in found)


def test_a_long_table_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beam_bleu.transforms.pairing.batch._USUAL_ROWS", 4096)
    texts = [str(number) for number in range(20_000)]
    made = table(c=texts, a=texts, k=[number % 3 for number in range(20_000)])
    batches = list(table_batches(made, KEYED))
    assert max(map(len, batches)) <= 4096
    assert max(len(batch.groups) for batch in batches) == 3
    found = sorted((row for batch in batches for row in rows_of(batch)), key=lambda r: int(r[1]))
    assert found == [(number % 3, str(number), [str(number)]) for number in range(20_000)]


def test_a_row_with_many_references_does_not_make_many_columns_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrow_columns, "_MOST_TEXTS", 40)
    lists = [["x"]] * 20 + [[str(number) for number in range(30)]] + [["y"]] * 20
    texts = [str(number) for number in range(41)]
    made = table(c=texts, r=lists, k=[number % 2 for number in range(41)])
    columns = ArrowColumns(candidate="c", references="r", key="k")
    batches = list(table_batches(made, columns))
    assert max(len(each) * (1 + len(each.references)) for each in batches) <= 40
    found = sorted((row for batch in batches for row in rows_of(batch)), key=lambda r: int(r[1]))
    assert found == [
        (number % 2, text, references)
        for number, (text, references) in enumerate(zip(texts, lists, strict=True))
    ]


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string(), 2)],
    ids=str,
)
def test_each_list_of_a_long_table_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    monkeypatch.setattr("beam_bleu.transforms.pairing.batch._USUAL_ROWS", 64)
    looked_at = 0

    def counting(column: pa.Array) -> Any:
        nonlocal looked_at
        looked_at += len(column.values)
        return reference_counts(column)

    monkeypatch.setattr(arrow_columns, "reference_counts", counting)
    lists = [None if number % 7 == 1 else [str(number), None] for number in range(1_001)]
    texts = [str(number) for number in range(1_001)]
    rows = [row for row, each in enumerate(lists) if each and row]
    made = (
        table(c=texts, r=pa.array(lists, kind))
        .slice(1)
        .filter(pa.array([each is not None for each in lists[1:]]))
    )
    # With texts before and behind those of the table.
    made = pa.concat_tables([made, made]).combine_chunks().slice(5, len(rows))
    assert read(made, LISTS) == [(None, str(row), [str(row)]) for row in [*rows[5:], *rows[:5]]]
    assert looked_at == 2 * len(rows)


@pytest.mark.parametrize("name", ["c", "k"])
def test_numbers_that_a_dictionary_does_not_have_are_refused(name: str) -> None:
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["x"]), safe=False)
    made = table(**{"c": ["x", "y"], "a": ["x", "y"], "k": [1, 2], name: wrong})
    with pytest.raises(InputError, match=f"the column '{name}' is not valid"):
        read(made, KEYED)


def test_lists_without_an_order_are_refused() -> None:
    values = pa.array(["x", "y", "z"])
    bad = pa.Array.from_buffers(
        pa.list_(pa.string()),
        3,
        [None, pa.py_buffer(np.array([0, 2, 1, 3], np.int32))],
        children=[values],
    )
    with pytest.raises(InputError, match="the column 'r' is not valid: its lists overlap"):
        read(table(c=TEXTS, r=bad), LISTS)


def not_utf8(count: int) -> pa.Array:
    return pa.array([b"fine", b"\xff"][:count] + [b""] * (count - 2)).view(pa.string())


@pytest.mark.parametrize(
    ("made", "columns", "cause"),
    [
        (
            {"c": "x"},
            ONE,
            "an element must be a pyarrow Table or RecordBatch, got one of",
        ),
        (table(c=["x"], a=["x"]), ONE, "a table has no column 'b'; it has c, a"),
        (
            pa.Table.from_arrays([pa.array(["x"])] * 3, ["c", "a", "a"]),
            ArrowColumns("c", ["a"]),
            "a table has more than one column 'a'",
        ),
        (table(c=[1], a=["x"], b=["x"]), ONE, "the column 'c' must have strings, but its type is"),
        (table(c=["x"], r=[[1]]), LISTS, "the column 'r' must have lists of strings, but its type"),
        (table(c=["x"], a=["x"], k=[1.5]), KEYED, "the column 'k' has values of the type double"),
        (
            table(c=["x", None], a=["x", "y"], b=["x", "y"]),
            ONE,
            "row 2 of a table has no candidate in the column 'c'",
        ),
        (
            table(c=["x", "y"], a=["x", None], b=[None, None]),
            ONE,
            "row 2 of a table has no reference in the columns a, b",
        ),
        (
            table(c=["x", "y"], r=pa.array([None, ["x"]], pa.list_(pa.string()))),
            LISTS,
            "row 1 of a table has no reference in the column r",
        ),
        (table(c=not_utf8(2), a=["", ""], b=["", ""]), ONE, "the column 'c' is not valid"),
    ],
)
def test_a_wrong_table_is_refused_and_its_column_is_named(
    made: Any, columns: ArrowColumns, cause: str
) -> None:
    with pytest.raises(InputError, match="^" + re.escape(cause)):
        list(table_batches(made, columns))


def test_rows_are_numbered_in_the_whole_table() -> None:
    texts: list[str | None] = ["x"] * 10_000
    texts[7_000] = None
    with pytest.raises(InputError, match=r"^row 7001 of a table has no candidate"):
        list(table_batches(table(c=texts, a=["x"] * 10_000, b=["x"] * 10_000), ONE))


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ({"candidate": 1, "references": ["a"]}, "candidate must be the name of a column"),
        ({"candidate": "c", "references": []}, "references must be the names of one column"),
        ({"candidate": "c", "references": [1]}, "references must be the names of one column"),
        ({"candidate": "c", "references": "r", "key": 1}, "key must be the name of a column"),
    ],
    ids=str,
)
def test_wrong_names_are_refused_at_construction(given: Any, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        ArrowColumns(**given)
