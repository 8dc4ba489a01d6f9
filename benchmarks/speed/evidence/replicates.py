"""Measures what replicates cost: the CPU of runs with them, against runs without, and sacreBLEU.

python -m benchmarks.speed.evidence.replicates --output benchmarks/speed/evidence/REPLICATES.md
"""

from __future__ import annotations

import datetime
import functools
import json
import sys

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.machine import machine
from benchmarks.measure import Run, interleaved, medians, run
from benchmarks.program import measuring_parser, publish
from benchmarks.speed.commands import beam_bleu, warm_up
from benchmarks.speed.report import report
from benchmarks.speed.results import Measurement, Results, at_least, at_most

_REPEATS = 3
_BOOTSTRAP = ("--resample=bootstrap",)
_RANDOMIZATION = ("--resample=randomization",)

_REACH = {_BOOTSTRAP: at_most(2.0), _RANDOMIZATION: at_most(6.0)}
"""How many times the CPU of the run without replicates a run may need."""

_MEMORY_REACH = at_most(600, " MB", digits=0)
"""The peak of memory that a run with 1,000 replicates of 16 systems may have."""

_SACREBLEU_LINES = 100_000
"""sacreBLEU holds 44 bytes for each line and each of its 1,000 replicates: 5 GB at this size."""

_SACREBLEU_REACH = at_least(100, digits=0)

_TRIAL_PAIRS = 20_000
_TRIAL_LINES = 1_000


def main() -> None:
    """Runs the program."""
    parser = measuring_parser(__doc__, _REPEATS)
    parser.add_argument(
        "--sacrebleu_lines",
        type=int,
        default=_SACREBLEU_LINES,
        metavar="N",
        help="lines for sacreBLEU, default %(default)s; 0 to leave it out",
    )
    parser.add_argument(
        "--trial",
        action="store_true",
        help=f"runs everything once with {_TRIAL_PAIRS:,} pairs, to see that it works",
    )
    flags = parser.parse_args()
    if flags.trial:
        flags.pairs, flags.repeats, flags.sacrebleu_lines = _TRIAL_PAIRS, 1, _TRIAL_LINES
    workspace = Workspace(flags.work_dir, flags.pairs)
    warm_up(workspace)
    results = {1: _cost(workspace.repeated_shard(2), flags.repeats)}
    results[2] = _memory(workspace.first_shard(SYSTEMS))
    if flags.sacrebleu_lines:
        results[3] = _against_sacrebleu(
            workspace.head(flags.sacrebleu_lines, 2), min(flags.repeats, _REPEATS)
        )
    notes = (
        f"{datetime.date.today()}. `python -m benchmarks.speed.evidence.replicates`. "
        f"{machine(['numba', 'numpy', 'pyarrow'])}"
    )
    if flags.trial:
        notes += " A trial: it shows that the program works, not what the figures are."
    publish(report(results, notes), flags.output)


def _cost(text: Text, repeats: int) -> Results:
    """The CPU of runs with replicates against runs without."""
    kinds: list[tuple[str, ...]] = [(), _BOOTSTRAP, _RANDOMIZATION]
    found = interleaved(
        [functools.partial(beam_bleu, text, flags=kind) for kind in kinds], repeats, warm_up=True
    )
    runs = dict(zip(kinds, found, strict=True))
    figures = []
    for kind, reach in _REACH.items():
        resampling = json.loads(runs[kind][-1].stdout)["resampling"]
        ratio = medians(runs[kind]).cpu / medians(runs[()]).cpu
        figures.append(
            reach.figure(
                f"{resampling['method']}, {resampling['resamples']:,} replicates, 2 systems, "
                f"{text.pairs:,} segments, CPU against the run without",
                ratio,
            )
        )
    pairs = 2 * text.pairs
    return figures, [
        Measurement(" ".join(("beam-bleu", *kind)), pairs, runs[kind]) for kind in kinds
    ]


def _memory(text: Text) -> Results:
    """The peak memory of a bootstrap of many systems."""
    found = [beam_bleu(text, flags=_BOOTSTRAP)]
    figure = _MEMORY_REACH.figure(
        f"peak memory with 1,000 replicates, {SYSTEMS} systems, {text.pairs:,} segments",
        medians(found).peak / 1e6,
    )
    what = f"beam-bleu {_BOOTSTRAP[0]}, {SYSTEMS} systems"
    return [figure], [Measurement(what, SYSTEMS * text.pairs, found)]


def _against_sacrebleu(text: Text, repeats: int) -> Results:
    """The CPU of sacreBLEU's bootstrap against ours, once, on as many lines as it can hold."""
    ours = [beam_bleu(text, flags=_BOOTSTRAP) for _ in range(repeats)]
    theirs = [_paired_bootstrap(text)]
    ratio = medians(theirs).cpu / medians(ours).cpu
    figure = _SACREBLEU_REACH.figure(
        f"1,000 bootstrap replicates, 2 systems, {text.pairs:,} segments, CPU of sacreBLEU's "
        "`--paired-bs` against beam-bleu",
        ratio,
    )
    pairs = 2 * text.pairs
    return [figure], [
        Measurement(f"beam-bleu {_BOOTSTRAP[0]}", pairs, ours),
        Measurement("sacreBLEU --paired-bs", pairs, theirs),
    ]


def _paired_bootstrap(text: Text) -> Run:
    files = [text.references, "-i", *text.candidates]
    return run([sys.executable, "-m", "sacrebleu", *files, "-m", "bleu", "--paired-bs"])


if __name__ == "__main__":
    main()
