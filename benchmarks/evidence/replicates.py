"""Measures what replicates cost: the CPU of runs with them, against runs without, and sacreBLEU.

python -m benchmarks.evidence.replicates --output benchmarks/evidence/REPLICATES.md
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import sys

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.machine import machine
from benchmarks.measure import Run, interleaved, medians, run
from benchmarks.program import add_corpus_flags, add_output_flag, add_repeats_flag, publish
from benchmarks.speed.commands import beam_bleu, warm_up
from benchmarks.speed.report import report
from benchmarks.speed.results import Figure, Measurement, Results

_REPEATS = 3
_BOOTSTRAP = ("--resample=bootstrap",)
_RANDOMIZATION = ("--resample=randomization",)

_REACH = {_BOOTSTRAP: 2.0, _RANDOMIZATION: 6.0}
"""How many times the CPU of the run without replicates a run may need."""

_MOST_BYTES = 600_000_000
"""The peak of memory that a run with 1,000 replicates of 16 systems may have."""

_SACREBLEU_LINES = 100_000
"""sacreBLEU holds 44 bytes for each line and each of its 1,000 replicates: 5 GB at this size."""

_SACREBLEU_REACH = 100


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_corpus_flags(parser)
    add_output_flag(parser)
    add_repeats_flag(parser, _REPEATS)
    parser.add_argument(
        "--sacrebleu_lines",
        type=int,
        default=_SACREBLEU_LINES,
        metavar="N",
        help="lines for sacreBLEU, default %(default)s; 0 to leave it out",
    )
    flags = parser.parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    warm_up(workspace)
    results = {1: _cost(workspace.repeated_shard(2), flags.repeats)}
    results[2] = _memory(workspace.first_shard(SYSTEMS))
    if flags.sacrebleu_lines:
        results[3] = _against_sacrebleu(workspace.head(flags.sacrebleu_lines, 2))
    notes = (
        f"{datetime.date.today()}. `python -m benchmarks.evidence.replicates`. "
        f"{machine(['numba', 'numpy', 'pyarrow'])}"
    )
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
            Figure(
                f"{resampling['method']}, {resampling['resamples']:,} replicates, 2 systems, "
                f"{text.pairs:,} segments, CPU against the run without",
                f"≤ {reach:g}x",
                f"{ratio:.2f}x",
                ratio <= reach,
            )
        )
    pairs = 2 * text.pairs
    return figures, [
        Measurement(" ".join(("beam-bleu", *kind)), pairs, runs[kind]) for kind in kinds
    ]


def _memory(text: Text) -> Results:
    """The peak memory of a bootstrap of many systems."""
    found = [beam_bleu(text, flags=_BOOTSTRAP)]
    peak = medians(found).peak
    figure = Figure(
        f"peak memory with 1,000 replicates, {SYSTEMS} systems, {text.pairs:,} segments",
        f"≤ {_MOST_BYTES / 1e6:,.0f} MB",
        f"{peak / 1e6:,.0f} MB",
        peak <= _MOST_BYTES,
    )
    what = f"beam-bleu {_BOOTSTRAP[0]}, {SYSTEMS} systems"
    return [figure], [Measurement(what, SYSTEMS * text.pairs, found)]


def _against_sacrebleu(text: Text) -> Results:
    """The CPU of sacreBLEU's bootstrap against ours, once, on as many lines as it can hold."""
    ours = [beam_bleu(text, flags=_BOOTSTRAP) for _ in range(_REPEATS)]
    theirs = [_paired_bootstrap(text)]
    ratio = medians(theirs).cpu / medians(ours).cpu
    figure = Figure(
        f"1,000 bootstrap replicates, 2 systems, {text.pairs:,} segments, CPU of sacreBLEU's "
        "`--paired-bs` against beam-bleu",
        f"≥ {_SACREBLEU_REACH}x",
        f"{ratio:.0f}x",
        ratio >= _SACREBLEU_REACH,
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
