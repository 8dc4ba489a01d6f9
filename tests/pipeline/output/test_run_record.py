"""_SUCCESS, run.json and metrics.prom: after each run the folder says how it went."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from command_line import EXAMPLE, PROJECT, REFERENCES, SYSTEMS, called, streams
from markdown_tables import sections
from prometheus_client.parser import text_string_to_metric_families
from result_folder import RECORDS, RESULT, assert_files

import beam_bleu.pipeline.graph
import beam_bleu.pipeline.main
from beam_bleu.pipeline.command_line.config import flags_without_secrets, our_parser
from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.output.run_record import redacted
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.version import VERSION

ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])


def record(out: Path) -> dict[str, Any]:
    return json.loads((out / "run.json").read_bytes())


def families(out: Path) -> list[Any]:
    return [*text_string_to_metric_families((out / "metrics.prom").read_text())]


def gauges(out: Path) -> dict[str, float]:
    """The values of metrics.prom by name, system and slice."""
    found = {}
    for each in (each for family in families(out) for each in family.samples):
        labels = (each.labels.get(name, "") for name in ("system", "slice"))
        found[" ".join([each.name, *labels]).strip()] = each.value
    return found


def scored(out: Path) -> bytes:
    """A successful run; its scores.json."""
    run = called(*ONE, "--output", out, "--format=json")
    assert (run.code, run.err) == (0, "")
    return run.out


def test_the_record_and_the_metrics_of_a_successful_run(out, monkeypatch):
    monkeypatch.chdir(PROJECT)
    domains = ["--labels=domain=examples/domains.txt", "--slice_by=domain", "--metrics_slices=2"]
    asked = [*map(str, EXAMPLE), *domains, "--output", str(out), "--format=json"]
    run = called(*asked)
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
        "arguments": asked,
    }
    assert facts.items() <= found.items()

    found, now = gauges(out), time.time()
    expected = {
        "beam_bleu_segments": 72,
        "beam_bleu_bytes": run.document["counters"]["bytes"],
        "beam_bleu_empty_candidates": 0,
        "beam_bleu_warnings": len(run.document["warnings"]),
        "beam_bleu_run_exit_code": 0,
        "beam_bleu_run_duration_seconds": record(out)["seconds"],
    }
    slices = [row for row in run.document["scores"] if row["slice"] is not None]
    sizes = {row["slice"]["domain"]: row["segments"] for row in slices}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:2]
    expected["beam_bleu_slices_left_out"] = len(sizes) - 2
    for row in run.document["scores"]:
        if row["slice"] is None:
            expected[f"beam_bleu_score {row['system']}"] = row["score"]
            expected[f"beam_bleu_score_standard_error {row['system']}"] = row["standard_error"]
        elif row["slice"]["domain"] in largest:
            name = f"beam_bleu_slice_score {row['system']} domain={row['slice']['domain']}"
            expected[name] = row["score"]
    assert len([name for name in found if "_slice_score " in name]) == 2 * len(SYSTEMS)
    for row in (each for each in run.document["comparisons"] if each["slice"] is None):
        expected[f"beam_bleu_difference {row['system']}"] = row["difference"]
        expected[f"beam_bleu_difference_p_value_holm {row['system']}"] = row["p_value_holm"]
    assert expected.items() <= found.items()
    start, end = (found[f"beam_bleu_run_{which}_timestamp_seconds"] for which in ("start", "end"))
    assert now - 600 < start < end <= now
    assert found["beam_bleu_last_success_timestamp_seconds"] == end
    text = (out / "metrics.prom").read_text()
    assert f'signature="{run.signature}",version="{VERSION}"' in text


def test_failures_one_after_another(out):
    called(*ONE, "--output", out, "--tokenize=13b").assert_failed(2)
    assert not out.exists()
    before = scored(out)
    former = record(out)
    files = {path: path.read_bytes() for path in out.iterdir()}
    called(*ONE, "--output", out, "--runner=PortableRunner").assert_failed(2)
    assert {path: path.read_bytes() for path in out.iterdir()} == files
    for flags, code in (
        (["--runner=PortableRunner", "--job_endpoint=127.0.0.1:9"], 1),
        ([f"--candidates=x={PROJECT}"], 2),  # it is found after the start
    ):
        run = called(*ONE, *flags, "--output", out)
        run.assert_failed(code)
        # The folder shows the failure, and still has the former result.
        assert sorted(os.listdir(out)) == sorted([*RESULT[1:], *RECORDS])
        assert (out / "scores.json").read_bytes() == before
        found, values = record(out), gauges(out)
        assert (found["state"], found["exit_code"]) == ("failed", run.code)
        assert run.err == f"beam-bleu: {found['message']}\n  {found['remedy']}\n"
        assert found["last_success"] == former["end"]
        assert found["run"] != former["run"]
        assert values["beam_bleu_run_exit_code"] == run.code
        assert values["beam_bleu_last_success_timestamp_seconds"] > 0
        of_result = ("beam_bleu_score", "beam_bleu_seg")
        assert not [name for name in values if name.startswith(of_result)]
    assert scored(out) == before
    assert_files(out)


def test_a_run_that_fails_after_another_one_is_done(out, monkeypatch):
    score_and_write, done = beam_bleu.pipeline.graph._score_and_write, {}

    def another(ends):
        monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", score_and_write)
        scored(out)
        done.update({path: path.read_bytes() for path in out.iterdir()})
        raise JobError("failed", "try again")

    monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", another)
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
        {f"beam_bleu_{name}": labels for name, labels in re.findall(r"`(\w+)(?:{(.*?)})?`", part)}
        for part in page.partition("- Always:")[2].split("- Only after a successful run")
    )
    pairs = out.parent / "pairs.txt"
    pairs.write_text("en-de\n" * 72)
    languages = [*EXAMPLE, f"--labels=pair={pairs}", "--language_column=pair"]
    for flags, expected in (
        (["--on_bad_record=reject", "--metrics_slices=1"], of_run | of_result),
        (["--references=missing.txt"], of_run),
    ):
        called(*languages, *flags, "--output", out)
        assert {family.name for family in families(out)} == expected.keys()
        for family in families(out):
            assert family.type == "gauge"
            for sample in family.samples:
                assert ", ".join(sorted(sample.labels)) == expected[family.name]


# Secrets on the command line


def test_secrets_are_hidden():
    for words, shown in [
        (["--s3_secret_access_key=abc"], ["--s3_secret_access_key=***"]),
        (["--s3_secret_access_key", "abc"], ["--s3_secret_access_key", "***"]),
        (["--experiments=auth_token=abc,other=1"], ["--experiments=***"]),
        (["--spark_master_url=https://me:abc@host/x"], ["--spark_master_url=https://***@host/x"]),
        (["--output", "s3://key:abc@host/x"], ["--output", "s3://***@host/x"]),
        # Names in a value:
        (["--headers=Authorization: Bearer abc"], ["--headers=***"]),
        ([r'--config={"env": "{\"DB_PASSWORD\": \"a b\"}"}'], ["--config=***"]),
        # Names without a gap:
        (["--", "--apikey", "abc"], ["--", "--apikey", "***"]),
        # Values that begin with a minus:
        (["--", "--use_token", "--password", "abc"], ["--", "--use_token", "***", "***"]),
        (["--use_token", "--output", "/data"], ["--use_token", "--output", "/data"]),
        # URLs:
        (["https://h/x?sig=abc&sv=1"], ["https://h/x?sig=***&sv=1"]),
        (["https://me:a@b/c@host/x"], ["https://***@host/x"]),
        (["hdfs://host:9000/a@b"], ["hdfs://host:9000/a@b"]),
        # Not secrets:
        (["--candidates", "token=a.txt"], ["--candidates", "token=a.txt"]),
        (["data/key=1/a.txt"], ["data/key=1/a.txt"]),
        (["--hdfs_port=1", "--save_main_session"], ["--hdfs_port=1", "--save_main_session"]),
    ]:
        assert redacted(words, frozenset(["--tokenize", "--candidates", "--output"])) == shown


def test_all_values_of_our_flags_are_shown():
    flags = [word for each in our_parser().actions() for word in each.option_strings]
    assert "--tokenize" in flags
    for flag in flags:
        assert redacted([flag, "value"], flags_without_secrets()) == [flag, "value"]


def test_the_command_hides_secrets(out):
    secret = "ab12cd34"
    flags = [f"--s3_secret_access_key={secret}", "--s3_session_token", secret]
    called(*ONE, "--output", out, *flags, f"--s3_endpoint_url=https://me:{secret}@host")
    for name in RECORDS:
        assert secret not in (out / name).read_text()
    assert [word for word in record(out)["arguments"] if "***" in word] == [
        "--s3_secret_access_key=***",
        "***",
        "--s3_endpoint_url=https://***@host",
    ]
