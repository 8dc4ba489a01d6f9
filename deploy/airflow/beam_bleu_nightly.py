"""A DAG for Airflow 3 that every night scores the texts of the day before and publishes the scores.

Copy this file into the DAG folder, and change it as you like; docs/nights.md explains it. It needs
only Airflow. beam-bleu is installed in a separate environment: Airflow starts its command, which
also finds, reads and writes the files. So INPUT, OUTPUT and PUBLISHED can be folders of this
machine or of an object store, such as s3://bucket/scores.

    INPUT/2026-11-20/systems/NAME.txt        one file for each system
    INPUT/2026-11-20/references/NAME.txt     one file for each stream of references
    INPUT/2026-11-20/_SUCCESS                written last, by whatever writes the texts
    INPUT/dt=2026-11-20/*.parquet            records instead, with RECORDS *.parquet, PREFIX dt=
    OUTPUT/2026-11-20/                       what beam-bleu writes
    PUBLISHED/2026-11-20.json                a copy of scores.json, if it passes the check
    PUBLISHED/history.jsonl                  a line for each day, metric and system
    (beam-bleu history OUTPUT shows what changed from day to day, and which days are missing)

The folders and limits are Variables of Airflow. Set them on its page "Variables", or in the
environment of its workers: AIRFLOW_VAR_BEAM_BLEU_INPUT=/data/translations.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
import os
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

from airflow.providers.standard.hooks.subprocess import SubprocessHook
from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

COMMAND = "{{ var.value.get('beam_bleu_command', 'beam-bleu') }}"
INPUT = (
    "{{ var.value.get('beam_bleu_input', '/data/translations') }}"
    "/{{ var.value.get('beam_bleu_prefix', '') }}{{ ds }}"
)
RECORDS = "{{ var.value.get('beam_bleu_records', '') }}"
OUTPUT = "{{ var.value.get('beam_bleu_output', '/data/scores') }}/{{ ds }}"
PUBLISHED = "{{ var.value.get('beam_bleu_published', '/data/published') }}"
FLAGS = "{{ var.value.get('beam_bleu_flags', '') }}"
LEAST_SEGMENTS = "{{ var.value.get('beam_bleu_least_segments', 1) }}"
GATES = "{{ var.value.get('beam_bleu_gates', '') }}"

NEVER_AGAIN = {
    2: "the command is wrong",
    3: "the input is missing or bad",
    4: "the result is written, but a score misses a threshold",
}
"""Exit codes of beam-bleu after which another attempt would fail, too."""

log = logging.getLogger(__name__)


def beam_bleu(command: str, *words: str, stdin: bytes = b"") -> bytes:
    """Runs a subcommand of beam-bleu that takes only seconds; returns its stdout."""
    done = subprocess.run([*shlex.split(command), *words], input=stdin, capture_output=True)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == 3:
        raise FileNotFoundError(said)
    if done.returncode != 0:
        raise AirflowException(f"{said} (exit code {done.returncode})")
    return done.stdout


class BeamBleu(BaseOperator):
    """Runs beam-bleu on the texts of a day. Airflow tries again only if that can help."""

    template_fields = ("command", "texts", "records", "scores", "day", "flags")

    def __init__(
        self,
        *,
        command: str,
        texts: str,
        records: str,
        scores: str,
        day: str,
        flags: str,
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self.command = command
        self.texts = texts
        self.records = records
        self.scores = scores
        self.day = day
        self.flags = flags

    def execute(self, context: Any) -> None:
        words = shlex.split(self.command)
        if self.records:
            words += ["--input", f"{self.texts}/{self.records}"]
        else:
            words += [*self.streams("--candidates", "systems")]
            words += [*self.streams("--references", "references")]
        words += ["--output", self.scores, "--partition", self.day]
        # Last, so that another --partition, for a fixed test set, overrides that of the day.
        words += shlex.split(self.flags)
        self.hook = SubprocessHook()
        code = self.hook.run_command(words).exit_code
        if code in NEVER_AGAIN:
            raise AirflowFailException(f"{NEVER_AGAIN[code]}: see above (exit code {code})")
        if code != 0:
            raise AirflowException(f"the job failed: see above (exit code {code})")

    def streams(self, flag: str, folder: str) -> Iterator[str]:
        try:
            listed = beam_bleu(self.command, "files", f"{self.texts}/{folder}/*.txt")
        except FileNotFoundError as error:
            raise AirflowFailException(str(error)) from error
        for file in os.fsdecode(listed).splitlines():
            yield from (flag, file)

    def on_kill(self) -> None:
        # A SIGTERM lets beam-bleu remove its temporary files.
        self.hook.send_sigterm()


class Gate(BaseOperator):
    """Judges the result of a day with `beam-bleu gate`, which scores nothing."""

    template_fields = ("command", "scores", "flags")

    def __init__(self, *, command: str, scores: str, flags: str, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.command = command
        self.scores = scores
        self.flags = flags

    def execute(self, context: Any) -> None:
        if not self.flags.strip():
            log.info("there are no gates: set the Variable beam_bleu_gates")
            return
        words = [*shlex.split(self.command), "gate", self.scores]
        if "max_drop" in self.flags.replace("-", "_"):
            # Another --against in the flags overrides this one.
            words += ["--against", os.path.dirname(self.scores)]
        words += shlex.split(self.flags)
        code = SubprocessHook().run_command(words).exit_code
        if code != 0:
            # Not tried again: the result would be judged in the same way.
            raise AirflowFailException(f"the result does not pass: see above (exit code {code})")


def is_complete(command: str, folder: str) -> bool:
    """Whether the texts of a day are complete."""
    try:
        beam_bleu(command, "files", f"{folder}/_SUCCESS")
    except FileNotFoundError as error:
        log.info("%s", error)
        return False
    return True


def check(command: str, output: str, least_segments: str) -> str:
    """Checks that a result is complete and plausible; returns the SHA-256 of its scores.json."""
    try:
        # A run removes _SUCCESS when it starts, and writes it last.
        beam_bleu(command, "files", f"{output}/_SUCCESS")
        data = beam_bleu(command, "copy", f"{output}/scores.json", "-")
        manifest = json.loads(beam_bleu(command, "copy", f"{output}/manifest.json", "-"))
    except FileNotFoundError as error:
        raise AirflowFailException(
            f"{output} is not the result of a run that has succeeded: {error}"
        ) from error
    checked = hashlib.sha256(data).hexdigest()
    if manifest["scores_sha256"] != checked:
        raise AirflowFailException(f"{output}: manifest.json belongs to another scores.json")
    document = json.loads(data)
    for warning in document["warnings"]:
        log.warning("%s", warning)
    if document["segments"] < int(least_segments):
        raise AirflowFailException(
            f"{document['segments']} segments were scored, and {least_segments} is the least"
        )
    if not whole(document):
        raise AirflowFailException(f"{output} has only scores of languages, and none to publish")
    return checked


def publish(command: str, output: str, published: str, day: str, checked: str) -> None:
    """Publishes the scores of a day, in place of scores published for this day before."""
    data = beam_bleu(command, "copy", f"{output}/scores.json", "-")
    if hashlib.sha256(data).hexdigest() != checked:
        raise AirflowFailException(
            f"another run has replaced {output}/scores.json since the check: clear the task check"
        )
    document = json.loads(data)
    beam_bleu(command, "copy", "-", f"{published}/{day}.json", stdin=data)
    history = f"{published}/history.jsonl"
    known = []
    # Only a list of files can show that there is no history yet: an unreadable one must stay.
    if b"/history.jsonl\n" in beam_bleu(command, "files", f"{published}/*.json*"):
        known = beam_bleu(command, "copy", history, "-").decode().splitlines()
    lines = [line for line in known if json.loads(line)["day"] != day]
    signatures = {each["metric"]: each["signature"] for each in document["metrics"]}
    for each in whole(document):
        row = {name: each[name] for name in ("metric", "system", "score", "segments")}
        lines.append(json.dumps({"day": day, **row, "signature": signatures[each["metric"]]}))
    lines.sort(key=lambda line: json.loads(line)["day"])
    beam_bleu(command, "copy", "-", history, stdin="".join(f"{line}\n" for line in lines).encode())


def whole(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The scores on the whole corpus, not on slices."""
    return [each for each in document["scores"] if each["slice"] is None]


with DAG(
    dag_id="beam_bleu_nightly",
    description="Scores the texts of the day before with BLEU, and publishes the scores",
    # Runs at 02:00 for the day before: {{ ds }} is the day on which the interval begins.
    schedule=CronDataIntervalTimetable("0 2 * * *", timezone="UTC"),
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    catchup=False,
    default_args={"retries": 2, "retry_delay": datetime.timedelta(minutes=10)},
    tags=["beam-bleu"],
):
    # "reschedule", so that it does not occupy a worker while it waits.
    wait = task.sensor(
        task_id="wait_for_input", mode="reschedule", poke_interval=300, timeout=6 * 3600
    )(is_complete)(COMMAND, INPUT)
    score = BeamBleu(
        task_id="score",
        command=COMMAND,
        texts=INPUT,
        records=RECORDS,
        scores=OUTPUT,
        day="{{ ds }}",
        flags=FLAGS,
        execution_timeout=datetime.timedelta(hours=6),
        # Two runs of the same day would write into the same folder.
        max_active_tis_per_dag=1,
    )
    checked = task(task_id="check")(check)(COMMAND, OUTPUT, LEAST_SEGMENTS)
    gate = Gate(task_id="gate", command=COMMAND, scores=OUTPUT, flags=GATES)
    # One at a time, because each of them changes the history.
    publishing = task(task_id="publish", max_active_tis_per_dag=1)(publish)
    wait >> score >> gate >> checked >> publishing(COMMAND, OUTPUT, PUBLISHED, "{{ ds }}", checked)
