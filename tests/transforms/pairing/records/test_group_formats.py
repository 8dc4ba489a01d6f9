"""Files of rows are read whole, and cut or damaged ones and what is no CSV have no score."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import itertools
import random
import struct

import fastavro
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from command_line import called
from group_reading import (
    SUFFIXES,
    TEXTS,
    digest_of,
    outcome,
    pairs_of,
    portions_of,
    read_all,
    records,
    rows_of,
    table_of,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from murmur3 import murmur3_x64_128

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.records import group_files
from beam_bleu.transforms.pairing.records.group_files import ArrowFile

OPTIONS = [
    *(("avro", {"codec": codec}) for codec in ("null", "deflate", "bzip2", "xz")),
    *(
        (form, {"compression": each})
        for form in ("file", "stream")
        for each in (None, "lz4", "zstd")
    ),
    ("parquet", {"compression": "none", "use_dictionary": False, "data_page_version": "1.0"}),
    ("parquet", {"compression": "zstd", "use_dictionary": True, "data_page_version": "2.0"}),
]


@pytest.mark.parametrize("form", SUFFIXES)
def test_rows_are_those_that_were_written(tmp_path, form):
    table = table_of(500)
    for options in (options for name, options in OPTIONS if name == form):
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


@pytest.mark.parametrize(
    ("suffix", "content", "cause"),
    [
        (".parquet", b"hyp\tref\n" * 9, "this is not a parquet file"),
        (".parquet", b"PAR1", "the Parquet file cannot be read"),
        (".arrow", b"ARROW1\0\0" * 2, "the Arrow file cannot be read"),
        (".arrow", b"\xff" * 40, "the Arrow file cannot be read"),
        (".avro", b"{}\n" * 9, "the Avro file cannot be read"),
        (".avro", None, "its schema is not one of records"),
    ],
)
def test_a_file_of_another_format_is_named(tmp_path, suffix, content, cause):
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


FORMS = ["file", "stream"]


def test_paths_lead_to_values_of_nested_columns(tmp_path):
    part = pa.struct({"t": pa.string()})
    nested = [
        (pa.struct({"l": pa.list_(part)}), [{"l": [{"t": text}]} for text in TEXTS], "x.l[0].t"),
        *(
            (kind, [["other", text] for text in TEXTS], "x[1]")
            for kind in (pa.list_(pa.string(), 2), pa.list_view(pa.string()))
        ),
    ]
    for form, (kind, values, column) in itertools.product(FORMS, nested):
        table = pa.table({"ref": ["r"] * len(values), "x": pa.array(values, kind)})
        path = write(tmp_path / "t.arrow", table, form, 5)
        assert rows_of(records(path, candidates=(column,))) == [(text, "r") for text in TEXTS]


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
        assert "the Arrow file cannot be read: " in said


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
        (data * 2, None, "the Avro file cannot be read: "),
        (data, len(data) - 10, "sync marker not found"),
        (compressed, len(compressed) // 2, "the Avro file cannot be read: "),
    ):
        damaged = bytearray(written)
        if at is not None:
            damaged[at] ^= 0x55
        path.write_bytes(damaged)
        assert said in outcome(path)


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
        path.write_bytes(written(rows, **tab))
        columns = ["--candidate_columns", "3", "--reference_columns", "1", "--no_header"]
        assert called("--input", path, *flags, *columns, "-b").out == b"100.0\n"


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "the CSV file cannot be read: it is empty, or begins with an empty line"),
        (USUAL + "a,b,c\n", "Row #3: Expected 2 columns, got 3"),
        (USUAL + '"c\nd,e\n', "the quote in line 3 is not closed"),
        (USUAL + '"c"d,e\n', "line 3 has a quote within a field"),
        (USUAL + '"c\n",e\nhyp,ref\n', "row 4 has the names of columns"),
        (USUAL.encode() + b"c,\xff\n", "row 3: column ref: invalid UTF-8 at byte 1 of the text"),
        (gzip.compress(USUAL.encode(), mtime=0)[:-9], "truncated"),
    ],
)
def test_what_is_no_csv_is_named(tmp_path, content, cause):
    path = tmp_path / ("t.csv.gz" if content[:1] == b"\x1f" else "t.csv")
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    called("--input", path).assert_failed(3, "input: ", cause, str(path))


def test_a_bad_text_can_be_rejected(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out"
    path.write_bytes(b"hyp,ref\n" + b'"a b\nc d",a b c d\n' * 120 + b"\xff,x\n")
    run = called("--input", path, "--on_bad_record", "reject", "--output", out)
    assert run.code == 0
    (rejected,) = out.glob("rejected-*.jsonl")
    assert "row 122" in rejected.read_text()
