"""Computes what a job costs on a cluster: cores, storage and money, from measured figures.

    python -m benchmarks.engines.costs --cpu 0.9

The prices are assumptions: each one is a flag, so that you can give those that you pay.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

from beam_bleu.transforms.pairing.lines.ranges import range_bytes_for
from benchmarks.program import command_parser

_PAIR_BYTES = 251
"""Bytes of a candidate and a reference in the benchmarks' corpus."""

_PASSES = 2
"""How often the text is read: the lines are counted, then scored."""

_REQUEST_BYTES = 1 << 26
"""The most bytes that one request to an object store reads."""

_HOUR = 3600.0

_POWERS = (9, 12)

_PRICES = {"aws": 0.0504, "gcp": 0.0486, "azure": 0.0480}
"""Dollars for an hour of one virtual core, on demand, of a general-purpose machine with 4 GB for
each core: m7i.xlarge in us-east-1, n2-standard-4 in us-central1, D4s v5 in East US. They are list
prices of 2025, written from memory and not checked.
"""


@dataclasses.dataclass(frozen=True)
class Cluster:
    """What was measured of a job, and what is assumed of a cluster.

    Every worker has a core, which is paid from the command to the end of the job. After its start,
    the job takes the CPU of all pairs divided by the workers, or longer if storage is slower.

    Attributes:
      cpu: seconds of CPU for a million pairs, without starts.
      start_cpu: seconds of CPU of the start of a worker.
      start: seconds from the command to the first text.
      workers: the number of workers.
      storage: MB/s that storage gives each worker.
      prices: dollars for an hour of a core, by the name of a cloud.
      requests: dollars for 1,000 reading requests to an object store.
    """

    cpu: float = 0.9
    start_cpu: float = 1.0
    start: float = 15.0
    workers: int = 1000
    storage: float = 100.0
    prices: Mapping[str, float] = dataclasses.field(default_factory=_PRICES.copy)
    requests: float = 0.0004

    @property
    def needed(self) -> float:
        """MB/s that a core reads if it never waits."""
        return _PAIR_BYTES * _PASSES / self.cpu

    def core_hours(self, pairs: float) -> float:
        """Hours of CPU of all workers."""
        return (pairs / 1e6 * self.cpu + self.workers * self.start_cpu) / _HOUR

    def seconds(self, pairs: float, *, waits: bool) -> float:
        """From the command to the end.

        Args:
          pairs: the number of pairs.
          waits: whether storage has the assumed speed; otherwise no core waits for it.
        """
        factor = max(self.needed / self.storage, 1.0) if waits else 1.0
        return self.start + pairs / 1e6 * self.cpu / self.workers * factor

    def paid_hours(self, pairs: float, *, waits: bool) -> float:
        """Hours of cores that are paid."""
        return self.seconds(pairs, waits=waits) * self.workers / _HOUR


def costs(cluster: Cluster) -> list[str]:
    """The lines of a table with a column for each number of pairs."""
    slow = f"with {cluster.storage:g} MB/s for each core"
    fast = "if storage is that fast"
    rows: dict[str, Callable[[float], str]] = {
        "text": lambda pairs: _bytes(pairs * _PAIR_BYTES),
        "read from storage, twice": lambda pairs: _bytes(pairs * _PAIR_BYTES * _PASSES),
        "portions, about": lambda pairs: _number(
            pairs * _PAIR_BYTES / range_bytes_for(int(pairs * _PAIR_BYTES))
        ),
        "core hours of CPU": lambda pairs: _number(cluster.core_hours(pairs)),
        f"storage that keeps {cluster.workers:,} cores busy": lambda pairs: (
            f"{cluster.needed * cluster.workers / 1e3:,.0f} GB/s"
        ),
        f"time, {fast}": lambda pairs: _time(cluster.seconds(pairs, waits=False)),
        f"time, {slow}": lambda pairs: _time(cluster.seconds(pairs, waits=True)),
        f"core hours to pay, {fast}": lambda pairs: _number(cluster.paid_hours(pairs, waits=False)),
        f"core hours to pay, {slow}": lambda pairs: _number(cluster.paid_hours(pairs, waits=True)),
    }
    for cloud, price in cluster.prices.items():
        dollars = functools.partial(_dollars, cluster, price)
        rows[f"dollars for cores, {cloud}, {price:g} an hour"] = dollars
    rows["dollars for requests to the object store"] = lambda pairs: _number(
        pairs * _PAIR_BYTES * _PASSES / _REQUEST_BYTES / 1000 * cluster.requests
    )
    heads = " | ".join(f"10^{power} pairs" for power in _POWERS)
    return [
        f"| on {cluster.workers:,} workers | {heads} |",
        f"| --- |{' ---: |' * len(_POWERS)}",
        *(
            f"| {name} | {' | '.join(make(10.0**power) for power in _POWERS)} |"
            for name, make in rows.items()
        ),
    ]


def _dollars(cluster: Cluster, price: float, pairs: float) -> str:
    """What cores cost if they never wait, and if they wait for storage."""
    low, high = (cluster.paid_hours(pairs, waits=waits) * price for waits in (False, True))
    return f"{_number(low)} to {_number(high)}"


def _bytes(count: float) -> str:
    return f"{count / 1e9:,.0f} GB" if count < 1e12 else f"{count / 1e12:,.0f} TB"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


def _main() -> None:
    usual = Cluster()
    parser = command_parser((__doc__ or "").splitlines()[0])
    for name, what in {
        "cpu": "seconds of CPU for a million pairs, without starts",
        "start_cpu": "seconds of CPU of the start of a worker",
        "start": "seconds from the command to the first text",
        "workers": "the number of workers, each with one core",
        "storage": "MB/s that storage gives each worker",
        "requests": "dollars for 1,000 reading requests to an object store",
    }.items():
        value = getattr(usual, name)
        parser.add_argument(f"--{name}", type=type(value), default=value, help=what)
    for cloud, price in usual.prices.items():
        parser.add_argument(
            f"--{cloud}", type=float, default=price, help=f"dollars for an hour of a core, {cloud}"
        )
    flags = vars(parser.parse_args())
    prices = {cloud: flags.pop(cloud) for cloud in usual.prices}
    print("\n".join(costs(Cluster(**flags, prices=prices))))


if __name__ == "__main__":
    _main()
