"""--partition and --if_exists: what happens to a result that is already there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND, EXAMPLES, REFERENCES, SYSTEMS, called, streams

DOCUMENTS = EXAMPLES / "documents.txt"
ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])
TWO = streams([SYSTEMS["birch"], SYSTEMS["atlas"]], REFERENCES[:1])
DAY = ["--partition=2026-11-21"]
DIFFERENT = "already has a different result"


def content(out: Path) -> dict[str, tuple[bytes, int]]:
    """Each file in the folder: its bytes, and when it was changed."""
    return {path.name: (path.read_bytes(), os.stat(path).st_mtime_ns) for path in out.iterdir()}


def scored(out: Path, *flags: Any, files: Any = ONE) -> bytes:
    run = called(*files, "--output", out, *flags, "--format=json")
    assert run.code == 0, run.err
    return run.out


def test_the_label_is_in_the_result_and_in_the_records(out):
    assert json.loads(scored(out, *DAY))["partition"] == "2026-11-21"
    assert json.loads((out / "run.json").read_bytes())["partition"] == "2026-11-21"
    # As a label, each night would begin a new time series.
    assert "2026-11-21" not in (out / "metrics.prom").read_text()
    assert "partition" not in json.loads(scored(out))


LABELS = ["--labels", f"document={DOCUMENTS}", "--labels", f"other={DOCUMENTS}"]
LENGTHS = ["--slice_by=length", "--length_edges"]


def test_skip_refuses_another_result(out):
    there = [*LABELS, "--documents=other", *LENGTHS]
    scored(out, *DAY, *there, "5,9", files=TWO)
    before = content(out)
    for here, cause in (
        ([*there, "5,9", "--partition=2026-11-22"], "evidence partition = 2026-11-22"),
        ([*DAY, *there, "5,9", "-tok", "zh"], "metrics bleu text tokenize = zh"),
        ([*DAY, *there, "5,9", "--references", REFERENCES[1]], f"references 2 = {REFERENCES[1]}"),
        ([*DAY, *there, "5,9", "--baseline=atlas"], "baseline = atlas"),
        ([*DAY, *LABELS, "--documents=document", *LENGTHS, "5,9"], "documents = document"),
        ([*DAY, *there, "8,9"], "length_edges 1 = 8"),
    ):
        run = called(*TWO, "--output", out, *here, "--if_exists=skip")
        run.assert_failed(2, DIFFERENT, cause)
        assert content(out) == before


MORE = ["--save_totals", "--examples=2", "--resample=bootstrap", "--resamples=20"]
SAME = [
    (
        [*LENGTHS, "2,9", "--max_slices=50", "--segment_scores", "--compare_presets"],
        [*LENGTHS, "2,9", "--warn_under=1", "--segment_scores", "--compare_presets"],
    ),
    (
        [*MORE, "--compare=all"],
        [*MORE, "--compare=all", "--baseline=birch", "--threads=2"],
    ),
]


@pytest.mark.parametrize(("there", "here"), SAME, ids=["slices", "totals"])
def test_skip_runs_nothing_and_shows_the_result(out, there, here):
    first = scored(out, *there, files=TWO)
    files = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    run = called(*TWO, "--output", out, *here, "--if_exists=skip", "--format=json")
    assert (run.code, run.out) == (0, first)
    assert f"{out} already has the result, so nothing was scored" in run.err
    # It is judged, though.
    run = called(*TWO, "--output", out, *here, "--if_exists=skip", "--fail_under=99")
    assert run.code == 4
    assert run.out
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == files


def test_without_a_complete_result_the_job_runs(out, tmp_path):
    flags = ["--save_totals", "--examples=1", "--if_exists=skip"]
    scored(out, *flags)
    scored(tmp_path / "other", "--tokenize=char", "--save_totals")
    for name in ("_SUCCESS", "scores.json", "totals.json", "examples.jsonl"):
        if name != "scores.json":
            (out / name).unlink()
        else:  # that of another result
            (out / name).write_bytes((tmp_path / "other" / name).read_bytes())
        before = content(out)
        scored(out, *flags)
        assert content(out)["scores.json"][1] != before["scores.json"][1]
        assert {"totals.json", "examples.jsonl"} <= {*os.listdir(out)}


@pytest.fixture
def texts(tmp_path):
    """Files of a system and of references, and the arguments that score them."""
    folder = tmp_path / "texts"
    folder.mkdir()
    paths = [folder / "mt.txt", folder / "ref.txt"]
    for path, source in zip(paths, (SYSTEMS["birch"], REFERENCES[0]), strict=True):
        path.write_bytes(source.read_bytes())
    return *paths, streams([f"mt={folder}/mt*.txt"], [f"{folder}/ref*.txt"])


def test_skip_refuses_files_that_have_changed(out, texts):
    """It showed the score of the old texts."""
    candidates, references, given = texts
    scored(out, files=given)
    before = references.read_bytes()
    times = os.stat(references).st_atime_ns, os.stat(references).st_mtime_ns
    references.write_bytes(before[::-1].replace(b"\n", b"", 1) + b"\n")  # as long as before
    os.utime(references, ns=times)
    run = called(*given, "--output", out, "--if_exists=skip")
    run.assert_failed(2, "versions of the files", "--if_exists replace")
    references.write_bytes(before)
    scored(out, files=given)
    candidates.with_name("mt2.txt").write_text("one more\n")
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, "versions of the files")
    references.unlink()
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, "versions of the files")


def test_skip_knows_nothing_of_pipes_and_of_older_results(out, texts):
    candidates, references, given = texts
    scored(out, files=given)
    with candidates.open("rb") as stdin:
        command = [*COMMAND, str(references), "--output", str(out), "--if_exists=skip"]
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "candidates stdin is a pipe, whose text cannot be compared" in done.stderr
    manifest = json.loads((out / "manifest.json").read_bytes())
    del manifest["request_sha256"], manifest["request"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, DIFFERENT)


def test_fail_changes_nothing_even_if_the_run_could_not_begin(out, tmp_path):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists", "fail")
    run.assert_failed(1, "already has a complete result", "--if_exists")
    gone = streams([tmp_path / "gone.txt"], REFERENCES[:1])
    run = called(*gone, "--output", out, "--if_exists=fail", "--max_drop=1", "--against=none")
    assert run.code == 3
    assert content(out) == before
