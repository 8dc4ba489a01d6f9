"""The whole command against other programs that do the same work, or less."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence

from benchmarks.corpus.workspace import Workspace
from benchmarks.machine import shown_extras, store_extras
from benchmarks.measure import interleaved, medians, run
from benchmarks.speed.commands import (
    beam_bleu,
    contestant,
    count_words_command,
    sacrebleu,
    score,
    warm_up,
)
from benchmarks.speed.results import Measurement, Results, at_least, at_most
from benchmarks.speed.sizes import Sizes


def words(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command against `wc -w`, CPU."""
    warm_up(workspace)
    text = workspace.tenfold()
    ours, theirs = interleaved(
        [lambda: beam_bleu(text), lambda: run(count_words_command(text))], sizes.repeats
    )
    ratio = medians(ours).cpu / medians(theirs).cpu
    figure = at_most(1.0).figure(
        f"whole command with its defaults, {text.pairs:,} pairs, CPU against "
        "`LC_ALL=C.UTF-8 wc -w`",
        ratio,
    )
    return [figure], [
        Measurement("beam-bleu", text.pairs, ours),
        Measurement("wc -w", text.pairs, theirs),
    ]


def bleuscore(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command against bleuscore. For bleuscore, only the counting is timed."""
    warm_up(workspace)
    text = workspace.whole()
    runs = interleaved(
        [lambda: beam_bleu(text), functools.partial(contestant, "bleuscore", text)],
        sizes.repeats,
    )
    measurements = [
        Measurement("beam-bleu", text.pairs, runs[0]),
        Measurement("bleuscore's API, without reading the files", text.pairs, runs[1]),
    ]
    ratio = measurements[0].rate / measurements[1].rate
    scores = (score(runs[0][-1]), json.loads(runs[1][-1].stdout)["score"])
    is_equal = math.isclose(*scores, rel_tol=1e-9)
    equal = "same score" if is_equal else f"**DIFFERENT SCORES** {scores[0]} and {scores[1]}"
    figure = at_least(40, digits=1).figure(
        f"whole command, {text.pairs:,} pairs, pairs per CPU second against bleuscore",
        ratio,
        equal,
        is_right=is_equal,
    )
    return [figure], measurements


def small(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command against sacreBLEU's on few lines, wall."""
    measurements = []
    for lines in sizes.lines:
        text = workspace.head(lines)
        ours, theirs = interleaved(
            [functools.partial(beam_bleu, text), functools.partial(sacrebleu, text)],
            sizes.short_repeats,
            warm_up=True,
        )
        scores = (round(score(ours[-1]), 1), json.loads(theirs[-1].stdout)["score"])
        if scores[0] != scores[1]:
            raise RuntimeError(f"beam-bleu says {scores[0]}, sacreBLEU {scores[1]}: {text}")
        measurements += [
            Measurement("beam-bleu", lines, ours),
            Measurement("sacreBLEU's command", lines, theirs),
        ]
    walls = [each.median.wall for each in measurements]
    # With the libraries of object stores, Beam imports them at its start.
    reach = at_most(2.5 if store_extras() else 2.0)
    fewest, note = crossing(sizes.lines, walls[0::2], walls[1::2])
    return [
        reach.figure(
            f"{sizes.lines[0]:,} lines, whole command, wall, against sacreBLEU's command",
            walls[0] / walls[1],
            shown_extras(),
        ),
        at_most(6_000, "", digits=0).figure(
            "lines from which beam-bleu's command is faster", fewest, note
        ),
    ], measurements


def crossing(
    lines: Sequence[int], ours: Sequence[float], theirs: Sequence[float]
) -> tuple[float, str]:
    """(the size from which our command stays faster, a note if it is outside of the sizes)."""
    differences = [our - their for our, their in zip(ours, theirs, strict=True)]
    slower = [i for i, difference in enumerate(differences) if difference > 0]
    if not slower:
        return lines[0], "or fewer"
    last = slower[-1]
    if last == len(lines) - 1:
        return math.inf, f"more than {lines[-1]:,}"
    part = differences[last] / (differences[last] - differences[last + 1])
    return lines[last] + part * (lines[last + 1] - lines[last]), ""
