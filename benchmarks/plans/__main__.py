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
from collections.abc import Callable
from typing import Any

from benchmarks.measure import run
from benchmarks.plans.corpora import CORPORA
from benchmarks.program import add_output_flag, command_parser, machine, publish

_NOTES = """\
No text is read: the corpora are only metadata. *List* is the one worker that lists all files: it \
orders, checks and cuts them, and writes the ranges, without the time that the filesystem takes. \
*Plan* is the one worker that has all counts. The peaks are the memory of these processes, without \
Beam. *In vain* is the text that portions read before their first lines, as a share of the corpus. \
The last columns are what goes through the shuffles, pickled as Beam does. All counts go to one \
key, so some engines make one element of them. Beside them, each bundle sends its totals: some 600 \
bytes for each system. If the table does not say otherwise, a corpus has two streams with 210 \
bytes per line, in files of 1 GB, cut at different lines."""

Figures = dict[str, Any]

_COLUMNS: dict[str, Callable[[Figures], str]] = {
    "files": lambda found: f"{found['files']:,}",
    "TB": lambda found: f"{found['bytes'] / 1e12:,.4g}",
    "range MiB": lambda found: f"{found['range_bytes'] >> 20:,}",
    "ranges": lambda found: f"{found['ranges']:,}",
    "portions": lambda found: f"{found['portions']:,}",
    "longest portion / mean": lambda found: f"{found['longest_to_mean']:.2f}",
    "in vain": lambda found: f"{found['in_vain']:.1%}",
    "list s": lambda found: f"{found['list_s']:.1f}",
    "plan s": lambda found: f"{found['plan_s']:.1f}",
    "list peak MB": lambda found: _megabytes(found["list_peak"]),
    "plan peak MB": lambda found: _megabytes(found["plan_peak"]),
    "ranges MB": lambda found: _megabytes(found["ranges_sent"]["bytes"]),
    "counts MB": lambda found: _megabytes(found["counts_sent"]["bytes"]),
    "portions MB": lambda found: _megabytes(found["portions_sent"]["bytes"]),
    "largest portion KB": lambda found: f"{found['portions_sent']['largest'] / 1e3:,.1f}",
}
"""The columns of the report."""


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f}" if count >= 1e7 else f"{count / 1e6:.1f}"


def _measured(number: int) -> Figures:
    """The cost of planning a corpus, in two processes, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder, "counts"))
        figures: Figures = {}
        for step in ("list", "plan"):
            command = [sys.executable, "-m", "benchmarks.plans.steps", step, str(number), file]
            figures |= json.loads(run(command).stdout)
    return figures


def _main() -> None:
    parser = command_parser(__doc__)
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
    rows = []
    for number in flags.only or numbers:
        print(f"planning {CORPORA[number].name}", file=sys.stderr)
        figures = _measured(number)
        cells = [CORPORA[number].name, *(shown(figures) for shown in _COLUMNS.values())]
        rows.append(f"| {' | '.join(cells)} |")
    report = [
        "# The plan of massive corpora",
        "",
        f"`python -m benchmarks.plans`. {machine(['apache-beam'])}",
        "",
        _NOTES,
        "",
        f"| corpus | {' | '.join(_COLUMNS)} |",
        "| --- |" + " ---: |" * len(_COLUMNS),
        *rows,
        "",
    ]
    publish("\n".join(report), flags.output)


if __name__ == "__main__":
    _main()
