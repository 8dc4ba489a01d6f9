"""Plans fake corpora of up to a petabyte and reports what the plan costs.

    python -m benchmarks.plans --output benchmarks/plans/PLAN.md

Only metadata is made up, nothing is read: the listing and the planning worker
run as they would, each in a process of its own, and every plan is checked
against where the newlines would be. It takes some 10 minutes, 10 GB of memory
and 1 GB of disk; `--only` takes the numbers of some corpora.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import tempfile
from typing import Any

from benchmarks.measure import run
from benchmarks.plans.fake_corpora import CORPORA
from benchmarks.plans.report import report
from benchmarks.program import add_output_flag, publish


def _measured(number: int) -> dict[str, Any]:
    """What planning a corpus took, in two processes one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder, "counts"))
        figures: dict[str, Any] = {"shuffles": {}}
        for step in ("list", "plan"):
            command = [sys.executable, "-m", "benchmarks.plans.steps", step, str(number), file]
            found = json.loads(run(command).stdout)
            figures["shuffles"].update(found.pop("shuffles"))
            figures.update(found)
    return figures


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plans", description="Measures the plan of massive corpora."
    )
    numbers = range(len(CORPORA))
    parser.add_argument(
        "--only",
        nargs="+",
        type=int,
        choices=numbers,
        metavar="N",
        help=", ".join(f"{number}: {CORPORA[number].name}" for number in numbers),
    )
    add_output_flag(parser)
    flags = parser.parse_args()
    measured = {}
    for number in flags.only or numbers:
        print(f"planning {CORPORA[number].name}", file=sys.stderr)
        measured[number] = _measured(number)
    publish(report(measured), flags.output)


if __name__ == "__main__":
    _main()
