"""A pattern over the files of a Delta table is refused: it would read rows that were replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import EXAMPLES, called
from memory_filesystem import OBJECTS

RECORDS = (EXAMPLES / "records" / "paired.parquet").read_bytes()
COLUMNS = ["--candidate_columns=hyp_*"]


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"{}" if name.endswith("json") else RECORDS)


@pytest.mark.parametrize(
    ("partition", "pattern"), [("", "{}part-0.parquet"), ("lang=de/year=2026/", "{}*.parquet")]
)
def test_files_beside_a_log_are_refused(tmp_path, partition, pattern):
    write(tmp_path, "table/_delta_log/00000000000000000000.json")
    write(tmp_path, f"table/{partition}part-0.parquet", f"table/{partition}part-1.parquet")
    run = called("--input", f"{tmp_path}/table/{pattern.format(partition)}", *COLUMNS)
    run.assert_failed(3, f"files of a Delta table, also of its older versions: {tmp_path}/table")
    assert f"write delta:{tmp_path}/table in place of" in run.err


def test_a_table_on_an_object_store_is_seen():
    OBJECTS.clear()
    OBJECTS["mem://bucket/table/lang=de/part-0.parquet"] = RECORDS, 1.0
    OBJECTS["mem://bucket/table/_delta_log/00000000000000000000.json"] = b"{}", 1.0
    run = called("--input", "mem://bucket/table/*/part-*.parquet", *COLUMNS)
    run.assert_failed(3, "write delta:mem://bucket/table in place of")


def test_other_files_are_read(tmp_path):
    write(tmp_path, "texts/part-0.parquet", "_delta_log/00000000000000000000.json")
    (tmp_path / "texts" / "_delta_log").mkdir()  # without a log
    assert called("--input", f"{tmp_path}/texts/*.parquet", *COLUMNS).code == 0
