"""The table of costs follows what was measured and what is assumed."""

from __future__ import annotations

import dataclasses

from benchmarks.engines.costs import Cluster, costs

# 10^12 pairs take a million seconds of CPU, which is 1,000 seconds for each worker.
CLUSTER = Cluster(cpu=1, start=0, start_cpu=0, storage=1000, prices={"ours": 1.0})


def column(cluster: Cluster) -> dict[str, str]:
    """The table's last column, by the names of its rows."""
    rows = [line.strip("| ").split(" | ") for line in costs(cluster)[2:]]
    return {row[0]: row[-1] for row in rows}


def test_a_core_that_never_waits_costs_its_cpu() -> None:
    found = column(CLUSTER)
    assert found["core hours of CPU"] == "278"
    assert found["time, if storage is that fast"] == "17 min"
    assert found["core hours to pay, if storage is that fast"] == "278"
    assert found["dollars for cores, ours, 1 an hour"] == "278 to 278"
    assert found["storage that keeps 1,000 cores busy"] == "502 GB/s"


def test_slow_storage_makes_the_cores_wait() -> None:
    found = column(dataclasses.replace(CLUSTER, storage=50.2))  # a tenth of what is needed
    assert found["time, with 50.2 MB/s for each core"] == "2.8 h"
    assert found["core hours to pay, with 50.2 MB/s for each core"] == "2,778"
    assert found["dollars for cores, ours, 1 an hour"] == "278 to 2,778"


def test_all_workers_start_and_wait_for_the_start() -> None:
    found = column(dataclasses.replace(CLUSTER, start=3600, start_cpu=3.6))
    assert found["core hours of CPU"] == "279"
    assert found["core hours to pay, if storage is that fast"] == "1,278"
