"""Plans fake corpora of up to a petabyte, and reports the cost of the plans.

    python -m benchmarks.plans --output benchmarks/plans/PLAN.md

Only metadata exists, and no text is read. The worker that lists files and the worker that
plans run as in a real job, each in a separate process. Every plan is checked with the places
where the newlines would be. This takes about 10 minutes, 10 GB of memory and 1 GB of disk.
`--only` takes the numbers of the corpora to plan.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
from typing import Any

from benchmarks.measure import run
from benchmarks.plans.fake_corpora import CORPORA
from benchmarks.plans.report import report
from benchmarks.program import add_output_flag, command_parser, publish


def _measured(number: int) -> dict[str, Any]:
    """The cost of planning a corpus, in two processes, one after the other."""
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
    parser = command_parser("Measures the plan of massive corpora.")
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
