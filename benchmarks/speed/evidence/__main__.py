"""Measures what uncertainty costs: the CPU of runs with standard errors, against runs without.

python -m benchmarks.speed.evidence --output benchmarks/speed/evidence/RESULTS.md
"""

from __future__ import annotations

import datetime
import functools
import json

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.machine import machine
from benchmarks.measure import interleaved, medians
from benchmarks.program import measuring_parser, publish
from benchmarks.speed.commands import beam_bleu, warm_up
from benchmarks.speed.report import report
from benchmarks.speed.results import Measurement, Results, at_most

_REACH = {1: at_most(1.08, digits=3), SYSTEMS: at_most(1.3, digits=3)}
"""By the number of systems, how many times the CPU of the run without a run may need."""

_REPEATS = 5


def main() -> None:
    """Runs the program."""
    flags = measuring_parser(__doc__, _REPEATS).parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    warm_up(workspace)
    texts = {1: workspace.whole(), SYSTEMS: workspace.first_shard(SYSTEMS)}
    results = {
        number: _with_and_without(text, systems, flags.repeats)
        for number, (systems, text) in enumerate(texts.items(), 1)
    }
    notes = (
        f"{datetime.date.today()}. `python -m benchmarks.speed.evidence`. "
        f"{machine(['numba', 'numpy', 'pyarrow'])}"
    )
    publish(report(results, notes), flags.output)


def _with_and_without(text: Text, systems: int, repeats: int) -> Results:
    """The CPU of runs with uncertainty against runs without."""
    with_it, without = interleaved(
        [
            functools.partial(beam_bleu, text),
            functools.partial(beam_bleu, text, flags=["--no_uncertainty"]),
        ],
        repeats,
        warm_up=True,
    )
    listed = json.loads(with_it[-1].stdout)["scores"]
    is_complete = all(each["standard_error"] is not None for each in listed)
    ratio = medians(with_it).cpu / medians(without).cpu
    figure = _REACH[systems].figure(
        f"uncertainty on against off, {systems} {'system' if systems == 1 else 'systems'}, "
        f"{text.pairs:,} segments, CPU",
        ratio,
        is_right=is_complete,
    )
    pairs = systems * text.pairs
    return [figure], [
        Measurement("beam-bleu", pairs, with_it),
        Measurement("beam-bleu --no_uncertainty", pairs, without),
    ]


if __name__ == "__main__":
    main()
