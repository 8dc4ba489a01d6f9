"""Parquet files as a source: what is read, in which order, and from which columns."""

from __future__ import annotations

import io
import itertools
import pathlib

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from group_reading import digest_of, plan_of, read_all, records, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from murmur3 import murmur3_x64_128

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.records.row_groups import parquet_files
from beam_bleu.transforms.pairing.records.row_groups import source as source_module

TEXTS = ["", "a b c", "Käse", "\U0001f600", "tab\there", "new\nline", "x" * 300]


def table_of(rows: int) -> pa.Table:
    def column(name: str) -> list[str]:
        return [f"{name} {i} {TEXTS[i % len(TEXTS)]}" for i in range(rows)]

    return pa.table({"id": list(range(rows)), "hyp": column("hyp"), "ref": column("ref")})


def pairs_of(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table["hyp"].to_pylist(), table["ref"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    "compression",
    [
        "none",
        "zstd",
    ],
)
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_rows_are_those_that_were_written(tmp_path, compression, dictionary, version):
    table = table_of(1000)
    pq.write_table(
        table,
        tmp_path / "t.parquet",
        compression=compression,
        use_dictionary=dictionary,
        data_page_version=version,
        row_group_size=300,
        data_page_size=1000,
    )
    assert rows_of(records(tmp_path / "t.parquet")) == pairs_of(table)


@given(st.data(), st.integers(1, 60), st.integers(1, 4), st.integers(1, 40))
@settings(max_examples=40)
def test_order_and_digest_do_not_depend_on_files_row_groups_and_portions(
    tmp_path_factory, data, rows, files, group
):
    folder = tmp_path_factory.mktemp("shards")
    texts = st.none() | st.sampled_from(TEXTS)
    lists = st.none() | st.lists(texts, max_size=3)
    table = pa.table(
        {
            "hyp": pa.array(data.draw(st.lists(texts, min_size=rows, max_size=rows)), pa.string()),
            "ref": pa.array(
                data.draw(st.lists(lists, min_size=rows, max_size=rows)), pa.list_(pa.string())
            ),
        }
    )
    whole = folder / "whole.parquet"
    pq.write_table(table, whole)
    bounds = sorted(data.draw(st.lists(st.integers(0, rows), min_size=files, max_size=files)))
    for number, (start, stop) in enumerate(itertools.pairwise([0, *bounds, rows])):
        part = table.slice(start, stop - start)
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=group)
    range_bytes = data.draw(st.sampled_from([16, 2_000_000, 4_000_000]))
    parts = records(folder / "part-*.parquet", range_bytes=range_bytes)
    assert rows_of(parts) == pairs_of(table)
    assert digest_of(parts) == digest_of(records(whole)) == digest_by_hand(pairs_of(table))
    firsts = [(read.first, len(next(iter(read.columns.values())))) for read in read_all(parts)]
    assert firsts == [
        (first, rows)
        for first, (_, rows) in zip(
            itertools.accumulate((rows for _, rows in firsts), initial=0), firsts, strict=False
        )
    ]


def digest_by_hand(pairs):
    """The digest as the documentation defines it."""
    total = 0
    for row, (hyp, refs) in enumerate(pairs, 1):
        texts = [
            (hyp, row),
            *((each, row + 2**40 + i * 2**52) for i, each in enumerate(refs or ())),
        ]
        for text, seed in texts:
            if text is not None:
                total += murmur3_x64_128(text.encode(), seed)
    return total % 2**128


def test_a_digest_tells_a_null_from_an_empty_text_and_one_column_from_another(tmp_path):
    def digest(hyp, ref):
        pq.write_table(pa.table({"hyp": pa.array(hyp, pa.string()), "ref": ref}), tmp_path / "t.pq")
        return digest_of(records(tmp_path / "t.pq"))

    different = [
        digest(["a", "b"], ["c", "d"]),
        digest(["b", "a"], ["c", "d"]),
        digest(["c", "d"], ["a", "b"]),
        digest(["a", ""], ["c", "d"]),
        digest(["a", None], ["c", "d"]),
        digest(["a", "b"], [["c"], ["d", "d"]]),
        digest(["a", "b"], [["c"], [None, "d"]]),
    ]
    assert len(set(different)) == len(different)
    assert digest(["a", "b"], [["c"], ["d"]]) == different[0]


def test_portions_have_about_the_wanted_size(tmp_path):
    for number in range(3):
        pq.write_table(table_of(2000), tmp_path / f"{number}.parquet", row_group_size=100)
    source = records(tmp_path / "*.parquet", range_bytes=(1 << 20) + 80_000)
    plan = plan_of(source)
    portions = list(plan.portions())
    assert plan.rows == 6000
    assert 6 <= len(portions) <= 12
    assert [portion.first_record for portion in portions] == list(
        itertools.accumulate(
            (sum(piece.rows for piece in portion.pieces) for portion in portions[:-1]), initial=0
        )
    )
    one = list(plan_of(records(tmp_path / "*.parquet")).portions())
    assert len(one) == 1
    assert [piece.rows for piece in one[0].pieces] == [2000] * 3


NESTED = pa.schema(
    [
        ("m", pa.map_(pa.string(), pa.string())),
        ("t", pa.struct([("id", pa.int64()), ("de", pa.list_(pa.string())), ("en", pa.string())])),
        ("t.de", pa.string()),
        ("d", pa.dictionary(pa.int32(), pa.string())),
    ]
)


def nested_rows(count: int) -> list[dict[str, object]]:
    return [
        {
            "m": [("k", f"v{i}")],
            "t": {"id": i, "de": [f"d{i}", "e"][: i % 3], "en": f"n{i}" if i % 4 else None},
            "t.de": f"dot {i}",
            "d": f"value {i % 3}",
        }
        for i in range(count)
    ]


def test_only_the_leaves_of_the_chosen_columns_are_read(tmp_path):
    path = tmp_path / "t.parquet"
    rows = nested_rows(30)
    table = pa.Table.from_pylist(rows, NESTED)
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    chosen = {"t.en", "t.de.list.element", "t.de"}  # the last two begin with the same names
    group = pq.read_metadata(path).row_group(0)
    for column in map(group.column, range(group.num_columns)):
        if column.path_in_schema not in chosen:
            damage(path, column.data_page_offset, column.total_compressed_size)
    source = records(path, candidates=("t.en",), references=("t.de[0]",))
    assert rows_of(source) == [(row["t"]["en"], next(iter(row["t"]["de"]), None)) for row in rows]
    with pytest.raises(InputError, match="cannot be read: row groups 0 to 0: "):
        rows_of(records(path, candidates=("d",), references=("t.en",)))


def damage(path, first, size):
    """Changes bytes in the middle of a part of a file."""
    data = bytearray(path.read_bytes())
    for at in range(first + size // 2, first + size):
        data[at] ^= 0x55
    path.write_bytes(data)


def test_the_wiring_reads_every_row_once_and_gives_tallies(tmp_path):
    for number in range(3):
        pq.write_table(table_of(50), tmp_path / f"{number}.parquet", row_group_size=7)
    source = records(tmp_path / "*.parquet", range_bytes=16)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | source.pair(threads=2, describe=True)
        numbers = paired.batches | beam.FlatMap(lambda batch: batch.numbers.tolist())
        assert_that(numbers, equal_to(list(range(150))), label="numbers")
        read = paired.tallies | beam.Map(lambda tally: tally.read) | beam.CombineGlobally(sum)
        assert_that(read, equal_to([150]), label="tallies")
        counts = paired.segments | beam.Map(lambda found: (found.count, found.systems))
        assert_that(counts, equal_to([(150, ("hyp",))]), label="segments")
        segments = paired.digests | beam.Map(lambda digests: digests.segments)
        assert_that(segments, equal_to([150]), label="digests")


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
    (portion,) = plan_of(source).portions()
    monkeypatch.setattr(
        source_module,
        "open_for_arrow",
        lambda path: pa.PythonFile(Remote(pathlib.Path(path).read_bytes()), "r"),
    )
    for most in (1 << 27, 0):  # the second one reads as for a large row group
        monkeypatch.setattr(parquet_files, "_MOST_PRE_BUFFERED", most)
        Remote.reads = 0
        columns = [
            [column.to_pylist() for column in read.columns.values()]
            for read in source.read(portion)
        ]
        pairs = [pair for hyp, ref in columns for pair in zip(hyp, ref, strict=True)]
        assert pairs == pairs_of(table)
        assert Remote.reads < 20
