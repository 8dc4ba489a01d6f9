"""What the library adds to a pipeline: CPU against the same pipeline that only counts.

    python -m benchmarks.speed.library

A pipeline that reads a segment from each line of a text and scores it is compared with one that
reads the same segments and only counts them. A pipeline of tables in memory is timed alone. Each
run is a process of its own, and the runs take turns. The seconds are those of the pipeline,
without the start of the process. Those of a pipeline with one segment are subtracted, because that
is Beam's own start.
"""

from __future__ import annotations

import datetime
import json

from benchmarks.corpus.workspace import Workspace
from benchmarks.machine import machine
from benchmarks.program import measuring_parser, publish
from benchmarks.speed.library.figures import compared
from benchmarks.speed.report import report
from benchmarks.speed.sizes import FULL

_REPEATS = 5


def main() -> None:
    """Runs the program."""
    parser = measuring_parser(__doc__, _REPEATS)
    parser.add_argument(
        "--segments",
        type=int,
        default=FULL.library_segments,
        metavar="N",
        help="segments of a pipeline, default %(default)s",
    )
    parser.add_argument("--run", nargs=3, metavar=("WAY", "TEXT", "ONE_LINE"))
    flags = parser.parse_args()
    if flags.run:
        # Only here: the process that measures others must stay small.
        from benchmarks.speed.library.pipelines import seconds_of

        print(json.dumps(seconds_of(*flags.run)))
        return
    workspace = Workspace(flags.work_dir, flags.pairs)
    results = {1: compared(workspace.head(flags.segments), flags.repeats)}
    notes = (
        f"{datetime.date.today()}. `python -m benchmarks.speed.library`. "
        f"{machine(['apache-beam', 'numba', 'numpy', 'pyarrow'])}"
    )
    publish(report(results, notes), flags.output)


if __name__ == "__main__":
    main()
