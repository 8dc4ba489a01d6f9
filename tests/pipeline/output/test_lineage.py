"""The events of real runs, as a file and a server get them, and servers that do not work."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from command_line import REFERENCES, SYSTEMS, Argument, Run, called

from beam_bleu.pipeline.errors.reporting import Ending
from beam_bleu.pipeline.errors.terminal import now
from beam_bleu.pipeline.output import lineage
from beam_bleu.pipeline.output.lineage import Lineage, dataset
from beam_bleu.transforms.pairing.files.streams import Stream

WORDS = [REFERENCES[0], "-i", SYSTEMS["atlas"], "--lineage=news-nightly"]


@pytest.fixture(autouse=True)
def _no_setup(tmp_path) -> Iterator[None]:
    """Only the test says where events go. The library adds variables of its own."""
    kept = {name: text for name, text in os.environ.items() if "OPENLINEAGE" not in name}
    with mock.patch.dict(os.environ, {**kept, "HOME": str(tmp_path)}, clear=True):
        yield


@pytest.fixture
def file(tmp_path, monkeypatch, _no_setup) -> Path:
    """The file into which a transport writes the events."""
    transport = {"type": "file", "log_file_path": str(tmp_path / "events.jsonl"), "append": True}
    config = tmp_path / "openlineage.yml"
    config.write_text(json.dumps({"transport": transport}))  # JSON is YAML
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(config))
    return tmp_path / "events.jsonl"


def events(file: Path) -> list[dict[str, Any]]:
    """Events, which have what OpenLineage's specification 2-0-2 requires beyond its library."""
    found = [json.loads(line) for line in file.read_text().splitlines()]
    for event in found:
        assert event["schemaURL"].endswith("/spec/2-0-2/OpenLineage.json#/$defs/RunEvent")
        assert datetime.fromisoformat(event["eventTime"].replace("Z", "+00:00")).tzinfo is not None
        assert event["producer"].startswith("urn:beam-bleu:")
        assert str(uuid.UUID(event["run"]["runId"])) == event["run"]["runId"]
    return found


def run(*words: Argument) -> Run:
    return called(*WORDS, "--score_only", *words)


def test_a_run_has_an_event_at_its_start_and_one_at_its_end(file, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "translation")
    parent = uuid.uuid4()
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"airflow/nightly.score/{parent}")
    done = run("--output", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    start, complete = events(file)
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["eventTime"] < complete["eventTime"]
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    for event in (start, complete):
        assert event["run"]["runId"].replace("-", "") == record["run"]
        assert (event["job"]["namespace"], event["job"]["name"]) == ("translation", "news-nightly")
        assert event["run"]["facets"]["parent"]["run"]["runId"] == str(parent)
        assert event["run"]["facets"]["parent"]["job"]["name"] == "nightly.score"
        assert [(each["namespace"], each["name"]) for each in event["inputs"]] == [
            ("file", str(SYSTEMS["atlas"])),
            ("file", str(REFERENCES[0])),
        ]
        (output,) = event["outputs"]
        assert (output["namespace"], output["name"]) == ("file", str(tmp_path / "out"))
    read = complete["inputs"][0]["inputFacets"]["inputStatistics"]
    size = SYSTEMS["atlas"].stat().st_size
    assert (read["rowCount"], read["size"], read["fileCount"]) == (72, size, 1)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (
        complete["inputs"][0]["facets"]["version"]["datasetVersion"]
        == (manifest["streams"][0]["files"][0]["version"])
    )
    scores = output["outputFacets"]["beamBleu_scores"]
    (score,) = json.loads((tmp_path / "out" / "scores.json").read_text())["scores"]
    assert scores["segments"] == 72
    assert scores["scores"] == [
        {"metric": "bleu", "system": "atlas", "score": score["score"]},
    ]


@pytest.mark.parametrize("name", ["absent*.txt", "short.txt"])
def test_a_run_that_fails_says_why(file, tmp_path, name):
    (tmp_path / "short.txt").write_text("one line\n")
    words = [REFERENCES[0], "-i", tmp_path / name]
    done = called(*words, "--lineage=news", "--output", tmp_path / "out")
    assert done.code == 3
    start, fail = events(file)
    assert (start["eventType"], fail["eventType"]) == ("START", "FAIL")
    error = fail["run"]["facets"]["errorMessage"]
    assert error["programmingLanguage"] == "PYTHON"
    assert f"beam-bleu: {error['message'].splitlines()[0]}\n" in done.err
    assert fail["outputs"][0]["outputFacets"] == {}


def test_a_run_that_was_stopped_is_aborted(file, tmp_path):
    stopped = Lineage(uuid.uuid4().hex, str(tmp_path), "news", now())
    stopped.start([Stream("references", "s3://bucket/a.txt")])
    stopped.end(Ending(143, "stopped by SIGTERM"), None)
    abort = events(file)[1]
    assert abort["eventType"] == "ABORT"
    assert abort["run"]["facets"]["errorMessage"]["message"] == "stopped by SIGTERM"


def test_a_server_that_is_gone_or_does_not_answer_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(lineage, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        done = run("--output", tmp_path / "out")
        assert time.monotonic() - began < 10  # the library itself would try for half a minute
    assert (done.code, done.out) == (0, b"49.8\n")
    (line,) = done.err.splitlines()
    assert line.startswith("beam-bleu: warning: the lineage of this run was not sent: ")
    assert "no answer after 0.2 seconds" in line


def test_nothing_that_says_where_events_go_is_a_usage_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("--output", tmp_path / "out").assert_failed(2, "nothing says where events go")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "pigeon")
    run("--output", tmp_path / "out").assert_failed(2, "OpenLineage is not set up correctly")
    assert not (tmp_path / "out").exists()


def test_a_dataset_has_the_name_of_the_rules():
    azure = "abfss://texts@account.dfs.core.windows.net"
    for pattern, expected in [
        ("data/../ref.txt", ("file", f"{os.getcwd()}/ref.txt")),
        ("s3://bucket/refs/a-[0-9].txt", ("s3://bucket", "refs")),
        ("gs://bucket/*.txt", ("gs://bucket", "/")),
        ("https://us:sec/ret@host:8080/a.txt", ("https://host:8080", "a.txt")),
        ("azfs://account/texts/refs/a.txt", (azure, "refs/a.txt")),
        ("delta:s3://bucket/segments", ("s3://bucket", "segments")),
        ("iceberg:prod.news.segments", ("iceberg", "prod.news.segments")),
        ("-", None),
        ("/dev/fd/63", None),
    ]:
        assert dataset(pattern) == expected
