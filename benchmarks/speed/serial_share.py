"""The share of the CPU that threads cannot divide, and what follows for more cores.

    python -m benchmarks.speed.serial_share

Python code runs on one thread at a time, because it holds the interpreter's lock. Machine code of
compiled functions and reads of files do not hold it. So the program runs the command on one thread,
measures the CPU of these two, and counts all other CPU as serial: Beam's, and Python's on any
thread. Libraries that release the lock, such as pyarrow, count as serial, too: the share is an
upper bound. There are two shares. One is that of the run of the larger corpus. The other one leaves
out the cost of a start: it is that of the difference between two corpora. So the larger one must be
large: with 20,000 pairs this shows only that the program works. What follows for more cores is
computed by Amdahl's law.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import run
from benchmarks.program import add_corpus_flags, add_repeats_flag
from benchmarks.speed.results import Results, at_most
from benchmarks.speed.sizes import Sizes

_CORES = (4, 8, 16)


class _Stopwatch:
    """Adds up the CPU of calls of functions that do not hold the lock."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any) -> Any:
            begin = time.thread_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.thread_time() - begin

        return timed


def _run_inside(arguments: list[str]) -> NoReturn:
    """Runs the command in this process, and prints its CPU and that without the lock to stdout."""
    from beam_bleu.transforms.native import machine_code

    watch, called = _Stopwatch(), machine_code._CALLED
    # Only the machine code itself: Python holds the lock while it prepares the arguments.
    machine_code._CALLED = lambda address: watch.timed(called(address))  # type: ignore[assignment]
    from beam_bleu.pipeline import main as program
    from beam_bleu.transforms.pairing.files.chunks import PartMemory

    PartMemory.read = watch.timed(PartMemory.read)  # type: ignore[method-assign]
    end = program.end  # type: ignore[attr-defined]

    def tell_and_end(code: int) -> NoReturn:
        print()
        print(json.dumps({"cpu": time.process_time(), "without_lock": watch.seconds}), flush=True)
        end(code)

    program.end = tell_and_end  # type: ignore[attr-defined]
    sys.argv[1:] = arguments
    program.command()


def _seconds(text: Text) -> tuple[float, float]:
    """(all CPU, CPU that holds the lock) of a run on one thread."""
    module = "benchmarks.speed.serial_share"
    command = [sys.executable, "-m", module, "--inside", *text.arguments, "--threads=1"]
    found = json.loads(run(command).stdout.splitlines()[-1])
    return found["cpu"], found["cpu"] - found["without_lock"]


@dataclasses.dataclass(frozen=True)
class _Shares:
    """The shares of the CPU that threads cannot divide, and all CPU.

    Attributes:
      whole: the share of a whole run.
      without_start: the share of a run without its start.
      cpu: microseconds of all CPU of a pair, without the start.
    """

    whole: float
    without_start: float
    cpu: float


def serial(workspace: Workspace, sizes: Sizes) -> Results:
    """The share of the CPU that threads cannot divide."""
    shares = _shares(workspace, sizes.repeats)
    share = shares.without_start
    gains = ", ".join(f"{_gain(share, cores):.1f} times on {cores}" for cores in _CORES)
    what = "whole command without its start, share of the CPU with the interpreter's lock"
    note = (
        f"{shares.cpu:.3f} µs a pair; computed by Amdahl's law: {gains} cores; "
        f"with the start {shares.whole:.1%}"
    )
    return [at_most(5, " %", digits=1).figure(what, 100 * share, note)], []


def _shares(workspace: Workspace, repeats: int) -> _Shares:
    small, large = workspace.first_shard(), workspace.tenfold()
    _seconds(small)  # compiles
    runs = []
    for number in range(repeats):
        print(f"run {number + 1} of {repeats}", file=sys.stderr)
        runs.append((_seconds(small), _seconds(large)))
    cpu, locked = (
        statistics.median(after[part] - before[part] for before, after in runs) for part in (0, 1)
    )
    whole = statistics.median(locked / cpu for _, (cpu, locked) in runs)
    return _Shares(whole, locked / cpu, 1e6 * cpu / (large.pairs - small.pairs))


def _gain(share: float, cores: int) -> float:
    """How many times as fast as one core, by Amdahl's law."""
    return 1 / (share + (1 - share) / cores)


def _main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        _run_inside(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.serial_share")
    add_corpus_flags(parser)
    add_repeats_flag(parser, 3)
    flags = parser.parse_args()
    shares = _shares(Workspace(flags.work_dir, flags.pairs), flags.repeats)
    cpu, share = shares.cpu, shares.without_start
    print(f"CPU of a pair, without the start: {cpu:.3f} us")
    print(f"of it with the interpreter's lock: {cpu * share:.3f} us, {share:.1%}")
    print(f"the same share of the whole run, with the start: {shares.whole:.1%}")
    for cores in _CORES:
        gain = _gain(share, cores)
        print(f"computed, not measured: {cores} cores are {gain:.1f} times as fast as one")


if __name__ == "__main__":
    _main()
