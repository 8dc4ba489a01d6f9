"""The columns of tables that only `Evaluate` uses: labels, ids and kept columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu import ArrowColumns
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.segments.arrow_columns import table_batches

ROWS = 2 * usual_rows(2) + 5


def table(**columns: list[object]) -> pa.Table:
    count = len(next(iter(columns.values())))
    return pa.table({"a": ["x"] * count, "r": ["y"] * count, **columns})


def test_labels_ids_and_kept_columns_stay_with_their_rows():
    # Rows with several references are cut into smaller batches.
    references = [["y"] * (20 if row == 3 else 1) for row in range(ROWS)]
    numbers = list(range(ROWS))
    whole = pa.table(
        {
            "a": [f"text {number}" for number in numbers],
            "r": references,
            "flag": pa.array([number % 3 == 0 for number in numbers]),
            "name": pa.array([None if number % 5 else f"n{number % 7}" for number in numbers]),
            "id": numbers,
        }
    )
    columns = ArrowColumns({"a": "a"}, "r", labels=["flag", "name"], ids="id", kept=["name", "id"])
    batches = list(table_batches(whole, columns, ("a",)))
    assert len(batches) > 3
    assert np.concatenate([batch.numbers for batch in batches]).tolist() == numbers
    columns_of = [[*batch.candidates, *batch.labels, batch.kept["id"]] for batch in batches]
    rows = [row for own in columns_of for row in zip(*map(list, own), strict=True)]
    names = whole["name"].to_pylist()
    flags = ["false" if number % 3 else "true" for number in numbers]
    texts = whole["a"].to_pylist()
    expected = [*zip(texts, flags, names, map(str, numbers), strict=True)]
    assert [tuple(value.as_py() for value in row) for row in rows] == expected


def test_texts_as_ids_give_numbers_that_depend_on_nothing_else():
    columns = ArrowColumns({"a": "a"}, ["r"], ids="id")
    (one,) = table_batches(table(id=["p", "q", "r"]), columns, ("a",))
    (other,) = table_batches(table(id=["r", "p"]), columns, ("a",))
    assert other.numbers.tolist() == [one.numbers[2], one.numbers[0]]
    assert len({*one.numbers.tolist()}) == 3
    assert min(one.numbers) >= 0
    large = pa.array([2**64 - 1, 7, 2**63], pa.uint64())
    (of_integers,) = table_batches(table(id=large), columns, ("a",))
    assert of_integers.numbers[1] == 7
    assert len({*of_integers.numbers.tolist()}) == 3
    assert min(of_integers.numbers) >= 0


def test_wrong_columns_are_named():
    ids = ArrowColumns({"a": "a"}, ["r"], ids="c")
    kept = ArrowColumns({"a": "a"}, ["r"], kept=["c"])
    labels = ArrowColumns({"a": "a"}, ["r"], labels=["d"])
    for columns, values, message in (
        (ids, [1, None], "row 2 of a table has no id"),
        (ids, ["p", "q", "r", "q"], "rows 2 and 4 of a table have the same id 'q'"),
        # in another batch
        (ids, [*range(ROWS), 0], f"rows 1 and {ROWS + 1} of a table have the same id 0"),
        (kept, [["x"], []], "has neither texts nor numbers"),
        (labels, [1, 2], "has no column 'd'"),
    ):
        with pytest.raises(InputError, match=message):
            list(table_batches(table(c=values), columns, ("a",)))
