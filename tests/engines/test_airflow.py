"""The DAG of deploy/airflow runs in Airflow: on real files, with bad input, after a failed job."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
from command_line import (
    COMMAND,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    called,
    streams,
    write_texts_of_a_day,
)
from engine_parts import need

from deploy.local import parts

DAG = PROJECT / "deploy" / "airflow" / "beam_bleu_nightly.py"
DAY, NEXT_DAY = "2026-11-20", "2026-11-21"


class Airflow:
    """An Airflow with a database of its own, and the DAG, which a user has adapted."""

    def __init__(self, folder):
        self.python = parts.airflow()
        self.home, self.dags = folder / "airflow", folder / "dags"
        self.texts, self.published = folder / "texts", folder / "published"
        self.scores, self.command = folder / "scores", folder / "beam-bleu"
        self.variables = {}
        self.dags.mkdir()
        text = DAG.read_text()
        for ours, changed in (
            ("minutes=10)", "seconds=1)"),
            ("poke_interval=300, timeout=6 * 3600", "poke_interval=1, timeout=2"),
        ):
            assert text.count(ours) == 1
            text = text.replace(ours, changed)
        (self.dags / DAG.name).write_text(text)
        self.write_command("")
        self.run("db", "migrate", check=True)

    def write_command(self, first):
        """Writes the program that Airflow starts. It runs `first`, and then beam-bleu."""
        path = ":".join(sys.path)
        self.command.write_text(
            f"#!/bin/sh\n{first}\nPYTHONPATH='{path}' exec {' '.join(COMMAND)} \"$@\"\n"
        )
        self.command.chmod(0o755)

    def write_texts(self, day):
        """Writes the texts of a day, in place of those that another test has written."""
        folder = self.texts / day
        shutil.rmtree(folder, ignore_errors=True)
        return write_texts_of_a_day(folder)

    def run(self, *words, check=False):
        environment = {
            **os.environ,
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "AIRFLOW_VAR_BEAM_BLEU_COMMAND": str(self.command),
            "AIRFLOW_VAR_BEAM_BLEU_INPUT": str(self.texts),
            "AIRFLOW_VAR_BEAM_BLEU_OUTPUT": str(self.scores),
            "AIRFLOW_VAR_BEAM_BLEU_PUBLISHED": str(self.published),
            "AIRFLOW_VAR_BEAM_BLEU_FLAGS": "--lowercase --expect_segments 72",
            "AIRFLOW_VAR_BEAM_BLEU_GATES": "--fail_under 10",
            **self.variables,
        }
        environment.pop("PYTHONPATH", None)
        return subprocess.run(
            [self.python, "-m", "airflow", *words],
            cwd=self.home.parent,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=check,
            timeout=300,
        )

    def try_dag(self, day):
        """A test of the DAG; each task's state, and how often it was tried."""
        done = self.run("dags", "test", "beam_bleu_nightly", day)
        with sqlite3.connect(self.home / "airflow.db") as database:
            rows = database.execute(
                "select task_id, state, try_number from task_instance where run_id = "
                "(select run_id from dag_run order by id desc limit 1)"
            )
            return done, {task: (state, tries) for task, state, tries in rows}

    def history(self):
        lines = (self.published / "history.jsonl").read_text().splitlines()
        return [(row["day"], row["system"]) for row in map(json.loads, lines)]


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    need("airflow")
    return Airflow(tmp_path_factory.mktemp("airflow"))


SUCCESS = dict.fromkeys(("wait_for_input", "score", "gate", "check", "publish"), ("success", 1))
EXPECTED = streams(
    list(SYSTEMS.values()), REFERENCES, "--lowercase", "--expect_segments=72", "--format=json"
)


@pytest.mark.engines
def test_the_texts_of_a_day_are_scored_and_published(airflow):
    airflow.write_texts(DAY)
    done, tasks = airflow.try_dag(DAY)
    assert (done.returncode, tasks) == (0, SUCCESS), done.stdout
    assert (airflow.published / f"{DAY}.json").read_bytes() == called(
        *EXPECTED, f"--partition={DAY}"
    ).out
    assert airflow.history() == [(DAY, system) for system in SYSTEMS]


def test_the_records_of_a_partition_are_scored(airflow, monkeypatch):
    day, flags = "2026-11-24", "--candidate_columns hyp_* --reference_columns ref0"
    names = {"PREFIX": "dt=", "RECORDS": "*.parquet", "FLAGS": flags}
    variables = {f"AIRFLOW_VAR_BEAM_BLEU_{name}": value for name, value in names.items()}
    monkeypatch.setattr(airflow, "variables", variables)
    partition = airflow.texts / f"dt={day}"
    partition.mkdir(parents=True)
    shutil.copy(PROJECT / "examples" / "records" / "paired.parquet", partition)
    (partition / "_SUCCESS").touch()
    done, tasks = airflow.try_dag(day)
    assert (done.returncode, tasks) == (0, SUCCESS), done.stdout
    expected = called(
        "--input", partition / "*.parquet", *flags.split(), f"--partition={day}", "--format=json"
    )
    assert (airflow.published / f"{day}.json").read_bytes() == expected.out


def test_a_failed_job_is_tried_again_and_a_day_is_published_once(airflow, tmp_path):
    # A job that fails ends with 1. The second attempt scores the texts.
    attempts = tmp_path / "attempts"
    airflow.write_command(
        f'case $1 in --*) [ -e "{attempts}" ] || {{ touch "{attempts}"; exit 1; }} ;; esac'
    )
    airflow.write_texts(NEXT_DAY)
    done, tasks = airflow.try_dag(NEXT_DAY)
    airflow.write_command("")
    assert (done.returncode, tasks) == (0, {**SUCCESS, "score": ("success", 2)}), done.stdout
    published = airflow.history()
    assert airflow.try_dag(NEXT_DAY)[0].returncode == 0
    assert airflow.history() == published
    assert [*SYSTEMS] == [system for day, system in published if day == NEXT_DAY]


@pytest.mark.parametrize(
    ("day", "lines", "failed", "told"),
    [
        ("2026-11-22", slice(-1), "score", "the input is missing or bad: see above (exit code 3)"),
        ("2026-11-23", slice(None, None, -1), "gate", "failed  birch scores"),
    ],
)
def test_bad_texts_fail_a_task_at_once(airflow, day, lines, failed, told):
    text = airflow.write_texts(day) / "systems" / "birch.txt"
    text.write_bytes(b"".join(text.read_bytes().splitlines(keepends=True)[lines]))
    done, tasks = airflow.try_dag(day)
    assert done.returncode != 0
    place = [*SUCCESS].index(failed)
    states = [tasks[task] for task in SUCCESS]
    assert states[:place] == [("success", 1)] * place
    assert states[place] == ("failed", 1)  # not tried again
    assert {state for state, _ in states[place + 1 :]} == {"upstream_failed"}
    assert told in done.stdout
    assert not (airflow.published / f"{day}.json").exists()
