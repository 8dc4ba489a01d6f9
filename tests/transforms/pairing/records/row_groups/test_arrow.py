"""Arrow files as a source: what is read, and that a file with lost or added bytes has no score."""

from __future__ import annotations

import itertools
import random
import struct

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from command_line import called
from group_reading import TEXTS, digest_of, outcome, plan_of, records, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.records.row_groups.arrow_files import record_batches

FORMS = ["file", "stream"]


def table_of(rows: int) -> pa.Table:
    def column(name: str) -> list[str]:
        return [f"{name} {i} {TEXTS[i % len(TEXTS)]}" for i in range(rows)]

    return pa.table({"id": list(range(rows)), "hyp": column("hyp"), "ref": column("ref")})


def pairs_of(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table["hyp"].to_pylist(), table["ref"].to_pylist(), strict=True))


def write(path, table, form="file", rows=None, **options):
    """Writes a file that can be read in any order, or a stream."""
    new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with new(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("form", FORMS)
def test_rows_are_those_that_were_written(tmp_path, form, compression):
    table = table_of(1000)
    path = write(tmp_path / "t.arrow", table, form, 300, compression=compression)
    assert rows_of(records(path)) == pairs_of(table)


@given(st.data(), st.integers(1, 60), st.integers(1, 4), st.integers(1, 40))
@settings(max_examples=40)
def test_order_and_digest_are_those_of_parquet(tmp_path_factory, data, rows, files, group):
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
    for number, (start, stop) in enumerate(itertools.pairwise([0, *bounds, rows])):
        form = data.draw(st.sampled_from(FORMS))
        write(folder / f"part-{number}.arrow", table[start:stop], form, group)
    range_bytes = data.draw(st.sampled_from([16, 2_000_000]))
    parts = records(folder / "part-*.arrow", range_bytes=range_bytes)
    assert rows_of(parts) == pairs_of(table)
    assert digest_of(parts) == digest_of(records(folder / "whole.parquet"))


def test_a_file_is_divided_at_its_record_batches_and_a_stream_is_not(tmp_path):
    table = table_of(1000)
    for form, portions in (("file", 10), ("stream", 1)):
        path = write(tmp_path / f"{form}.arrow", table, form, 100)
        assert len(list(plan_of(records(path, range_bytes=16)).portions())) == portions


NESTED = [
    (pa.struct({"n": pa.int64(), "t": pa.string()}), lambda text: {"n": 1, "t": text}, "x.t"),
    (pa.list_(pa.string()), lambda text: ["other", text], "x[1]"),
    (pa.list_(pa.string(), 2), lambda text: ["other", text], "x[1]"),
    (pa.list_view(pa.string()), lambda text: ["other", text], "x[1]"),
    (
        pa.struct({"l": pa.list_(pa.struct({"t": pa.string()}))}),
        lambda text: {"l": [{"t": text}]},
        "x.l[0].t",
    ),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "of", "column"), NESTED, ids=[each[2] for each in NESTED])
def test_paths_lead_to_values_of_nested_columns(tmp_path, form, kind, of, column):
    values = pa.array([of(text) for text in TEXTS * 3], kind)
    table = pa.table({"other": [1] * len(values), "ref": ["r"] * len(values), "x": values})
    path = write(tmp_path / "t.arrow", table, form, 5)
    assert rows_of(records(path, candidates=(column,))) == [(text, "r") for text in TEXTS * 3]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_file_that_was_cut_at_any_byte_has_no_rows(tmp_path, form, compression):
    """A stream that is cut between record batches looks whole to pyarrow."""
    path = write(tmp_path / "t.arrow", table_of(12), form, 4, compression=compression)
    data = path.read_bytes()
    assert record_batches(pa.BufferReader(data))[0] == [4, 4, 4]
    for length in range(len(data)):
        with pytest.raises(pa.ArrowInvalid):
            record_batches(pa.BufferReader(data[:length]))
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        assert isinstance(outcome(path), str), length


@pytest.mark.parametrize("forms", list(itertools.product(FORMS, FORMS)))
def test_files_that_were_put_together_are_an_error(tmp_path, forms):
    """pyarrow reads only one of them."""
    path = tmp_path / "t.arrow"
    parts = [write(path, table_of(10), form, 5).read_bytes() for form in forms]
    path.write_bytes(b"".join(parts))
    assert isinstance(outcome(path), str)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(15))
def test_a_flipped_bit_never_loses_rows_and_never_crashes(tmp_path, form, seed):
    """Arrow has no checksums, so a bit of a text cannot be noticed. Only texts may differ."""
    chooser = random.Random(seed)
    table = table_of(30).append_column("l", pa.array([["a", "b"]] * 30))
    kind = chooser.choice([pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.string_view()])
    table = table.set_column(1, "hyp", table["hyp"].cast(kind))
    compression = chooser.choice([None, "lz4"])
    path = write(tmp_path / "t.arrow", table, form, 10, compression=compression)
    data = bytearray(path.read_bytes())
    data[chooser.randrange(len(data))] ^= 1 << chooser.randrange(8)
    path.write_bytes(data)
    found = outcome(path)
    assert isinstance(found, str) or len(found) == 30


@pytest.mark.parametrize(
    ("content", "cause", "remedy"),
    [
        (b"", "input: the file is empty, so it is not an Arrow file: ", "check that it was"),
        (b"hyp\tref\n" * 9, "input: this is not an Arrow file: ", "--input_format"),
        (b"ARROW1\0\0" * 2, "input: the Arrow file is truncated: its footer is missing: ", "copy"),
        (b"\xff" * 40, "input: the Arrow file cannot be read: ", "copy it again"),
    ],
)
def test_a_file_that_is_no_arrow_file_is_named(tmp_path, content, cause, remedy):
    path = tmp_path / "t.arrow"
    path.write_bytes(content)
    called("--input", path).assert_failed(3, cause, str(path), remedy)


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
        assert "the Arrow file cannot be read: record batches 0 to 0: " in said
