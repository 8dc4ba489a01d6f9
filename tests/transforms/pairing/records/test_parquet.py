"""Parquet files as a source: what is read, from which columns, and which errors name the place."""

from __future__ import annotations

import dataclasses
import io
import os
import pathlib
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called
from group_reading import outcome, pairs_of, portions_of, records, rows_of, table_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.records import group_files
from beam_bleu.transforms.pairing.records import row_group_records as source_module


def test_only_the_leaves_of_the_chosen_columns_are_read(tmp_path):
    path = tmp_path / "t.parquet"
    rows = [
        {
            "m": [("k", f"v{i}")],
            "t": {"id": i, "de": [f"d{i}", "e"][: i % 3], "en": f"n{i}" if i % 4 else None},
            "t.de": f"dot {i}",
            "d": f"value {i % 3}",
        }
        for i in range(30)
    ]
    text = pa.string()
    kinds = {
        "m": pa.map_(text, text),
        "t": pa.struct([("id", pa.int64()), ("de", pa.list_(text)), ("en", text)]),
        "t.de": text,
        "d": pa.dictionary(pa.int32(), text),
    }
    table = pa.Table.from_pylist(rows, pa.schema(kinds.items()))
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    chosen = {"t.en", "t.de.list.element", "t.de"}  # the last two begin with the same names
    data = bytearray(path.read_bytes())
    group = pq.read_metadata(path).row_group(0)
    for column in map(group.column, range(group.num_columns)):
        if column.path_in_schema not in chosen:
            first, size = column.data_page_offset, column.total_compressed_size
            data[first + size // 2 : first + size] = bytes(size - size // 2)
    path.write_bytes(data)
    source = records(path, candidates=("t.en",), references=("t.de[0]",))
    assert rows_of(source) == [(row["t"]["en"], next(iter(row["t"]["de"]), None)) for row in rows]
    with pytest.raises(InputError, match="the Parquet file cannot be read: "):
        rows_of(records(path, candidates=("d",), references=("t.en",)))


class Remote(io.BytesIO):
    """A file on another machine, where each read is a request."""

    reads = 0

    def read(self, size=-1):
        Remote.reads += 1
        return super().read(size)


def test_a_file_on_another_machine_is_read_in_few_requests(tmp_path, monkeypatch):
    table = table_of(20_000)
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=5000, data_page_size=1000)
    source = records(path)
    (portion,) = portions_of(source)
    monkeypatch.setattr(
        source_module,
        "open_for_arrow",
        lambda path: pa.PythonFile(Remote(pathlib.Path(path).read_bytes()), "r"),
    )
    for most in (1 << 27, 0):  # the second one reads as for a large row group
        monkeypatch.setattr(group_files, "_MOST_PRE_BUFFERED", most)
        Remote.reads = 0
        columns = [
            [column.to_pylist() for column in read.columns.values()]
            for read in source.read(portion)
        ]
        pairs = [pair for hyp, ref in columns for pair in zip(hyp, ref, strict=True)]
        assert pairs == pairs_of(table)
        assert Remote.reads < 20


def test_a_dictionary_in_a_list_or_struct_is_read_from_any_number_of_row_groups(tmp_path):
    texts = pa.array([f"a {i % 7}" for i in range(60)])
    encoded = texts.dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array(range(61), pa.int32()), encoded)
    table = pa.table({"ref": lists, "hyp": pa.StructArray.from_arrays([encoded], ["t"])})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=20)
    for range_bytes in (1, 1 << 30):
        source = records(tmp_path / "t.parquet", candidates=("hyp.t",), range_bytes=range_bytes)
        assert rows_of(source) == [(text, [text]) for text in texts.to_pylist()]


def write(path, rows=200, **options):
    texts = [f"the {i} cats sat on the mat" for i in range(rows)]
    table = pa.table({"hyp": texts, "ref": texts[::-1]})
    pq.write_table(table, path, row_group_size=50, write_page_checksum=True, **options)
    return path


def test_a_flipped_bit_in_a_page_is_found(tmp_path):
    for seed, compression in enumerate(["none", "snappy", "zstd", "gzip"]):
        path = write(tmp_path / "t.parquet", compression=compression)
        expected = rows_of(records(path))
        chunk = pq.read_metadata(path).row_group(2).column(seed % 2)
        data = bytearray(path.read_bytes())
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        data[start + random.Random(seed).randrange(chunk.total_compressed_size)] ^= 1 << seed
        path.write_bytes(data)
        found = outcome(path)  # the header of a page has fields without a use
        assert found == expected or "the Parquet file cannot be read: " in found


def test_no_rows_at_all_is_an_error(tmp_path):
    with pq.ParquetWriter(
        tmp_path / "1.parquet", pq.read_schema(write(tmp_path / "0.parquet", rows=0))
    ):
        pass  # no row group
    run = called("--input", tmp_path / "*.parquet")
    run.assert_failed(3, "input: there are no rows: ", "*.parquet")


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


def test_a_file_that_was_replaced_with_the_same_size_is_named(tmp_path):
    path = write(tmp_path / "t.parquet")
    source = records(path)
    portions = portions_of(source)
    reading = source.read(portions[0])
    next(reading)
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    os.replace(other, path)
    with pytest.raises(InputError, match="the file was changed after"):
        list(reading)
