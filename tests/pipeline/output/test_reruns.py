"""--partition and --if_exists: what happens to a result that is already there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND, EXAMPLES, REFERENCES, SYSTEMS, called, streams, write_lines

DOCUMENTS = EXAMPLES / "documents.txt"
ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])
TWO = streams([SYSTEMS["birch"], SYSTEMS["atlas"]], REFERENCES[:1])
DAY = ["--partition=2026-11-21"]
DIFFERENT = "already has a different result"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


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


COINS = ["--resample=randomization", "--resamples=9"]
LABELS = ["--labels", f"document={DOCUMENTS}", "--labels", f"other={DOCUMENTS}"]
LENGTHS = ["--slice_by=length", "--length_edges"]

CHANGED = [
    # The flags of the result, those of the command that finds it, and what differs.
    (DAY, ["--partition=2026-11-22"], "evidence partition = 2026-11-22"),
    ([], ["-tok", "zh"], "metrics bleu text tokenize = zh"),
    ([], ["--references", REFERENCES[1]], f"references 2 = {REFERENCES[1]}"),
    ([], ["--segment_scores"], "metrics bleu segments = null"),
    ([], ["--baseline=atlas"], "baseline = atlas"),
    (["--compare=all"], [], "compare_all = false"),
    ([*LABELS, "--documents=other"], [*LABELS, "--documents=document"], "documents = document"),
    ([*LENGTHS, "5,9"], [*LENGTHS, "8,9"], "length_edges 1 = 8"),
]


@pytest.mark.parametrize(("there", "here", "cause"), CHANGED)
def test_skip_refuses_another_result(out, there, here, cause):
    scored(out, *there, files=TWO)
    before = content(out)
    run = called(*TWO, "--output", out, *here, "--if_exists=skip")
    run.assert_failed(2, DIFFERENT, cause)
    assert content(out) == before


SAME = [
    (["--segment_scores", "--segment_smooth_method=floor", "--compare_presets"],) * 2,
    (["--save_totals", "--examples=2", "--resample=bootstrap", "--resamples=20", "--seed=1"],) * 2,
    (["--documents", DOCUMENTS, *COINS],) * 2,
    (["--compare=all"], ["--compare=all", "--baseline=birch", "--threads=2"]),
    ([*LENGTHS, "2,9", "--max_slices=50"], [*LENGTHS, "2,9", "--fail_under=1"]),
]


@pytest.mark.parametrize(("there", "here"), SAME)
def test_skip_runs_nothing_and_shows_the_result(out, there, here):
    first = scored(out, *there, files=TWO)
    files = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    run = called(*TWO, "--output", out, *here, "--if_exists=skip", "--format=json")
    assert (run.code, run.out) == (0, first)
    assert f"{out} already has the result, so nothing was scored" in run.err
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == files


def test_skip_still_judges(out):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists=skip", "--fail_under=99")
    assert run.code == 4
    assert run.out
    assert content(out) == before


@pytest.mark.parametrize("choice", ["skip", "fail"])
def test_without_a_complete_result_the_job_runs(out, tmp_path, choice):
    flags = ["--save_totals", "--if_exists", choice]
    scored(out, *flags)
    scored(tmp_path / "other", "--tokenize=char", "--save_totals")
    for name in ("_SUCCESS", "scores.json", "totals.json"):
        if name != "scores.json":
            (out / name).unlink()
        else:  # that of another result
            (out / name).write_bytes((tmp_path / "other" / name).read_bytes())
        before = content(out)
        scored(out, *flags)
        assert content(out)["scores.json"][1] != before["scores.json"][1]
        assert (out / "totals.json").exists()


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
    for path in (candidates, references):
        scored(out, files=given)
        scored(out, "--if_exists=skip", files=given)
        before = path.read_bytes()
        times = os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns
        path.write_bytes(before[::-1].replace(b"\n", b"", 1) + b"\n")  # as long as before
        os.utime(path, ns=times)
        run = called(*given, "--output", out, "--if_exists=skip")
        run.assert_failed(2, "versions of the files", "--if_exists replace")
        path.write_bytes(before)
    scored(out, files=given)
    candidates.with_name("mt2.txt").write_text("one more\n")
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, "versions of the files")
    references.unlink()
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, "versions of the files")


def test_skip_refuses_files_that_have_changed_places(out, tmp_path):
    folders = [tmp_path / name for name in ("news", "ted", "kept")]
    for folder, text in zip(folders[:2], ("a b c d", "a b c e"), strict=True):
        folder.mkdir()
        (folder / "x.tsv").write_text(f"hyp\tref\n{text}\ta b c d\n")
    flags = ["--input", f"{tmp_path}/*/x.tsv", "--label_from_path", f"dom={tmp_path}/(*)/"]
    flags += ["--slice_by", "dom", "--output", out, "--if_exists", "skip", "--no_uncertainty"]
    assert called(*flags).code == 0
    for old, new in ((0, 2), (1, 0), (2, 1)):
        folders[old].rename(folders[new])
    called(*flags).assert_failed(2, "versions of the files")


@pytest.mark.parametrize(
    ("there", "here", "cause"),
    [
        (["--where", "x=1"], ["--where", "x=2"], "where 1 value = 2"),
        ([], ["--on_bad_record", "reject"], "on_bad_record = reject"),
        (["--allow=other-documents"], [], "allow 1 = other-documents"),
    ],
)
def test_skip_refuses_other_records(out, tmp_path, there, here, cause):
    """With another --where, it showed the score of other records."""
    rows = [
        {"hyp": "a b c d", "ref": "a b c d", "ref2": f"a b {i}", "x": 1 + i % 2} for i in range(9)
    ]
    path = write_lines(tmp_path / "rows.jsonl", map(json.dumps, rows))
    given = ["--input", path, "--candidate_columns", "hyp", "--reference_columns", "ref"]
    scored(out, *there, files=given)
    scored(out, *there, "--if_exists=skip", files=given)
    called(*given, *here, "--output", out, "--if_exists=skip").assert_failed(2, DIFFERENT, cause)


def test_skip_knows_nothing_of_pipes_and_of_older_results(out, texts):
    candidates, references, given = texts
    command = [*COMMAND, str(references), "--output", str(out), "--if_exists=skip"]
    for code in (0, 2):
        with candidates.open("rb") as stdin:
            done = subprocess.run(command, stdin=stdin, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    assert "candidates stdin is a pipe, whose text cannot be compared" in done.stderr
    scored(out, files=given)
    manifest = json.loads((out / "manifest.json").read_bytes())
    del manifest["request_sha256"], manifest["request"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, DIFFERENT)


def test_fail(out):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists", "fail")
    run.assert_failed(1, "already has a complete result", "--if_exists")
    assert content(out) == before


@pytest.mark.parametrize("choice", ["skip", "fail"])
def test_a_failure_before_the_job_leaves_a_complete_result(out, tmp_path, choice):
    scored(out)
    before = content(out)
    gone = streams([tmp_path / "gone.txt"], REFERENCES[:1])
    run = called(*gone, "--output", out, "--if_exists", choice, "--max_drop=1", "--against=none")
    assert run.code == 3
    assert content(out) == before
