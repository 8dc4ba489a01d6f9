"""The whole command with several metrics: one run against single runs, and against sacreBLEU."""

from __future__ import annotations

import functools
import json

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.measure import Run, interleaved, medians, run, total
from benchmarks.speed.commands import beam_bleu, beam_bleu_command, sacrebleu, warm_up
from benchmarks.speed.results import Measurement, Results, at_least, at_most
from benchmarks.speed.sizes import Sizes

_NAMES = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}
"""The metrics, and their names in sacreBLEU's output."""

_FLAGS = ("-m", *_NAMES)

_SHOWN = f"`-m {' '.join(_NAMES)}`"

_DIGITS = 6
"""Digits after the point of the scores that are compared."""


def one_run(workspace: Workspace, sizes: Sizes) -> Results:
    """BLEU, chrF and TER in one run: CPU and memory of a large one, CPU of one of many systems."""
    warm_up(workspace)
    run([*beam_bleu_command(workspace.head(1)), *_FLAGS])  # compiles
    text, small = workspace.whole(), workspace.head(sizes.lines[0])
    together, alone, on_few = interleaved(
        [
            functools.partial(beam_bleu, text, flags=_FLAGS),
            lambda: total([beam_bleu(text, flags=("-m", name)) for name in _NAMES]),
            functools.partial(_sacrebleu, small),
        ],
        sizes.repeats,
    )
    many = workspace.head(min(small.pairs, text.pairs // 10), SYSTEMS)
    of_systems, theirs = beam_bleu(many, flags=_FLAGS), _sacrebleu(many)
    are_equal = _scores(of_systems) == _scores_of_sacrebleu(theirs)
    ours = Measurement(f"beam-bleu, {_SHOWN}", text.pairs, together)
    few = Measurement(f"sacreBLEU's command, {_SHOWN}", small.pairs, on_few)
    pairs = SYSTEMS * many.pairs
    figures = [
        at_most(0.75).figure(
            f"{_SHOWN}, {text.pairs:,} pairs, CPU against the sum of three runs",
            ours.median.cpu / medians(alone).cpu,
        ),
        at_least(200, digits=1).figure(
            f"{_SHOWN}, {text.pairs:,} pairs, pairs per CPU second against sacreBLEU's command on "
            f"{small.pairs:,} lines",
            ours.rate / few.rate,
        ),
        at_most(400, " MB", digits=0).figure(
            f"{_SHOWN}, {text.pairs:,} pairs, peak memory", ours.median.peak / 1e6
        ),
        at_least(50, digits=1).figure(
            f"{_SHOWN}, {many.pairs:,} lines of {SYSTEMS} systems, whole command, CPU of "
            "sacreBLEU's command against ours",
            theirs.cpu / of_systems.cpu,
            "same scores" if are_equal else "**DIFFERENT SCORES**",
            is_right=are_equal,
        ),
    ]
    return figures, [
        ours,
        Measurement("beam-bleu, three runs of one metric", text.pairs, alone),
        few,
        Measurement(f"beam-bleu, {_SHOWN}, {SYSTEMS} systems", pairs, [of_systems]),
        Measurement(f"sacreBLEU's command, {_SHOWN}, {SYSTEMS} systems", pairs, [theirs]),
    ]


def _sacrebleu(text: Text) -> Run:
    return sacrebleu(text, [*_FLAGS, "--format=json", f"--width={_DIGITS}"])


def _scores(result: Run) -> list[str]:
    """The scores of a run, metric by metric, system by system."""
    return [f"{each['score']:.{_DIGITS}f}" for each in json.loads(result.stdout)["scores"]]


def _scores_of_sacrebleu(result: Run) -> list[str]:
    """Those of sacreBLEU's command for several systems, in the same order."""
    systems = json.loads(result.stdout)
    return [of_system[name] for name in _NAMES.values() for of_system in systems]
