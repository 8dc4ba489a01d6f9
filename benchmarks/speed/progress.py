"""Measures what the progress on a terminal costs: CPU of runs with it and without it.

    python -m benchmarks.speed.progress

Runs take turns, each on a pseudo-terminal, because the line on a terminal costs more than the
lines of a log. The figure is the median of the ratios of two runs that follow each other.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pty
import statistics
import subprocess
import sys

from benchmarks.corpus.workspace import Workspace
from benchmarks.measure import BEAM_BLEU, interleaved, run
from benchmarks.program import add_corpus_flags, command_parser

MOST = 1.01
"""The largest ratio that is allowed."""


def _main() -> None:
    flags = _parser().parse_args()
    if flags.on_a_terminal:
        sys.exit(_run_on_a_terminal(flags.on_a_terminal))
    text = Workspace(flags.work_dir, flags.pairs).whole()
    wrapper = [sys.executable, "-m", "benchmarks.speed.progress", "--on_a_terminal"]
    command = [*wrapper, *BEAM_BLEU, *text.arguments]
    off, on = interleaved(
        [
            lambda: run([*command, "--progress", "off"]),
            lambda: run([*command, "--progress", "on"]),
        ],
        flags.times,
        warm_up=True,
    )
    pairs = list(zip(off, on, strict=True))
    ratio = statistics.median(with_it.cpu / without.cpu for without, with_it in pairs)
    for without, with_it in pairs:
        print(f"off {without.cpu:.2f} s, on {with_it.cpu:.2f} s")
    print(f"{text.pairs:,} pairs, load {os.getloadavg()[0]:.1f}, median of {len(pairs)} ratios: ")
    print(f"CPU with progress / without: {ratio:.4f} (at most {MOST})")
    sys.exit(ratio > MOST)


def _run_on_a_terminal(command: list[str]) -> int:
    """Runs a command with a pseudo-terminal as stderr; returns its exit code."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stderr=theirs, env=environment)
    os.close(theirs)
    with contextlib.suppress(OSError):  # the end, on Linux
        while os.read(ours, 1 << 16):
            pass
    return process.wait()


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("Measures what the progress on a terminal costs.")
    add_corpus_flags(parser)
    parser.add_argument(
        "--times", type=int, default=15, metavar="N", help="runs of each kind, default %(default)s"
    )
    parser.add_argument(
        "--on_a_terminal",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="only run a command with a terminal as stderr; for the program itself",
    )
    return parser


if __name__ == "__main__":
    _main()
