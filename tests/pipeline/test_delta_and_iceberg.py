"""Tables of Delta Lake and Iceberg: what the current version has is scored, and nothing else is."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import deltalake
import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import PROJECT, called, typed
from pyiceberg.catalog import sql

COLUMNS = {
    "hyp": ["the cat sat on the mat", "it rains a lot in May", "good morning to all of you"],
    "ref": ["a cat sat on the mat", "it rains a lot in June", "good morning to all"],
    "lang": ["de", "fr", "de"],
}
ROWS = pa.table(COLUMNS)
MORE = pa.table({"hyp": ["and one more line here"], "ref": ["and one more line"], "lang": ["fr"]})


def scores(pattern: object) -> Any:
    return called("--input", pattern, "--format", "json").document["scores"]


@pytest.fixture
def expected(tmp_path):
    """The scores of the rows, and of all rows, as Parquet."""
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    pq.write_table(pa.concat_tables([ROWS, MORE]), tmp_path / "all.parquet")
    return [scores(tmp_path / f"{name}.parquet") for name in ("rows", "all")]


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    uri = f"sqlite:///{tmp_path}/catalog.db"
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", uri)
    catalog = sql.SqlCatalog("lake", uri=uri, warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("news")
    catalog.create_table("news.rows", ROWS.schema).append(ROWS)
    # pyiceberg reads its environment when it is imported, so only for a process of its own.
    monkeypatch.setattr("pyiceberg.catalog.load_catalog", lambda name: {"lake": catalog}[name])
    return catalog


def test_a_delta_table_is_its_current_version(tmp_path, expected):
    path = tmp_path / "table"
    deltalake.write_deltalake(path, ROWS)
    assert scores(f"delta:{path}") == expected[0]
    deltalake.write_deltalake(path, MORE, mode="append")
    assert scores(f"delta:{path}") == expected[1]
    table = deltalake.DeltaTable(path)
    table.delete("hyp = 'and one more line here'")
    assert scores(f"delta:{path}") == expected[0]
    out = tmp_path / "out"
    called("--input", f"delta:{path}", "--output", out)
    manifest = json.loads((out / "manifest.json").read_bytes())
    jsonschema.validate(
        manifest, json.loads((PROJECT / "docs" / "manifest.schema.json").read_bytes())
    )
    (stream,) = manifest["streams"]
    assert (stream["pattern"], stream["snapshot"]) == (f"delta:{path}", "2")
    assert sum(file["lines"] for file in stream["files"]) == 3


def with_deletion_vector(path: pathlib.Path) -> None:
    """Adds a version in which the first row of the only file is deleted, as Delta's format says."""
    deltalake.write_deltalake(path, ROWS, configuration={"delta.enableDeletionVectors": "true"})
    (log,) = (path / "_delta_log").glob("*.json")
    (add,) = [row["add"] for row in map(json.loads, log.open()) if "add" in row]
    vector = {  # a bitmap of row 0, in Z85
        "storageType": "i",
        "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg00000",
        "sizeInBytes": 34,
        "cardinality": 1,
    }
    removed = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    actions = [{"remove": removed}, {"add": {**add, "deletionVector": vector}}]
    text = "".join(json.dumps(action) + "\n" for action in actions)
    log.with_name(f"{1:020}.json").write_text(text)


def test_a_delta_table_with_deletion_vectors_is_refused(tmp_path, expected):
    with_deletion_vector(tmp_path / "table")
    table = deltalake.DeltaTable(tmp_path / "table")
    assert len(table.file_uris()) == 1  # which has all rows
    called("--input", f"delta:{tmp_path}/table").assert_failed(
        3, "has deletion vectors: ", "rows that were deleted", "REORG TABLE"
    )
    # A table that may have vectors can be read as long as it has none.
    may_have = {"delta.enableDeletionVectors": "true"}
    deltalake.write_deltalake(tmp_path / "other", ROWS, configuration=may_have)
    assert scores(f"delta:{tmp_path}/other") == expected[0]


def test_a_delta_table_that_maps_its_columns_is_refused(tmp_path):
    path = tmp_path / "table"
    deltalake.write_deltalake(path, ROWS)
    (log,) = (path / "_delta_log").glob("*.json")
    actions = [json.loads(line) for line in log.open()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        if "metaData" in action:
            action["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}
            schema = json.loads(action["metaData"]["schemaString"])
            for number, field in enumerate(schema["fields"], 1):
                field["metadata"] = {
                    "delta.columnMapping.id": number,
                    "delta.columnMapping.physicalName": f"col-{number}",
                }
            action["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("".join(json.dumps(action) + "\n" for action in actions))
    called("--input", f"delta:{path}").assert_failed(3, "maps its columns by name")


def test_a_file_of_a_table_that_is_gone_is_an_error(tmp_path):
    deltalake.write_deltalake(tmp_path / "table", ROWS)
    (file,) = (tmp_path / "table").glob("*.parquet")
    data = file.read_bytes()
    file.unlink()
    called("--input", f"delta:{tmp_path}/table").assert_failed(3, str(file))
    file.write_bytes(data + b"x")
    run = called("--input", f"delta:{tmp_path}/table")
    run.assert_failed(3, f"has {len(data) + 1} bytes, and had {len(data)} when listed")


def test_an_iceberg_table_is_its_current_snapshot(tmp_path, catalog, expected):
    table = catalog.load_table("news.rows")
    names = [f"iceberg:{table.metadata_location}", "iceberg:lake.news.rows"]
    for name in names:
        assert scores(name) == expected[0]
    table.append(MORE)
    assert scores(names[1]) == expected[1]
    assert scores(names[0]) == expected[0]  # older metadata
    run = typed("--input", names[1], "--output", tmp_path / "out")
    assert run.code == 0, run.err
    (stream,) = json.loads((tmp_path / "out" / "manifest.json").read_bytes())["streams"]
    assert stream["snapshot"] == str(table.current_snapshot().snapshot_id)
    assert stream["pattern"] == names[1]


def test_an_iceberg_table_may_drop_a_column_but_not_rename_one(catalog, expected):
    table = catalog.load_table("news.rows")
    with table.update_schema() as update:
        update.delete_column("lang")
    assert scores("iceberg:lake.news.rows") == expected[0]
    with table.update_schema() as update:
        update.rename_column("ref", "reference")
    run = called("--input", "iceberg:lake.news.rows")
    run.assert_failed(3, "has renamed the column ref", "write the table again")


def test_an_iceberg_table_with_delete_files_is_refused(catalog, monkeypatch):
    """pyiceberg cannot write delete files, so its plan is changed."""
    from pyiceberg.table import DataScan

    whole = DataScan.plan_files

    def plan_files(scan: Any) -> Any:
        tasks = list(whole(scan))
        for task in tasks:
            task.delete_files.add(task.file)
        return tasks

    monkeypatch.setattr(DataScan, "plan_files", plan_files)
    called("--input", "iceberg:lake.news.rows").assert_failed(
        3, "has delete files: ", "rows that were deleted", "rewrite_data_files"
    )
