"""_SUCCESS, run.json and metrics.prom: after each run the folder says how it went."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLE, PROJECT, REFERENCES, SYSTEMS, Run, called, streams
from endless_run import SCORING, endless_run
from markdown_tables import sections
from prometheus_client.parser import text_string_to_metric_families
from result_folder import RECORDS, RESULT, assert_files

import beam_bleu.pipeline.graph
import beam_bleu.pipeline.main
from beam_bleu.pipeline.folder import storage
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.version import VERSION

ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def record(out: Path) -> dict[str, Any]:
    return json.loads((out / "run.json").read_bytes())


def gauges(out: Path) -> dict[str, float]:
    """The values of metrics.prom by name, for those with several labels by name and system."""
    text = (out / "metrics.prom").read_text()
    samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
    return {f"{each.name} {each.labels.get('system', '')}".strip(): each.value for each in samples}


def scored(out: Path) -> bytes:
    """A successful run; its scores.json."""
    run = called(*ONE, "--output", out, "--format=json")
    assert (run.code, run.err) == (0, "")
    return run.out


# A run that is successful


def test_the_record_and_the_metrics_of_a_successful_run(out, monkeypatch):
    monkeypatch.chdir(PROJECT)
    run = called(*EXAMPLE, "--output", out, "--format=json")
    assert_files(out)
    assert (out / "_SUCCESS").read_bytes() == b""
    found = record(out)
    assert found["end"] == found["last_success"] > found["start"]
    assert 0 < found["seconds"] < 600
    assert found["versions"]["beam_bleu"] == VERSION
    facts = {
        **{"state": "done", "exit_code": 0, "message": None, "remedy": None, "segments": 72},
        "bytes": run.document["counters"]["bytes"],
        "folder": str(PROJECT),
        "runner": "FnApiRunner",
        "arguments": [*map(str, EXAMPLE), "--output", str(out), "--format=json"],
    }
    assert facts.items() <= found.items()

    found, now = gauges(out), time.time()
    expected = {
        "beam_bleu_segments": 72,
        "beam_bleu_bytes": run.document["counters"]["bytes"],
        "beam_bleu_empty_candidates": 0,
        "beam_bleu_warnings": 0,
        "beam_bleu_run_exit_code": 0,
        "beam_bleu_run_duration_seconds": record(out)["seconds"],
    }
    for row in run.document["scores"]:
        expected[f"beam_bleu_score {row['system']}"] = row["score"]
        expected[f"beam_bleu_score_standard_error {row['system']}"] = row["standard_error"]
    for row in run.document["comparisons"]:
        expected[f"beam_bleu_difference {row['system']}"] = row["difference"]
        expected[f"beam_bleu_difference_p_value_holm {row['system']}"] = row["p_value_holm"]
    assert expected.items() <= found.items()
    start, end = (found[f"beam_bleu_run_{which}_timestamp_seconds"] for which in ("start", "end"))
    assert now - 600 < start < end <= now
    assert found["beam_bleu_last_success_timestamp_seconds"] == end
    text = (out / "metrics.prom").read_text()
    assert f'signature="{run.signature}",version="{VERSION}"' in text


# A run that fails after a successful one


def assert_failed_rerun(out: Path, before: bytes, former: dict[str, Any], run: Run) -> None:
    """Checks that the folder shows the failure, and still has the former result."""
    assert sorted(os.listdir(out)) == sorted([*RESULT[1:], *RECORDS])
    assert (out / "scores.json").read_bytes() == before
    found = record(out)
    assert (found["state"], found["exit_code"]) == ("failed", run.code)
    told = run.err.splitlines()
    assert f"beam-bleu: {found['message']}" == told[0]
    assert [f"  {found['remedy']}"] == told[1:]
    assert found["last_success"] == former["end"]
    assert found["run"] != former["run"]
    values = gauges(out)
    assert values["beam_bleu_run_exit_code"] == run.code
    assert values["beam_bleu_last_success_timestamp_seconds"] > 0
    assert not [name for name in values if name.startswith(("beam_bleu_score", "beam_bleu_seg"))]


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--runner=PortableRunner", "--job_endpoint=127.0.0.1:9"], 1),
        ([f"--candidates=x={PROJECT}"], 2),  # it is found after the start
    ],
)
def test_bad_input(out, flags, code):
    before = scored(out)
    former = record(out)
    for _ in range(2):
        run = called(*ONE, *flags, "--output", out)
        run.assert_failed(code)
        assert_failed_rerun(out, before, former, run)
    assert scored(out) == before
    assert_files(out)


def test_a_usage_error_changes_nothing(out):
    called(*ONE, "--output", out, "--tokenize=13b").assert_failed(2)
    assert not out.exists()
    scored(out)
    before = {path: path.read_bytes() for path in out.iterdir()}
    called(*ONE, "--output", out, "--runner=PortableRunner").assert_failed(2)
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def running(out: Path) -> subprocess.Popen[bytes]:
    """A process whose job has started, and goes on until it is stopped."""
    process = endless_run(SCORING, [*ONE, "--max_ngram_order=2", "--output", out])
    while process.poll() is None and (
        (out / "_SUCCESS").exists() or record(out)["state"] != "running"
    ):
        time.sleep(0.01)
    return process


def test_a_run_that_is_stopped(out):
    before = scored(out)
    former = record(out)
    process = running(out)
    process.send_signal(signal.SIGTERM)
    printed, err = process.communicate(timeout=60)
    assert process.returncode == 143
    found = record(out)
    assert (found["state"], found["exit_code"]) == ("failed", 143)
    assert (found["message"], found["remedy"]) == ("stopped by SIGTERM", None)
    assert (printed, err.decode()) == (b"", "beam-bleu: stopped by SIGTERM\n")
    assert found["last_success"] == former["end"]
    assert (out / "scores.json").read_bytes() == before
    assert not (out / "_SUCCESS").exists()


# Two runs with one folder


@pytest.fixture
def during(monkeypatch):
    """Does something while a job runs, before it puts its result in place."""

    def do(work: Callable[[], None]) -> None:
        score_and_write = beam_bleu.pipeline.graph._score_and_write

        def meanwhile(*arguments):
            monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", score_and_write)
            work()
            score_and_write(*arguments)

        monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", meanwhile)

    return do


def test_a_run_that_fails_after_another_one_is_done(out, during):
    done = {}

    def another():
        scored(out)
        done.update({path: path.read_bytes() for path in out.iterdir()})
        raise JobError("failed", "try again")

    during(another)
    called(*ONE, "--max_ngram_order=2", "--output", out).assert_failed(1)
    assert {path: path.read_bytes() for path in out.iterdir()} == done
    assert_files(out)
    assert record(out)["state"] == "done"


def test_a_result_that_another_run_has_replaced_at_once_has_the_record_of_that_run(
    out, monkeypatch
):
    finished = beam_bleu.pipeline.main.RunRecord.finished
    during = []

    def then_another(self, result):
        monkeypatch.setattr(beam_bleu.pipeline.main.RunRecord, "finished", finished)
        during.append(called(*ONE, "--max_ngram_order=2", "--format=json", "--output", out))
        finished(self, result)

    monkeypatch.setattr(beam_bleu.pipeline.main.RunRecord, "finished", then_another)
    assert called(*ONE, "--output", out).code == 0
    assert "--max_ngram_order=2" in record(out)["arguments"]
    assert (out / "scores.json").read_bytes() == during[0].out
    assert_files(out)


# Writing them


def test_a_record_that_cannot_be_written_is_a_warning(out, monkeypatch):
    write = storage.write_atomically

    def refused(path, data):
        if path.endswith(("run.json", "metrics.prom")):
            raise JobError(f"{path} cannot be written: No space left", "check the folder")
        write(path, data)

    monkeypatch.setattr(storage, "write_atomically", refused)
    run = called(*ONE, "--format=json", "--output", out)
    assert (run.code, run.out) == (0, (out / "scores.json").read_bytes())
    why = f"{out}/run.json cannot be written: No space left"
    assert run.err == f"beam-bleu: warning: the record of the run is not complete: {why}\n"
    assert sorted(os.listdir(out)) == RESULT
    called(*ONE, "--references=missing.txt", "--output", out).assert_failed(3)


def test_the_page_has_the_metrics(out):
    page = sections((PROJECT / "docs/result.md").read_text())["Metrics"]
    of_run, of_result = (
        dict(re.findall(r"`(beam_bleu_\w+)(?:{(.*?)})?`", part))
        for part in " ".join(page.split()).split("A failed run has no others")
    )
    pairs = out.parent / "pairs.txt"
    pairs.write_text("en-de\n" * 72)
    languages = [*EXAMPLE, f"--labels=pair={pairs}", "--language_column=pair"]
    for flags, expected in (
        (["--on_bad_record=reject", "--metrics_slices=1"], of_run | of_result),
        (["--references=missing.txt"], of_run),
    ):
        called(*languages, *flags, "--output", out)
        families = {
            family.name: family
            for family in text_string_to_metric_families((out / "metrics.prom").read_text())
        }
        assert families.keys() == expected.keys()
        for name, family in families.items():
            assert family.type == "gauge"
            for sample in family.samples:
                assert ", ".join(sorted(sample.labels)) == expected[name]


def test_slices_in_metrics_have_a_bound(out):
    domains = [f"--labels=domain={PROJECT / 'examples' / 'domains.txt'}", "--slice_by=domain"]
    run = called(*EXAMPLE, *domains, "--metrics_slices=2", "--output", out, "--format=json")
    text = (out / "metrics.prom").read_text()
    found = {
        (sample.labels["slice"], sample.labels["system"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "beam_bleu_slice_score"
    }
    slices = [each for each in run.document["scores"] if each["slice"] is not None]
    sizes = {each["slice"]["domain"]: each["segments"] for each in slices}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:2]
    assert found == {
        (f"domain={each['slice']['domain']}", each["system"]): each["score"]
        for each in slices
        if each["slice"]["domain"] in largest
    }
    assert f"\nbeam_bleu_slices_left_out {len(sizes) - 2}.0\n" in text
