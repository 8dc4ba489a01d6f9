"""Parquet files that cannot be read, and rows that cannot be scored: the error names the place."""

from __future__ import annotations

import dataclasses
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called
from group_reading import portions_of, records, rows_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.lines.correspondence import Expected

ROWS = 200


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.parquet"
    write(path)
    return path


def write(path, rows=ROWS, **options):
    texts = [f"the {i} cats sat on the mat" for i in range(rows)]
    table = pa.table({"hyp": texts, "ref": texts[::-1]})
    pq.write_table(table, path, row_group_size=50, write_page_checksum=True, **options)


def run(path, *flags):
    return called("--input", path, "--format", "json", *flags)


@pytest.mark.parametrize("seed", range(8))
def test_a_file_that_was_cut_never_has_a_score(path, seed):
    data = path.read_bytes()
    path.write_bytes(data[: random.Random(seed).randrange(len(data))])
    with pytest.raises(InputError, match=r"t\.parquet"):
        rows_of(records(path))


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_in_a_page_is_found(path, compression, seed):
    write(path, compression=compression)
    expected = rows_of(records(path))
    chunk = pq.read_metadata(path).row_group(2).column(seed % 2)
    data = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    at = start + random.Random(seed).randrange(chunk.total_compressed_size)
    data[at] ^= 1 << seed
    path.write_bytes(data)
    said = error_or_rows(path, expected)  # the header of a page has fields without a use
    assert said is None or "the Parquet file cannot be read: " in said


def error_or_rows(path, expected):
    """The cause of the error, which names the file; None if all rows were read."""
    try:
        rows = rows_of(records(path))
    except InputError as error:
        found = error.cause
    else:
        assert rows == expected
        return None
    assert str(path) in found
    return found


def test_no_rows_at_all_is_an_error(tmp_path):
    write(tmp_path / "0.parquet", rows=0)
    table = pa.table({"hyp": pa.array([], pa.string()), "ref": pa.array([], pa.string())})
    with pq.ParquetWriter(tmp_path / "1.parquet", table.schema):
        pass  # no row group
    run(tmp_path / "*.parquet").assert_failed(3, "input: there are no rows: ", "*.parquet")


def test_a_text_that_is_too_long_is_named(tmp_path):
    table = pa.table({"hyp": ["a", "b" * 100], "ref": [["a"], ["b", "c" * 101]]})
    pq.write_table(table, tmp_path / "t.parquet")
    source = records(tmp_path / "t.parquet")
    (portion,) = portions_of(source)
    for limit, columns in ((101, []), (100, ["ref"]), (99, ["hyp"])):
        (read,) = dataclasses.replace(source, expected=Expected(max_line_bytes=limit)).read(portion)
        place = f"input: row 2: column {''.join(columns)}: "
        told = f"{place}the text has more than {limit} bytes: {tmp_path}/t.parquet"
        bad = [read.bad_record(row, fault) for row, fault in read.faults.items()]
        assert [each.told for each in bad] == [told] * len(columns)
        values = {path.text: column.to_pylist() for path, column in read.columns.items()}
        assert all(values[name][1] is None for name in columns)


def test_a_file_that_was_replaced_with_the_same_size_is_named(path):
    source = records(path)
    portions = portions_of(source)
    reading = source.read(portions[0])
    next(reading)
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    os.replace(other, path)
    with pytest.raises(InputError, match="the file was changed after"):
        list(reading)
