"""Measures what slices cost: the CPU of runs with 200 slices, against runs without.

python -m benchmarks.speed.slices --output benchmarks/speed/slices/RESULTS.md
"""

from __future__ import annotations

import datetime
import functools
import json
import pathlib
import random
import tempfile

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.machine import machine
from benchmarks.measure import interleaved, medians
from benchmarks.program import measuring_parser, publish
from benchmarks.speed.commands import beam_bleu, warm_up
from benchmarks.speed.report import report
from benchmarks.speed.results import Measurement, Results, at_most

_SLICES = 200
_REACH = at_most(1.2)
_REPEATS = 5


def main() -> None:
    """Runs the program."""
    flags = measuring_parser(__doc__, _REPEATS).parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    warm_up(workspace)
    with tempfile.TemporaryDirectory() as folder:
        results = {
            number: _with_and_without(text, systems, pathlib.Path(folder), flags.repeats)
            for number, (text, systems) in enumerate(
                [(workspace.whole(), 1), (workspace.first_shard(SYSTEMS), SYSTEMS)], 1
            )
        }
    notes = (
        f"{datetime.date.today()}. `python -m benchmarks.speed.slices`. Each line has one of "
        f"{_SLICES} labels, drawn at random, in one more file. "
        f"{machine(['numba', 'numpy', 'pyarrow'])}"
    )
    publish(report(results, notes), flags.output)


def _with_and_without(text: Text, systems: int, folder: pathlib.Path, repeats: int) -> Results:
    """The CPU of runs with slices against runs without, which do not read the labels."""
    labels = folder / f"labels-{text.pairs}.txt"
    draw = random.Random(1)
    labels.write_text("".join(f"label-{draw.randrange(_SLICES)}\n" for _ in range(text.pairs)))
    sliced, by_length, without = interleaved(
        [
            functools.partial(
                beam_bleu, text, flags=[f"--labels=label={labels}", "--slice_by=label"]
            ),
            functools.partial(beam_bleu, text, flags=["--slice_by=length"]),
            functools.partial(beam_bleu, text),
        ],
        repeats,
        warm_up=True,
    )
    listed = json.loads(sliced[-1].stdout)["scores"]
    ratios = [medians(runs).cpu / medians(without).cpu for runs in (sliced, by_length)]
    figures = [
        _REACH.figure(
            f"{what}, {systems} {'system' if systems == 1 else 'systems'}, {text.pairs:,} "
            "segments, CPU against the run without",
            ratio,
            is_right=len(listed) == systems * (_SLICES + 1),
        )
        for what, ratio in zip((f"{_SLICES} slices", "`--slice_by length`"), ratios, strict=True)
    ]
    pairs = systems * text.pairs
    return figures, [
        Measurement(f"beam-bleu, {_SLICES} slices", pairs, sliced),
        Measurement("beam-bleu, slices of lengths", pairs, by_length),
        Measurement("beam-bleu, without slices", pairs, without),
    ]


if __name__ == "__main__":
    main()
