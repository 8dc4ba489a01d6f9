"""Plans fake corpora of up to a petabyte, and reports what the plans cost.

    python -m benchmarks.plans --output out/plans.md

Only metadata exists: names, sizes, and a formula for the place of each newline. The worker that
lists files and the worker that plans do what they do in a real job, each in its own process. This
takes about 10 minutes, 10 GB of memory and 1 GB of disk. `--only` chooses corpora by number.
"""

from __future__ import annotations

import multiprocessing
import pathlib
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

from benchmarks.plans import steps
from benchmarks.program import add_output_flag, command_parser, machine, publish

_NOTES = """\
No text is read. *List* is the one worker that lists all files, without the time of the filesystem;
*plan* the one worker that has all counts. The peaks are the memory of these processes, without
Beam. *In vain* is the text that portions read before their first lines, as a share of the corpus.
The last columns are what goes through the shuffles, pickled as Beam does. If the table does not say
otherwise, a corpus has two streams with 210 bytes per line, in files of 1 GB, cut at different
lines."""

_COLUMNS = {
    "files": "{:,.0f}",
    "TB": "{:,.4g}",
    "range MiB": "{:,.0f}",
    "ranges": "{:,.0f}",
    "portions": "{:,.0f}",
    "longest portion / mean": "{:.2f}",
    "in vain": "{:.1%}",
    "list s": "{:.1f}",
    "plan s": "{:.1f}",
    "list peak MB": "{:,.1f}",
    "plan peak MB": "{:,.1f}",
    "ranges MB": "{:,.1f}",
    "counts MB": "{:,.1f}",
    "portions MB": "{:,.1f}",
    "largest portion KB": "{:,.1f}",
}
"""The columns of the report, and the formats of their figures."""


def _row(corpus: steps.FakeCorpus) -> str:
    """The row of the report for a corpus, each of whose steps runs in a new process."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for step in (steps.list_files, steps.plan_portions):
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, context) as process:
                figures |= process.submit(step, corpus, pathlib.Path(folder, "counts")).result()
    cells = [shown.format(figures[name]) for name, shown in _COLUMNS.items()]
    return f"| {' | '.join([corpus.name, *cells])} |"


def _main() -> None:
    parser = command_parser(__doc__)
    numbers = range(len(steps.CORPORA))
    parser.add_argument(
        "--only",
        nargs="+",
        type=int,
        choices=numbers,
        metavar="N",
        help=", ".join(f"{number}: {steps.CORPORA[number].name}" for number in numbers),
    )
    add_output_flag(parser)
    flags = parser.parse_args()
    lines = ["# The plan of massive corpora", "", machine(["apache-beam"]), "", _NOTES, ""]
    lines += [f"| corpus | {' | '.join(_COLUMNS)} |", "| --- |" + " ---: |" * len(_COLUMNS)]
    for number in flags.only or numbers:
        print(f"planning {steps.CORPORA[number].name}", file=sys.stderr)
        lines.append(_row(steps.CORPORA[number]))
    publish("\n".join([*lines, ""]), flags.output)


if __name__ == "__main__":
    _main()
