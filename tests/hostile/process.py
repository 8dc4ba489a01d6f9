"""Faults of the process: signals at random times, two runs at once."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from case import PATIENCE, Case, OutputFolder, check, check_refusal, check_success, complaints
from command_line import COMMAND, PROJECT, Argument, Run
from corpora import make_corpus, make_definition
from shards import plain_layout


def attack(case: Case) -> None:
    """Runs the command in a separate process, and disturbs it."""
    fault = case.random.choice([stopped, stopped, two_at_once])
    case.what = (fault.__doc__ or "").rstrip(".").lower()
    fault(case)


class _Job:
    """A command line without --output, and the bytes that its scores.json must have."""

    def __init__(self, case: Case, segments: int, name: str) -> None:
        corpus = make_corpus(case.random, segments, plain=True, streams=4)
        flags = ["--format=json", *make_definition(case.random).flags]
        flags += ["--segment_scores"] if case.chance(0.4) else []
        self.arguments = plain_layout(case.folder / name, corpus).arguments(*flags)
        alone = case.run(*self.arguments, "--output", case.folder / f"{name}-alone")
        self.rows = check_success(alone).get("segment_scores", {"rows": 0})["rows"]
        self.expected = alone.out

    def check_segment_scores(self, output: Path) -> None:
        """Checks that the folder has the segment scores of this job and no others."""
        part_files = (output / "segment_scores").glob("*.parquet")
        rows = sum(pq.read_metadata(part_file).num_rows for part_file in part_files)
        check(rows == self.rows, f"segment_scores/ has {rows} rows; scores.json says {self.rows}")


@contextlib.contextmanager
def _started(case: Case, arguments: Sequence[Argument]) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the command, with its own temporary folder. It is killed at the end."""
    temporary = case.folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _ended(process: subprocess.Popen[bytes]) -> Run:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        check(False, f"the process was still running after {PATIENCE} seconds")
    return Run(process.returncode, out, err.decode())


def stopped(case: Case) -> None:
    """A signal at a random time."""
    number = case.random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    early = case.chance(0.1)
    case.what += f": {number.name}" + (", early" if early else "")
    job = _Job(case, case.random.choice([60, 2000, 8000]), "in")
    output = OutputFolder(case)
    with _started(case, [*job.arguments, "--output", output.path]) as process:
        if early:
            time.sleep(case.random.random() * 0.3)
        else:
            _wait_for_handler(process)
            time.sleep(case.random.random() * 1.8)
        process.send_signal(number)
        run = _ended(process)
    killed = run.code < 0
    if run.out == job.expected:  # too late
        check(output.now == job.expected, "the result was printed, but is not in scores.json")
    else:
        codes = [128 + number] if number != signal.SIGKILL else [-number]
        if early:  # Python's own, before the command handles the signal
            codes += [-number, 1]
        check(run.code in codes, f"exit code {run.code}, expected {codes}: {run.err}")
        check(run.out == b"", f"a part of the result was printed: {run.out!r}")
        check(output.now in (output.before, job.expected), f"scores.json is {output.now!r}")
    if run.code == 128 + number and not early:
        told = [f"beam-bleu: stopped by {number.name}"]
        check(complaints(run) == told, f"stderr is {run.err!r}")
    if not killed:
        left = os.listdir(case.folder / "tmp")
        check(left == [], f"temporary files were left: {', '.join(left)}")
    output.check_no_litter(hidden_allowed=killed)
    again = case.run(*job.arguments, "--output", output.path)
    check_success(again)
    check(again.out == job.expected == output.now, "the next run has another result")
    job.check_segment_scores(output.path)
    output.check_no_litter(hidden_allowed=killed)


def _wait_for_handler(process: subprocess.Popen[bytes]) -> None:
    """Waits until the command handles SIGTERM."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
            if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
                return
        time.sleep(0.01)


def two_at_once(case: Case) -> None:
    """Two runs at the same time with one folder."""
    jobs = [_Job(case, segments, f"in-{segments}") for segments in (70, 2100)]
    output = OutputFolder(case)
    with contextlib.ExitStack() as stack:
        processes = []
        for job in case.random.sample(jobs, 2):
            arguments = [*job.arguments, "--output", output.path]
            processes.append((job, stack.enter_context(_started(case, arguments))))
            time.sleep(case.random.choice([0, 0.05, 0.3]))
        runs = [(job, _ended(process)) for job, process in processes]
    for job, run in runs:
        if "data files of the run are not in" in run.err:  # the other run has removed them
            check_refusal(run, codes=(1,))
            continue
        check_success(run)
        check(run.out == job.expected, "a run printed another result than its own")
    winners = [job for job in jobs if job.expected == output.now]
    check(len(winners) == 1, f"scores.json is of neither run: {output.now!r}")
    winners[0].check_segment_scores(output.path)
    output.check_no_litter()
