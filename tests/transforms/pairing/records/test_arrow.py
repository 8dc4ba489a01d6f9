"""Arrow files as a source: what is read, and that a file with lost or added bytes has no score."""

from __future__ import annotations

import itertools
import random
import struct

import pyarrow as pa
import pyarrow.feather
import pytest
from group_reading import TEXTS, outcome, records, rows_of, table_of, write

from beam_bleu.transforms.pairing.records.group_files import ArrowFile

FORMS = ["file", "stream"]


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


def test_paths_lead_to_values_of_nested_columns(tmp_path):
    for form, (kind, of, column) in itertools.product(FORMS, NESTED):
        values = pa.array([of(text) for text in TEXTS * 3], kind)
        table = pa.table({"other": [1] * len(values), "ref": ["r"] * len(values), "x": values})
        path = write(tmp_path / "t.arrow", table, form, 5)
        assert rows_of(records(path, candidates=(column,))) == [(text, "r") for text in TEXTS * 3]


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


@pytest.mark.parametrize(("form", "seed"), [(FORMS[seed % 2], seed) for seed in range(12)])
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
