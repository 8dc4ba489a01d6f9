"""Faults of the process: signals, a full disk, a damaged cache, two runs at once."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from case import Case
from checks import check, check_refusal, check_success, complaints
from command_line import COMMAND, PROJECT, Argument, Run
from definition import make_definition
from output_folder import OutputFolder
from shards import plain_layout
from texts import make_corpus

_PATIENCE = 120
"""Seconds after which a process hangs."""

_CACHES = PROJECT / "transforms" / "__pycache__"


def attack(case: Case) -> None:
    """Runs the command in a separate process, and disturbs it."""
    fault = case.random.choice(FAULTS)
    case.what = (fault.__doc__ or "").rstrip(".").lower()
    fault(case)


class _Job:
    """A command line, and the result that it must have.

    Attributes:
      arguments: all but --output.
      expected: the bytes of its scores.json.
    """

    def __init__(self, case: Case, segments: int, name: str) -> None:
        corpus = make_corpus(case.random, segments, plain=True, streams=4)
        definition = make_definition(case.random)
        flags = ["--format=json", *definition.flags]
        flags += ["--segment_scores"] if case.chance(0.4) else []
        self.arguments = plain_layout(case.folder / name, corpus).arguments(*flags)
        alone = case.run(*self.arguments, "--output", case.folder / f"{name}-alone")
        check_success(alone)
        self.expected = alone.out

    def check_segment_scores(self, output: Path) -> None:
        """Checks that the folder has the segment scores of this job and no others."""
        part_files = (output / "segment_scores").glob("*.parquet")
        rows = sum(pq.read_metadata(part_file).num_rows for part_file in part_files)
        expected = json.loads(self.expected).get("segment_scores", {"rows": 0})["rows"]
        check(rows == expected, f"segment_scores/ has {rows} rows; scores.json says {expected}")


@contextlib.contextmanager
def _started(
    case: Case, arguments: Sequence[Argument], **keywords: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the command, with its own temporary folder. It is killed at the end."""
    case.noted(arguments)
    temporary = case.folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), **keywords.pop("environment", {})}
    keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
    process = subprocess.Popen([*COMMAND, *arguments], cwd=PROJECT, env=environment, **keywords)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _ended(process: subprocess.Popen[bytes]) -> Run:
    try:
        out, err = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        check(False, f"the process was still running after {_PATIENCE} seconds")
    return Run(process.returncode, out or b"", err.decode())


# Faults


def _stopped(case: Case) -> None:
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
        codes += (
            [-number, 1] if early else []
        )  # Python's own, before the command handles the signal
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
    for _ in range(_PATIENCE * 100):
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
            if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
                return
        if process.poll() is not None:
            return
        time.sleep(0.01)


def _full_disk(case: Case) -> None:
    """No room for the output."""
    job = _Job(case, 60, "in")
    output = OutputFolder(case)
    most = case.random.choice([0, 1, case.random.randrange(400)])
    arguments = [*job.arguments, "--output", output.path]
    with _started(case, arguments) as process:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))  # before it writes
        run = _ended(process)
    check_refusal(run, codes=(1,))
    output.check_untouched()


def _full_stdout(case: Case) -> None:
    """A full device as stdout."""
    job = _Job(case, 60, "in")
    output = OutputFolder(case)
    with (
        open("/dev/full", "wb") as full,
        _started(case, [*job.arguments, "--output", output.path], stdout=full) as process,
    ):
        run = _ended(process)
    check_refusal(run, codes=(1,))
    check(output.now in (output.before, job.expected), f"scores.json is {output.now!r}")
    output.check_no_litter()


def _damaged_cache(case: Case) -> None:
    """Damaged files in the cache of compiled code."""
    caches = sorted(_CACHES.glob("beam-bleu-*"), key=lambda path: path.stat().st_mtime)
    cache = case.folder / "cache"
    shutil.copytree(caches[-1], cache / caches[-1].name)
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    for file in case.random.sample(files, min(len(files), case.random.choice([1, 1, 3]))):
        size = file.stat().st_size
        damages: list[Callable[[], object]] = [
            lambda file=file: file.write_bytes(b""),
            lambda file=file, size=size: os.truncate(file, case.random.randrange(size)),
            lambda file=file, size=size: file.write_bytes(case.random.randbytes(size)),
            lambda file=file: file.unlink(),
        ]
        case.random.choice(damages)()
        case.what += f", {file.name}"
    _check_with_cache(case, cache)


def _unwritable_cache(case: Case) -> None:
    """A cache folder that cannot be written."""
    cache = case.folder / "cache"
    if case.chance(0.5):
        cache.write_bytes(b"no folder")
    else:
        cache.mkdir(mode=0o500)  # root can still write to it
    _check_with_cache(case, cache)


def _check_with_cache(case: Case, cache: Path) -> None:
    job = _Job(case, 60, "in")
    environment = {"NUMBA_CACHE_DIR": str(cache)}
    arguments = [*job.arguments, "--output", case.folder / "out"]
    with _started(case, arguments, environment=environment) as process:
        run = _ended(process)
    check_success(run)
    check(run.out == job.expected, "another result than with the usual cache")


def _two_at_once(case: Case) -> None:
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


FAULTS = [
    *([_stopped] * 6),
    *(_full_disk, _full_stdout, _damaged_cache, _unwritable_cache, _two_at_once, _two_at_once),
]
