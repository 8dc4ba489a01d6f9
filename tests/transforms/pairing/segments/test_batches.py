"""Segments are gathered into batches: whose rows are whose, and those of Arrow tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import window
from apache_beam.transforms.window import TimestampedValue

from beam_bleu import ArrowColumns
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing import canonical
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments import batching
from beam_bleu.transforms.pairing.segments.arrow_columns import table_batches
from beam_bleu.transforms.pairing.segments.gather import GatherSegments


def described(batch: SegmentBatch) -> list[tuple[Any, ...]]:
    """(candidates, key, start of the window, timestamp) of each group of a batch."""
    texts = batch.candidates[0].to_pylist()
    return [
        (texts[group.rows], group.key, int(group.window.start), int(group.timestamp))
        for group in batch.groups
    ]


def gathered(check: Any, windowing: beam.WindowInto, keys: Sequence[Any] = "aabbba") -> None:
    """Gathers a segment for each key, dated by its place."""
    segments = [
        TimestampedValue((key, (f"{key} {at}", ["text"])), at) for at, key in enumerate(keys)
    ]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        groups = (
            pipeline
            | beam.Create([None])
            | beam.FlatMap(lambda _: segments)  # in one bundle, in order
            | windowing.with_output_types(beam.typehints.Tuple[Any, Any])
            | GatherSegments(keyed=True)
            | beam.Map(described)
        )
        assert_that(groups, check)


def test_all_rows_of_one_key_and_window_are_a_group(monkeypatch):
    expected = [
        (["a 0", "a 1"], "a", 0, 3),
        (["b 2", "b 3"], "b", 0, 3),
        (["b 4"], "b", 4, 7),
        (["a 5"], "a", 4, 7),
    ]
    gathered(equal_to([expected]), beam.WindowInto(window.FixedWindows(4)))
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 4)  # a full batch ends its groups
    several = [
        [(["a 0", "a 1"], "a", 0, 99), (["b 2", "b 3"], "b", 0, 99)],
        [(["b 4"], "b", 0, 99), (["a 5"], "a", 0, 99)],
    ]
    gathered(equal_to(several), beam.WindowInto(window.FixedWindows(100)))


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        ([1, True, 1.0, 1, True], [[0, 3], [1, 4], [2]]),
        ([["a", 1], ["a", True], ["a", 1]], [[0, 2], [1]]),
        (["1", 1, b"1", None, "1", None], [[0, 4], [1], [2], [3, 5]]),
    ],
    ids=str,
)
def test_keys_are_the_same_if_their_coder_says_so(keys, groups):
    expected = [[f"{keys[at]} {at}" for at in group] for group in groups]

    def check(found: list[Any]) -> None:
        assert [texts for texts, *_ in found[0]] == expected

    gathered(check, beam.WindowInto(window.GlobalWindows()), keys)


def test_where_beam_dates_elements_each_row_is_a_group():
    """Also where a trigger counts elements, of which the tests of panes have all results."""
    latest = window.TimestampCombiner.OUTPUT_AT_LATEST
    windowing = beam.WindowInto(window.FixedWindows(100), timestamp_combiner=latest)
    expected = [([f"{key} {at}"], key, 0, at) for at, key in enumerate("aabbba")]
    gathered(equal_to([expected]), windowing)


def test_a_segment_with_many_references_does_not_widen_a_long_batch(monkeypatch):
    monkeypatch.setattr(canonical, "MOST_TEXTS", 7)
    wider = ("c", list("defghijk"))
    for segments, batches in (
        (
            [("a", ["b"]), ("c", ["d", None, "e"]), ("f", ["g"])],
            [[("a", "b")], [("c", "d", None, "e")], [("f", "g")]],
        ),
        ([wider, ("a", ["b"])], [[("c", *"defghijk")], [("a", "b")]]),
    ):
        gathered = batching.GatheredSegments()
        for segment in segments:
            gathered.add(segment)
        found = [
            [column.to_pylist() for column in (*batch.candidates, *batch.references)]
            for batch in gathered.batches()
        ]
        assert [[*zip(*columns, strict=True)] for columns in found] == batches


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


def test_texts_and_lists_are_read_in_each_form():
    texts = {"c": TEXTS, "a": TEXTS, "b": ["x", None, ""]}
    encoded = {name: pa.array(of).dictionary_encode() for name, of in texts.items()}
    lists = [["x", "y"], [None, "z"], ["", "w"]]
    for made, columns, references in (
        (pa.table(encoded), ONE, [["one", "x"], [""], ["drei ß", ""]]),
        (table(c=TEXTS, r=lists), LISTS, [["x", "y"], ["z"], ["", "w"]]),
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
