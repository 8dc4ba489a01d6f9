"""The script for cron scores texts of an object store, and keeps its results there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bucket import Folder
from command_line import COMMAND, PROJECT, SYSTEMS, called, write_texts_of_a_day

SCRIPT = PROJECT / "deploy" / "cron" / "nightly.sh"


def put_texts(folder: Folder, texts: Path, day: str, **systems: str) -> None:
    """Puts the texts of a day.

    Args:
      folder: where to put them.
      texts: a new folder for them on this machine.
      day: the day.
      systems: the system whose texts are put in the place of those of another one.
    """
    for file in write_texts_of_a_day(texts).rglob("*.txt"):
        text = SYSTEMS[systems.get(file.stem, file.stem)] if file.stem in SYSTEMS else file
        folder.put(f"texts/{day}/{file.relative_to(texts)}", text.read_bytes())
    folder.put(f"texts/{day}/_SUCCESS", b"")


def test_the_script_finds_texts_and_earlier_nights_on_an_object_store(store, tmp_path):
    folder = Folder(store)
    command = tmp_path / "beam-bleu"
    command.write_text(
        f"#!/bin/sh\nPYTHONPATH='{':'.join(sys.path)}' exec {' '.join(COMMAND)} \"$@\"\n"
    )
    command.chmod(0o755)
    metrics = tmp_path / "metrics.prom"
    environment = {
        **store.environment(),
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ["HOME"],
        "BEAM_BLEU": str(command),
        "TEXTS": f"{folder.url}/texts",
        "SCORES": f"{folder.url}/scores",
        "METRICS": str(metrics),
        "GATES": "--max_drop 1 --drop proven",
    }

    def run(day: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPT, day], env=environment, capture_output=True, text=True, timeout=120
        )

    put_texts(folder, tmp_path / "first", "2026-11-18")
    put_texts(folder, tmp_path / "second", "2026-11-20", atlas="cobalt")
    first = run("2026-11-18")
    assert first.returncode == 0, first.stderr
    assert "before 2026-11-18 has passed" in first.stderr.replace(f"{folder.url}/scores/", "")
    local = called(
        *(f"--candidates={file}" for file in sorted((tmp_path / "first/systems").iterdir())),
        *(f"--references={file}" for file in sorted((tmp_path / "first/references").iterdir())),
        "--partition=2026-11-18",
        "--format=json",
    )
    assert folder.get("scores/2026-11-18/scores.json") == local.out
    assert "beam_bleu_run_exit_code 0.0\n" in metrics.read_text()

    absent = run("2026-11-19")
    assert absent.returncode == 3
    assert f"nothing matches {folder.url}/texts/2026-11-19/_SUCCESS" in absent.stderr
    assert "the texts of 2026-11-19 are not complete" in absent.stderr

    worse = run("2026-11-20")
    assert worse.returncode == 4, worse.stderr
    assert "\nfailed  atlas" in worse.stdout
    assert f"{folder.url}/scores/2026-11-18" in worse.stdout
    assert "beam_bleu_gate_passed 0.0\n" in metrics.read_text()

    history = subprocess.run(
        [command, "history", f"{folder.url}/scores", "--format=json"],
        env=environment,
        capture_output=True,
        timeout=120,
    )
    assert (history.returncode, history.stderr) == (0, b"")
    document = json.loads(history.stdout)
    assert document["nights"] == ["2026-11-18", "2026-11-20"]
    assert [gap["night"] for gap in document["gaps"]] == ["2026-11-19"]
