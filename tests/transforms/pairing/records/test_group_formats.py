"""Files of rows are read whole, and cut or damaged ones and what is no CSV have no score."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import decimal
import gzip
import io
import itertools
import os
import pathlib
import random
import struct
from collections.abc import Iterator
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called
from hypothesis import given, settings
from hypothesis import strategies as st
from murmur3 import murmur3_x64_128

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.streams import Stream, shards_in_order
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.records import group_files, row_group_records
from beam_bleu.transforms.pairing.records.formats import format_of_name
from beam_bleu.transforms.pairing.records.group_files import ArrowFile
from beam_bleu.transforms.pairing.records.record_files import Portion
from beam_bleu.transforms.pairing.records.row_group_records import RowGroupRecords
from beam_bleu.transforms.pairing.records.wanted import ReadRecords, Wanted

SUFFIXES = {"parquet": ".parquet", "file": ".arrow", "stream": ".arrow", "avro": ".avro"}
"""By its name each form of files: Arrow has files that can be read in any order, and streams."""

AVRO = {
    "type": "record",
    "name": "segment",
    "fields": [
        {"name": "hyp", "type": ["null", "string"]},
        {"name": "ref", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
    ],
}

TEXTS = ["", "a b c", "Käse", "\U0001f600", "tab\there", "new\nline", "x" * 300]


def table_of(rows: int) -> pa.Table:
    def column(name: str) -> list[str]:
        return [f"{name} {i} {TEXTS[i % len(TEXTS)]}" for i in range(rows)]

    references = [[text, None, "r"][: i % 3 + 1] for i, text in enumerate(column("ref"))]
    return pa.table({"hyp": column("hyp"), "ref": references})


def pairs_of(table: pa.Table) -> list[tuple[str, list[str]]]:
    return list(zip(table["hyp"].to_pylist(), table["ref"].to_pylist(), strict=True))


def write(path, table, form, rows=None, **options):
    """Writes a file in groups of so many rows; of Avro, in blocks of 20 bytes for each row."""
    if form == "parquet":
        pq.write_table(table, path, row_group_size=rows, **options)
    elif form == "avro":
        sizes = {"sync_interval": 20 * rows} if rows else {}
        with path.open("wb") as file:
            fastavro.writer(file, AVRO, table.to_pylist(), **sizes, **options)
    else:
        new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
        with new(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table, max_chunksize=rows)
    return path


def records(pattern: pathlib.Path | str, *, range_bytes: int | None = None, **wanted: Any) -> Any:
    """A source for tests: the columns are hyp and ref, if no others are given."""
    columns = {"candidates": ("hyp",), "references": ("ref",), **wanted}
    stream, name = Stream("input", str(pattern)), format_of_name(str(pattern))
    return RowGroupRecords(stream, Wanted(**columns), name, range_bytes=range_bytes)


def portions_of(source: RowGroupRecords) -> list[Portion]:
    """The portions in order."""
    shards = shards_in_order(0, source.stream, find_files(source.stream))
    footers = [footer for shard in shards for footer in source.look_at(shard)]
    return sorted(source.planned(footers[::-1]).portions, key=lambda portion: portion.first)


def read_all(source: RowGroupRecords, digest: bool = False) -> Iterator[ReadRecords]:
    for portion in portions_of(source):
        yield from source.read(portion, digest)


def rows_of(source: RowGroupRecords) -> list[tuple[Any, ...]]:
    """The values of all columns, row by row."""
    rows: list[tuple[Any, ...]] = []
    for read in read_all(source):
        rows += zip(*(column.to_pylist() for column in read.columns.values()), strict=True)
    return rows


def digest_of(source: RowGroupRecords) -> int:
    digests = (read.digest for read in read_all(source, digest=True))
    return sum(digests) % (1 << 128)


def outcome(path: pathlib.Path) -> list[tuple[Any, ...]] | str:
    """The rows; or the cause of the error, which must name the file."""
    try:
        return rows_of(records(path))
    except InputError as error:
        cause = error.cause
    assert str(path) in cause
    return cause


OF_ARROW = [{"compression": each} for each in (None, "lz4", "zstd")]
OPTIONS = {
    **{"file": OF_ARROW, "stream": OF_ARROW},
    "avro": [{"codec": codec} for codec in ("null", "deflate", "bzip2", "xz")],
    "parquet": [
        {"compression": "none", "use_dictionary": False, "data_page_version": "1.0"},
        {"compression": "zstd", "use_dictionary": True, "data_page_version": "2.0"},
    ],
}


@pytest.mark.parametrize("form", SUFFIXES)
def test_rows_are_those_that_were_written(tmp_path, form):
    table = table_of(500)
    for options in OPTIONS[form]:
        path = write(tmp_path / f"t{SUFFIXES[form]}", table, form, 50, **options)
        source = records(path, range_bytes=16)
        assert rows_of(source) == pairs_of(table)
        # A stream cannot be divided.
        assert (len(portions_of(source)) > 5) == (form != "stream")


@given(st.data(), st.integers(1, 60), st.integers(1, 4), st.integers(1, 40))
@settings(max_examples=25)
def test_order_and_digest_do_not_depend_on_formats_files_groups_and_portions(
    tmp_path_factory, data, rows, files, group
):
    folder = tmp_path_factory.mktemp("shards")
    texts = st.none() | st.sampled_from(TEXTS)
    lists = st.none() | st.lists(texts, max_size=3)
    hyps = data.draw(st.lists(texts, min_size=rows, max_size=rows))
    refs = data.draw(st.lists(lists, min_size=rows, max_size=rows))
    table = pa.table(
        {"hyp": pa.array(hyps, pa.string()), "ref": pa.array(refs, pa.list_(pa.string()))}
    )
    pq.write_table(table, folder / "whole.parquet")
    bounds = sorted(data.draw(st.lists(st.integers(0, rows), min_size=files, max_size=files)))
    suffix = data.draw(st.sampled_from([".parquet", ".arrow", ".avro"]))
    forms = st.sampled_from([form for form in SUFFIXES if SUFFIXES[form] == suffix])
    for number, (start, stop) in enumerate(itertools.pairwise([0, *bounds, rows])):
        write(folder / f"part-{number}{suffix}", table[start:stop], data.draw(forms), group)
    range_bytes = data.draw(st.sampled_from([16, 2_000_000, 4_000_000]))
    parts = records(folder / f"part-*{suffix}", range_bytes=range_bytes)
    assert rows_of(parts) == pairs_of(table)
    whole = records(folder / "whole.parquet")
    assert digest_of(parts) == digest_of(whole) == digest_by_hand(pairs_of(table))
    sizes = [len(next(iter(read.columns.values()))) for read in read_all(parts)]
    firsts = [read.raw.first for read in read_all(parts)]
    assert firsts == [*itertools.accumulate(sizes, initial=0)][:-1]


def digest_by_hand(pairs):
    """The digest as the documentation defines it."""
    total = 0
    for row, (hyp, refs) in enumerate(pairs, 1):
        seeds = [row, *(row + 2**40 + i * 2**52 for i in range(len(refs or ())))]
        for text, seed in zip([hyp, *(refs or ())], seeds, strict=True):
            if text is not None:
                total += murmur3_x64_128(text.encode(), seed)
    return total % 2**128


def test_a_file_of_another_format_is_named(tmp_path):
    for suffix, content, cause in (
        (".parquet", b"hyp\tref\n" * 9, "this is not a parquet file"),
        (".parquet", b"PAR1", "the file cannot be read as Parquet: "),
        (".arrow", b"ARROW1\0\0" * 2, "the file cannot be read as Arrow: "),
        (".arrow", b"\xff" * 40, "the file cannot be read as Arrow: "),
        (".avro", b"{}\n" * 9, "the file cannot be read as Avro: "),
        (".avro", None, "its schema is not one of records"),
    ):
        path = tmp_path / f"t{suffix}"
        if content is None:
            with path.open("wb") as file:
                fastavro.writer(file, {"type": "string"}, ["a"])
        else:
            path.write_bytes(content)
        called("--input", path).assert_failed(3, "input: ", cause, str(path))


@pytest.mark.parametrize("form", ["parquet", "stream"])
def test_columns_that_are_always_null_have_no_type_of_texts(tmp_path, form):
    rows = 40
    texts = {"hyp": ["a b c d e"] * rows, "ref": ["a b c d f"] * rows}
    table = pa.table({**texts, "more": pa.nulls(rows)})
    path = write(tmp_path / f"t{SUFFIXES[form]}", table, form, 10)
    given = "--reference_columns", "ref,more", "--slice_by", "more", "--format", "json"
    document = called("--input", path, *given).document
    assert [score["segments"] for score in document["scores"]] == [rows, rows]


def test_a_text_that_is_not_utf8_is_a_bad_record(tmp_path):
    texts = pa.array([b"fine", b"bad \xe9t\xe9", b"fine"]).view(pa.string())
    large = texts.view(pa.binary()).cast(pa.large_binary()).view(pa.large_string())
    lists = pa.ListArray.from_arrays([0, 1, 2, 3], texts)
    for form, column in (("parquet", texts), ("file", lists), ("stream", large)):
        path = tmp_path / f"t{SUFFIXES[form]}"
        write(path, pa.table({"hyp": ["a"] * 3, "ref": column}), form)
        said = f"input: row 2: column ref: invalid UTF-8 at byte 5 of the text (0xe9): {path}"
        called("--input", path).assert_failed(3, said)


# Parquet


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
    with pytest.raises(InputError, match="the file cannot be read as Parquet: "):
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
        row_group_records,
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


def test_a_flipped_bit_in_a_page_is_found(tmp_path):
    for seed, compression in enumerate(["none", "snappy", "zstd", "gzip"]):
        options = {"compression": compression, "write_page_checksum": True}
        path = write(tmp_path / "t.parquet", table_of(200), "parquet", 50, **options)
        expected = rows_of(records(path))
        chunk = pq.read_metadata(path).row_group(2).column(seed % 2)
        data = bytearray(path.read_bytes())
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        data[start + random.Random(seed).randrange(chunk.total_compressed_size)] ^= 1 << seed
        path.write_bytes(data)
        found = outcome(path)  # the header of a page has fields without a use
        assert found == expected or "the file cannot be read as Parquet: " in found


def test_no_rows_at_all_is_an_error(tmp_path):
    write(tmp_path / "0.parquet", table_of(0), "parquet")
    with pq.ParquetWriter(tmp_path / "1.parquet", table_of(0).schema):
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
    path = write(tmp_path / "t.parquet", table_of(200), "parquet")
    source = records(path)
    reading = source.read(portions_of(source)[0])
    next(reading)
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    os.replace(other, path)
    with pytest.raises(InputError, match="the file was changed after"):
        list(reading)


# Arrow

FORMS = ["file", "stream"]


@pytest.mark.parametrize(("form", "compression"), [("file", None), ("stream", "zstd")])
def test_a_file_that_was_cut_at_any_byte_has_no_rows(tmp_path, form, compression):
    """A stream that is cut between record batches looks whole to pyarrow."""
    path = write(tmp_path / "t.arrow", table_of(12), form, 4, compression=compression)
    data = path.read_bytes()
    assert sum(rows for rows, _ in ArrowFile(pa.BufferReader(data), None).groups()) == 12
    for length in range(len(data)):
        with pytest.raises((pa.ArrowInvalid, OSError)):
            ArrowFile(pa.BufferReader(data[:length]), None).groups()
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        assert isinstance(outcome(path), str), length


def test_files_that_were_put_together_are_an_error(tmp_path):
    """pyarrow reads only one of them."""
    path = tmp_path / "t.arrow"
    for forms in itertools.product(FORMS, FORMS):
        parts = [write(path, table_of(10), form, 5).read_bytes() for form in forms]
        path.write_bytes(b"".join(parts))
        assert isinstance(outcome(path), str)


def test_a_flipped_bit_never_loses_rows_and_never_crashes(tmp_path):
    """Arrow has no checksums, so a bit of a text cannot be noticed. Only texts may differ."""
    for seed in range(12):
        chooser = random.Random(seed)
        table = table_of(30).append_column("l", pa.array([["a", "b"]] * 30))
        kinds = [pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.string_view()]
        table = table.set_column(1, "hyp", table["hyp"].cast(chooser.choice(kinds)))
        compression = chooser.choice([None, "lz4"])
        path = write(tmp_path / "t.arrow", table, FORMS[seed % 2], 10, compression=compression)
        data = bytearray(path.read_bytes())
        data[chooser.randrange(len(data))] ^= 1 << chooser.randrange(8)
        path.write_bytes(data)
        found = outcome(path)
        assert isinstance(found, str) or len(found) == 30, seed


def test_offsets_outside_of_the_text_are_an_error_and_not_a_crash(tmp_path):
    """pyarrow trusts the offsets in a file."""
    table = pa.table({"hyp": ["aaaa", "bbbb"], "ref": ["c", "d"]})
    data = write(tmp_path / "t.arrow", table, "stream").read_bytes()
    offsets = struct.pack("<3i", 0, 4, 8)
    assert data.count(offsets) == 1
    path = tmp_path / "t.arrow"
    for wrong in ((0, 4, 1 << 30), (0, 9, 8), (-4, 4, 8)):
        path.write_bytes(data.replace(offsets, struct.pack("<3i", *wrong)))
        said = outcome(path)
        assert isinstance(said, str)
        assert "the file cannot be read as Arrow: " in said


# Avro


def test_values_of_all_types_are_read_or_refused(tmp_path):
    day = datetime.datetime(2026, 11, 21, tzinfo=datetime.timezone.utc)
    decimals = {"type": "bytes", "logicalType": "decimal", "precision": 5}
    values = {
        "hyp": ({"type": "enum", "name": "word", "symbols": ["a", "b"]}, "a"),
        "again": (["null", "word"], "b"),
        "ref": ("bytes", b"a text"),
        "flag": ("boolean", True),
        "number": ("double", 0.5),
        "price": (decimals, decimal.Decimal(7)),
        "day": ({"type": "int", "logicalType": "date"}, day.date()),
        "time": ({"type": "long", "logicalType": "timestamp-micros"}, day),
        "either": (["int", "string"], "text"),
        "words": ({"type": "map", "values": "string"}, {"k": "v"}),
        "part": (["null", "all"], None),
    }
    path = tmp_path / "t.avro"
    fields = [{"name": name, "type": kind} for name, (kind, _) in values.items()]
    row = {name: value for name, (_, value) in values.items()}
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "all", "fields": fields}, [row] * 3)
    assert rows_of(records(path)) == [("a", "a text")] * 3
    for name in ("flag", "number", "price", "day", "time"):
        assert rows_of(records(path, labels=(name,)))[0][2] is not None
    assert rows_of(records(path, candidates=("again",)))[0] == ("b", "a text")
    for name, kind in (("either", "a union of 2 types"), ("part", "the type all")):
        with pytest.raises(InputError, match=f"the column {name} has no texts: .*{kind}"):
            rows_of(records(path, candidates=(name,)))


def test_a_file_that_was_cut_has_no_rows_unless_it_ends_with_a_block(tmp_path):
    """Avro has no mark of the end: a file of whole blocks is whole."""
    path = write(tmp_path / "t.avro", table_of(30), "avro", 15)
    data = path.read_bytes()
    sync = data[-16:]
    heads = data.index(sync) + 16
    for length in range(0, len(data), 29):
        path.write_bytes(data[:length])
        assert isinstance(outcome(path), str), length
    ends = [n for n in range(heads + 1, len(data)) if data[:n].endswith(sync)]
    assert len(ends) > 3
    for length in ends:
        path.write_bytes(data[:length])
        found = outcome(path)
        assert found == pairs_of(table_of(len(found)))
    called("--input", path, "--expect_segments", "30").assert_failed(3, "--expect_segments")


def test_damage_is_named(tmp_path):
    path = write(tmp_path / "t.avro", table_of(30), "avro", 15)
    data = path.read_bytes()
    compressed = write(path, table_of(30), "avro", codec="deflate").read_bytes()
    for written, at, said in (
        (data * 2, None, "the file cannot be read as Avro: "),
        (data, len(data) - 10, "sync marker not found"),
        (compressed, len(compressed) // 2, "the file cannot be read as Avro: "),
    ):
        damaged = bytearray(written)
        if at is not None:
            damaged[at] ^= 0x55
        path.write_bytes(damaged)
        assert said in outcome(path)


# CSV

FIELDS = st.text(st.sampled_from(',;\t"\n\r aé\U0001f600'), max_size=6)
USUAL = "hyp,ref\na,b\n"


def written(rows, **options):
    text = io.StringIO()
    csv.writer(text, **options).writerows(rows)
    return text.getvalue().encode()


@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([1, 2, 3, 100]),
    st.booleans(),
)
@settings(max_examples=40)
def test_fields_are_those_that_pythons_csv_writes(tmp_path_factory, rows, end, chunk, is_gzip):
    path = tmp_path_factory.mktemp("csv") / ("t.csv.gz" if is_gzip else "t.csv")
    # Python writes a carriage return without quotes if lines do not end with one.
    quoting = csv.QUOTE_ALL if end == "\n" else csv.QUOTE_MINIMAL
    data = written([("ref", "other\n", "hyp"), *rows], lineterminator=end, quoting=quoting)
    path.write_bytes(gzip.compress(data) if is_gzip else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_files, "_CHUNK_BYTES", 40 + chunk)
        assert rows_of(records(path)) == [(hyp, ref) for ref, _, hyp in rows]


def test_quotes_are_judged_across_chunks():
    text = written([('a"b', ",\n"), ("", '"'), ('""', "x\r\n")])
    for size in range(1, len(text)):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        assert b"".join(group_files._with_right_quotes(chunks, ",")) == text
        with pytest.raises(ValueError, match="the quote in line 6 is not closed"):
            [*group_files._with_right_quotes([*chunks, b'c,"x'], ",")]
        with pytest.raises(ValueError, match="line 6 has a quote within a field"):
            [*group_files._with_right_quotes([*chunks, b'c,"x"', b"y"], ",")]


def test_header_numbers_and_tabs(tmp_path):
    for name, flags in {"t.csv": (), "t.txt": ("--input_format", "quoted-tsv")}.items():
        path, tab = tmp_path / name, {"delimiter": "\t" if flags else ","}
        rows = [('the "a" b c d', "x", 'the "a"\nb c d')] * 3
        path.write_bytes(b"\xef\xbb\xbf" + written([("ref", "no", "mt"), *rows], **tab))
        assert called("--input", path, *flags, "-b").out == b"100.0\n"
        path.write_text(path.read_text("utf-8-sig"), "utf-16")  # as Excel saves "Unicode text"
        assert called("--input", path, *flags, "-b").out == b"100.0\n"
        path.write_bytes(written(rows, **tab))
        columns = ["--candidate_columns", "3", "--reference_columns", "1", "--no_header"]
        assert called("--input", path, *flags, *columns, "-b").out == b"100.0\n"


def test_what_is_no_csv_is_named(tmp_path):
    for content, cause in (
        (b"", "the file cannot be read as CSV: it is empty, or begins with an empty line"),
        (USUAL + "a,b,c\n", "Row #3: Expected 2 columns, got 3"),
        (USUAL + '"c\nd,e\n', "the quote in line 3 is not closed"),
        (USUAL + '"c"d,e\n', "line 3 has a quote within a field"),
        (USUAL + '"c\n",e\nhyp,e\nhyp,ref\n', "row 5 has the names of columns"),
        (USUAL.encode() + b"c,\xff\n", "row 3: column ref: invalid UTF-8 at byte 1 of the text"),
        (gzip.compress(USUAL.encode(), mtime=0)[:-9], "truncated"),
    ):
        path = tmp_path / ("t.csv.gz" if content[:1] == b"\x1f" else "t.csv")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        called("--input", path).assert_failed(3, "input: ", cause, str(path))
