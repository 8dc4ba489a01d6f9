"""Thresholds in a run: the result is written, and then the run fails."""

from __future__ import annotations

import json

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams, write_lines
from result_folder import assert_files

ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def record(out):
    return json.loads((out / "run.json").read_bytes())


def test_the_result_is_complete_and_shown(out):
    plain = called(*EXAMPLE, "--format=json")
    run = called(*EXAMPLE, "--output", out, "--format=json", "--fail_under", "99.5")
    assert run.code == 4
    assert run.out == (out / "scores.json").read_bytes() == plain.out
    assert_files(out)
    cause, remedy = run.err.splitlines()[-2:]
    assert cause.startswith("beam-bleu: 3 checks failed: atlas scores ")
    assert f"beam-bleu gate {out}" in remedy
    found = record(out)
    assert (found["state"], found["exit_code"]) == ("done", 4)
    assert f"beam-bleu: {found['message']}" == cause
    assert found["last_success"] == found["end"]
    assert "\nbeam_bleu_run_exit_code 4.0\n" in (out / "metrics.prom").read_text()
    assert called("gate", out, "--fail_under", "99.5").code == 4


def test_a_run_is_compared_with_the_last_night_that_passed(tmp_path):
    def night(day, system, *flags):
        texts = streams([f"mt={SYSTEMS[system]}"], REFERENCES[:1])
        return called(*texts, "--output", tmp_path / f"2026-11-{day}", *flags)

    gate = ["--max_drop=1", "--drop=proven", "--against", tmp_path]
    first = night(18, "atlas", *gate)
    assert first.code == 0
    assert f"no night in {tmp_path} before {tmp_path}/2026-11-18 has passed" in first.err
    assert night(19, "cobalt", "--fail_under=99").code == 4
    found = record(tmp_path / "2026-11-19")
    assert (found["verdict"], found["verdict_message"]) == ("failed", found["message"])
    worse = night(20, "cobalt", *gate)
    assert worse.code == 4
    assert f" of {tmp_path}/2026-11-18 " in worse.err
    # Somebody accepts the drop, and the next night has a new standard.
    assert called("gate", tmp_path / "2026-11-20", "--fail_under=1").code == 0
    assert night(21, "cobalt", *gate).code == 0


def test_a_result_that_passes_with_a_warning(out):
    run = called(*ONE, "--output", out, "--fail_under", "birch=1", "--warn_under", "99")
    assert run.code == 0
    (warning,) = [line for line in run.err.splitlines() if "--warn_under" in line]
    assert warning.startswith("beam-bleu: warning: birch scores ")
    assert warning.endswith(record(out)["warnings"][0])
    assert "--warn_under" not in (out / "scores.json").read_text()


def test_a_drop_against_the_result_in_the_same_folder(out):
    assert called(*ONE, "--output", out).code == 0
    flags = ["--max_drop", "0.5", "--against", out]
    run = called(*ONE, "--output", out, *flags)
    assert run.code == 0, run.err  # nothing has changed
    # A better system does not drop, a worse one does.
    better = streams([f"birch={SYSTEMS['atlas']}"], REFERENCES[:1])
    worse = streams([f"birch={SYSTEMS['cobalt']}"], REFERENCES[:1])
    assert called(*better, "--output", out, *flags).code == 0
    run = called(*worse, "--output", out, *flags, "--drop", "proven")
    assert run.code == 4
    assert "a drop of more than 0.5 is proven" in run.err


def test_an_unreadable_or_another_result_ends_the_run_before_it_starts(out, tmp_path):
    drop = ["--max_drop", "0.5", "--against"]
    called(*ONE, "--output", out, *drop, tmp_path / "none").assert_failed(3, "there is no")
    assert not (out / "scores.json").exists()
    assert called(*ONE, "--output", tmp_path / "old", "-lc").code == 0
    run = called(*ONE, "--output", out, *drop, tmp_path / "old")
    run.assert_failed(3, "case:lc", "case:mixed")
    assert not (out / "scores.json").exists()


def test_what_cannot_exist_is_refused_before_the_run(out):
    for words, fragments in {
        "--fail_under=tuned=1": ["--fail_under tuned=1: this run has no such system", "of birch"],
        "--fail_under=birch[domain=news]=1": ["are by none"],
        "--fail_under=birch[domain=news]=1 --slice_by=length": ["are by length"],
    }.items():
        called(*ONE, "--output", out, *words.split()).assert_failed(2, *fragments)
        assert not (out / "scores.json").exists()


def test_a_system_that_is_missing_fails_after_the_result(out, tmp_path):
    # The systems of such records are known only when the records are read.
    lines = [{"id": i, "system": "birch", "mt": f"a b c d {i}", "ref": "a b c"} for i in range(9)]
    records = write_lines(tmp_path / "long.jsonl", map(json.dumps, lines))
    found = [f"--input={records}", "--candidate_columns=mt", "--reference_columns=ref"]
    found += ["--system_column=system", "--id_column=id"]
    run = called(*found, "--output", out, "--fail_under", "tuned=1")
    assert run.code == 4
    assert "it has no score of tuned" in run.err
    assert_files(out)
