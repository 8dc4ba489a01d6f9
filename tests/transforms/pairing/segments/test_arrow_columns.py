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
from beam_bleu.transforms.pairing.segments.arrow_columns import table_batches

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


def test_each_type_is_read_in_each_form():
    strings = [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
    ]
    of_strings = {"c": TEXTS, "a": TEXTS, "b": ["x", None, ""]}
    lists = [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string(), 2)]
    of_lists = [["x", "y"], [None, "z"], ["", "w"]]
    for made, columns, references in (
        *(
            (
                pa.table({name: pa.array(of).cast(kind) for name, of in of_strings.items()}),
                ONE,
                [["one", "x"], [""], ["drei ß", ""]],
            )
            for kind in strings
        ),
        *(
            (table(c=TEXTS, r=pa.array(of_lists, kind)), LISTS, [["x", "y"], ["z"], ["", "w"]])
            for kind in lists
        ),
    ):
        expected = [(None, text, of) for text, of in zip(TEXTS, references, strict=True)]
        assert read(made, columns) == expected
        assert read(made.slice(1), columns) == expected[1:]
        assert read(made.to_batches()[0], columns) == expected
        assert read(pa.concat_tables([made.slice(0, 1), made.slice(1)]), columns) == expected


def test_all_rows_of_a_key_are_one_group():
    texts = list("abcde")
    for keys in (
        pa.array(["x", "y", "x", None, "x"]),
        pa.array(["x", "y", "x", None, "x"]).dictionary_encode(),
        pa.array([3, 1, 3, None, 3]),
        pa.array([True, False, True, None, True]),
        pa.nulls(5),
    ):
        (batch,) = table_batches(table(c=texts, a=texts, k=keys), KEYED)
        assert len(batch.groups) == len({*keys.to_pylist()})
        found = sorted(rows_of(batch), key=lambda row: row[1])
        assert found == [
            (key, text, [text]) for key, text in zip(keys.to_pylist(), texts, strict=True)
        ]
        assert all(type(row[0]) in (str, int, bool, type(None)) for row in found)


def test_a_long_table_is_cut(monkeypatch):
    monkeypatch.setattr("beam_bleu.transforms.pairing.batch._USUAL_ROWS", 4096)
    texts = [str(number) for number in range(20_000)]
    made = table(c=texts, a=texts, k=[number % 3 for number in range(20_000)])
    batches = list(table_batches(made, KEYED))
    assert max(map(len, batches)) <= 4096
    assert max(len(batch.groups) for batch in batches) == 3
    found = sorted((row for batch in batches for row in rows_of(batch)), key=lambda r: int(r[1]))
    assert found == [(number % 3, str(number), [str(number)]) for number in range(20_000)]
    texts[17_000] = None
    with pytest.raises(InputError, match=r"^row 17001 of a table has no candidate"):
        list(table_batches(table(c=texts, a=["x"] * 20_000, k=[1] * 20_000), KEYED))


OVERLAPPING = pa.Array.from_buffers(
    pa.list_(pa.string()),
    3,
    [None, pa.py_buffer(np.array([0, 2, 1, 3], np.int32))],
    children=[pa.array(["x", "y", "z"])],
)
OUTSIDE = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["x"]), safe=False)
NOT_UTF8 = pa.array([b"fine", b"\xff"]).view(pa.string())
TWICE = pa.Table.from_arrays([pa.array(["x"])] * 3, ["c", "a", "a"])
NULLS = pa.array([None, None], pa.string())
NULL_LIST = pa.array([None, ["x"]], pa.list_(pa.string()))


def test_a_wrong_table_is_refused_and_its_column_is_named():
    for made, columns, cause in (
        ({"c": "x"}, ONE, "an element must be a pyarrow Table or RecordBatch"),
        (table(c=["x"], a=["x"]), ONE, "a table has no column 'b'; it has c, a"),
        (TWICE, ArrowColumns("c", ["a"]), "a table has more than one column 'a'"),
        (table(c=[1], a=["x"], b=["x"]), ONE, "the column 'c' must have strings"),
        (table(c=["x"], r=[[1]]), LISTS, "the column 'r' must have lists of strings"),
        (table(c=["x"], a=["x"], k=[1.5]), KEYED, "the column 'k' has values of the type double"),
        (table(c=["x", None], a=["x"] * 2, b=["x"] * 2), ONE, "row 2 of a table has no candidate"),
        (
            table(c=["x", "y"], a=["x", None], b=NULLS),
            ONE,
            "row 2 of a table has no reference in the columns a, b",
        ),
        (
            table(c=["x", "y"], r=NULL_LIST),
            LISTS,
            "row 1 of a table has no reference in the column r",
        ),
        (table(c=NOT_UTF8, a=["", ""], b=["", ""]), ONE, "the column 'c' is not valid"),
        (table(c=OUTSIDE, a=["x", "y"], k=[1, 2]), KEYED, "the column 'c' is not valid"),
        (table(c=TEXTS, r=OVERLAPPING), LISTS, "the column 'r' is not valid"),
    ):
        with pytest.raises(InputError, match="^" + re.escape(cause)):
            list(table_batches(made, columns))
    for given, name in (
        (("c", [1]), "references"),
        ((1, ["a"]), "candidate"),
        (("c", "r", 1), "key"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must be the name"):
            ArrowColumns(*given)
