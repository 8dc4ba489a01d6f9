"""The script for cron, and the crontab of docs/nights.md, do what the page says."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from command_line import (
    PROJECT,
    REFERENCES,
    SYSTEMS,
    called,
    streams,
    write_texts_of_a_day,
)
from shells import run_shell

SCRIPT = PROJECT / "deploy" / "cron" / "nightly.sh"


@pytest.fixture
def folders(tmp_path) -> dict[str, str]:
    """An environment as cron's, with folders for this test."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ["HOME"],
        "BEAM_BLEU": str(tmp_path / "bin" / "beam-bleu"),
        "TEXTS": str(tmp_path / "texts"),
        "SCORES": str(tmp_path / "scores"),
    }


def write_texts(folders: dict[str, str], day: str) -> Path:
    return write_texts_of_a_day(Path(folders["TEXTS"], day))


def run(day, folders):
    folder = Path(folders["BEAM_BLEU"]).parent
    shutil.rmtree(folder, ignore_errors=True)
    return run_shell([SCRIPT, day], folder, folders)


def test_the_script_scores_the_day_that_is_given(folders):
    texts = write_texts(folders, "2026-11-20")
    link = texts / "link.prom"
    link.symlink_to("2026-11-19")
    labelled = {**folders, "FLAGS": "--metrics_label corpus=news", "METRICS": str(link)}
    assert run("2026-11-20", labelled).returncode == 0
    scores = Path(folders["SCORES"], "2026-11-20", "scores.json")
    label = ["--format=json", "--partition=2026-11-20"]
    expected = called(*streams(list(SYSTEMS.values()), REFERENCES, *label)).out
    assert scores.read_bytes() == expected
    assert 'beam_bleu_run_exit_code{corpus="news"} 0.0\n' in link.read_text()
    (texts / "references" / "a.txt").write_text("one line\n")
    done = run("2026-11-20", labelled)
    assert done.returncode == 3
    assert 'beam_bleu_run_exit_code{corpus="news"} 3.0\n' in link.read_text()
    assert "references 1 have 1 line" in done.stderr
    assert scores.read_bytes() == expected


def test_the_script_scores_the_records_of_a_partition(folders):
    partition = Path(folders["TEXTS"], "dt=2026-11-20")
    partition.mkdir(parents=True)
    shutil.copy(PROJECT / "examples" / "records" / "paired.parquet", partition / "part-0.parquet")
    records = {
        **folders,
        "PREFIX": "dt=",
        "RECORDS": "*.parquet",
        "FLAGS": "--candidate_columns hyp_* --reference_columns ref0",
    }
    assert run("2026-11-20", records).returncode == 3
    (partition / "_SUCCESS").touch()
    assert run("2026-11-20", records).returncode == 0
    scores = Path(folders["SCORES"], "2026-11-20", "scores.json").read_bytes()
    flags = [*records["FLAGS"].split(), "--partition=2026-11-20", "--format=json"]
    assert scores == called("--input", partition / "*.parquet", *flags).out


def test_a_signal_to_the_script_ends_beam_bleu_in_order(folders, tmp_path):
    write_texts(folders, "2026-11-20")
    ended, link = tmp_path / "ended", tmp_path / "link.prom"
    command = tmp_path / "command"
    command.write_text(
        "#!/bin/sh\n[ $1 != files ] || exit 0\n"
        f"trap 'sleep 0.1; echo in order >{ended}; exit 143' TERM\n"
        "echo ready\nfor _ in $(seq 500); do sleep 0.02; done\n"
    )
    command.chmod(0o755)
    environment = {**folders, "METRICS": str(link), "BEAM_BLEU": str(command)}
    with subprocess.Popen(
        [str(SCRIPT), "2026-11-20"], env=environment, stdout=subprocess.PIPE, text=True
    ) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == "ready\n"
        script.send_signal(signal.SIGTERM)
        assert script.wait(timeout=10) == 143
    assert ended.read_text() == "in order\n"
    assert link.is_symlink()


def test_the_script_does_not_score_texts_that_are_not_complete(folders):
    texts = write_texts(folders, "2026-11-20")
    (texts / "_SUCCESS").unlink()
    done = run("2026-11-20", folders)
    assert (done.returncode, done.stdout) == (3, "")
    what, _, cause, remedy = done.stderr.splitlines()
    assert what.endswith(f" {texts}/_SUCCESS")
    assert "the texts of 2026-11-20 are not complete" in cause
    assert f"{SCRIPT} 2026-11-20" in remedy
    assert not Path(folders["SCORES"]).exists()


def test_the_gates_of_the_script_compare_with_the_last_night_that_passed(folders, tmp_path):
    metrics = tmp_path / "link.prom"
    folders["SCORES"] += " of all nights"
    gated = {**folders, "GATES": "--drop proven --max-drop 1", "METRICS": str(metrics)}
    write_texts(folders, "2026-11-18")
    first = run("2026-11-18", gated)
    assert first.returncode == 0
    assert first.stderr.startswith("beam-bleu: warning: no night in ")
    scores = Path(folders["SCORES"])
    for other in ("2026-11-19", "2026-11-25"):  # the run of the first one has failed since
        shutil.copytree(scores / "2026-11-18", scores / other)
    (scores / "2026-11-19" / "_SUCCESS").unlink()
    texts = write_texts(folders, "2026-11-20")
    shutil.copy(texts / "systems" / "cobalt.txt", texts / "systems" / "atlas.txt")
    worse = run("2026-11-20", gated)
    assert worse.returncode == 4
    assert "\nfailed  atlas" in worse.stdout
    assert f"{scores}/2026-11-18" in worse.stdout
    assert "\nbeam_bleu_gate_passed 0.0\n" in metrics.read_text()
