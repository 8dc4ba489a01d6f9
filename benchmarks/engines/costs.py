"""Computes what a job costs on a cluster: cores, time and money, from measured figures.

    python -m benchmarks.engines.costs --cpu 0.9 --price 0.05

Every worker has a core, which is paid from the command to the end of the job. After its start, the
job takes the CPU of all pairs divided by the workers, or longer if storage is slower.
"""

from __future__ import annotations

import argparse

from beam_bleu.transforms.pairing.lines.ranges import range_bytes_for
from benchmarks.program import command_parser

_PAIR_BYTES = 251
"""Bytes of a candidate and a reference in the benchmarks' corpus."""

_PASSES = 2
"""How often the text is read: the lines are counted, then scored."""

_HOUR = 3600.0

_POWERS = (9, 12)


def _column(pairs: float, flags: argparse.Namespace) -> dict[str, str]:
    """What a number of pairs costs, by the name of the row."""
    text, needed = pairs * _PAIR_BYTES, _PAIR_BYTES * _PASSES / flags.cpu
    cpu = pairs / 1e6 * flags.cpu
    cells = {
        "text": _bytes(text),
        "read from storage, twice": _bytes(text * _PASSES),
        "portions, about": _number(text / range_bytes_for(int(text))),
        "core hours of CPU": _number((cpu + flags.workers * flags.start_cpu) / _HOUR),
        f"storage that keeps {flags.workers:,} cores busy": (
            f"{needed * flags.workers / 1e3:,.0f} GB/s"
        ),
    }
    for speed, storage in (
        ("if storage is that fast", needed),
        (f"with {flags.storage:g} MB/s for each core", flags.storage),
    ):
        seconds = flags.start + cpu / flags.workers * max(needed / storage, 1)
        hours = seconds * flags.workers / _HOUR
        cells[f"time, {speed}"] = _time(seconds)
        cells[f"core hours to pay, {speed}"] = _number(hours)
        cells[f"dollars for cores, {speed}"] = _number(hours * flags.price)
    return cells


def _bytes(count: float) -> str:
    return f"{count / 1e9:,.0f} GB" if count < 1e12 else f"{count / 1e12:,.0f} TB"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


def _main() -> None:
    parser = command_parser(__doc__)
    for name, value, what in (
        ("cpu", 0.9, "seconds of CPU for a million pairs, without starts"),
        ("start_cpu", 1.0, "seconds of CPU of the start of a worker"),
        ("start", 15.0, "seconds from the command to the first text"),
        ("workers", 1000, "the number of workers, each with one core"),
        ("storage", 100.0, "MB/s that storage gives each worker"),
        ("price", 0.05, "dollars for an hour of a core; the default is an assumption"),
    ):
        parser.add_argument(f"--{name}", type=type(value), default=value, help=what)
    flags = parser.parse_args()
    columns = [_column(10.0**power, flags) for power in _POWERS]
    heads = " | ".join(f"10^{power} pairs" for power in _POWERS)
    print(f"| on {flags.workers:,} workers | {heads} |\n| --- |{' ---: |' * len(_POWERS)}")
    for name in columns[0]:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")


if __name__ == "__main__":
    _main()
