"""Files of all formats with groups of rows: what is read, and what is no such file."""

from __future__ import annotations

import itertools

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called
from group_reading import (
    SUFFIXES,
    TEXTS,
    digest_of,
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
@settings(max_examples=40)
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
        (".parquet", b"", "the Parquet file cannot be read"),
        (".parquet", b"hyp\tref\n" * 9, "this is not a parquet file"),
        (".parquet", b"PAR1", "the Parquet file cannot be read"),
        (".arrow", b"hyp\tref\n" * 9, "the Arrow file cannot be read"),
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
    more = "--save_totals", "--output", tmp_path / "out"
    document = called("--input", path, *given, *more).document
    assert [score["segments"] for score in document["scores"]] == [rows, rows]


@pytest.mark.parametrize(
    ("form", "kind"),
    [("parquet", pa.string()), ("file", pa.list_(pa.string())), ("stream", pa.large_string())],
    ids=str,
)
def test_a_text_that_is_not_utf8_is_a_bad_record(tmp_path, form, kind):
    texts: pa.Array = pa.array([b"fine", b"bad \xe9t\xe9", b"fine"]).view(pa.string())
    if pa.types.is_list(kind):
        texts = pa.ListArray.from_arrays([0, 1, 2, 3], texts)
    elif pa.types.is_large_string(kind):
        texts = texts.view(pa.binary()).cast(pa.large_binary()).view(kind)
    path = write(tmp_path / f"t{SUFFIXES[form]}", pa.table({"hyp": ["a"] * 3, "ref": texts}), form)
    called("--input", path).assert_failed(
        3, f"input: row 2: column ref: invalid UTF-8 at byte 5 of the text (0xe9): {path}"
    )
