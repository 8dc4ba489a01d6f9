"""The whole command against itself: more cores, more systems, more text, segment scores."""

from __future__ import annotations

import functools
import json
import tempfile

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.measure import cores, interleaved, medians, run, run_together, total
from benchmarks.speed.commands import beam_bleu, count_words_command, warm_up
from benchmarks.speed.results import Figure, Measurement, Results
from benchmarks.speed.sizes import Sizes

_STARTS = 5
"""Runs that measure the seconds of a start. They are subtracted once for each system."""


def two_cores(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command on two cores against one, wall; and the same for `wc -w`."""
    warm_up(workspace)
    text, halves = workspace.tenfold(), [workspace.tenfold_half(half) for half in (0, 1)]
    both, one = cores()[:2], cores()[:1]
    if len(both) < 2:
        return [Figure("whole command, 2 cores against 1", "≥ 1.7x", "there is 1", False)], []
    ours_two, ours_one, words_two, words_one = interleaved(
        [
            lambda: beam_bleu(text, both),
            lambda: beam_bleu(text, one),
            lambda: run_together(
                [count_words_command(half) for half in halves], [both[:1], both[1:]]
            ),
            lambda: run(count_words_command(text), one),
        ],
        sizes.repeats,
    )
    ratio = medians(ours_one).wall / medians(ours_two).wall
    ceiling = medians(words_one).wall / medians(words_two).wall
    figure = Figure(
        f"whole command, {text.pairs:,} pairs, wall, 2 cores against 1",
        "≥ 1.7x",
        f"{ratio:.2f}x (`wc -w`, two at a time: {ceiling:.2f}x)",
        ratio >= 1.7,
    )
    return [figure], [
        Measurement("beam-bleu, 2 cores", text.pairs, ours_two),
        Measurement("beam-bleu, 1 core", text.pairs, ours_one),
        Measurement("wc -w, a half on each of 2 cores", text.pairs, words_two),
        Measurement("wc -w, 1 core", text.pairs, words_one),
    ]


def systems(workspace: Workspace, sizes: Sizes) -> Results:
    """Many systems with one stream of references against each by itself, CPU."""
    warm_up(workspace)
    text = workspace.first_shard(SYSTEMS)
    singles = [Text(text.pairs, text.references, (candidate,)) for candidate in text.candidates]
    one_line = workspace.head(1)
    together, alone, start = interleaved(
        [
            lambda: beam_bleu(text),
            lambda: total([beam_bleu(single) for single in singles]),
            lambda: medians([beam_bleu(one_line) for _ in range(_STARTS)]),
        ],
        sizes.repeats,
    )
    side_by_side, one_by_one, starting = (medians(runs).cpu for runs in (together, alone, start))
    ratio = side_by_side / one_by_one
    counting = one_by_one - SYSTEMS * starting
    without_start = (
        f"{(side_by_side - starting) / counting:.2f}x" if counting > starting else "not measurable"
    )
    figure = Figure(
        f"{SYSTEMS} systems with one reference stream, {text.pairs:,} segments, "
        "CPU per candidate, against one by one",
        "≤ 0.7x",
        f"{ratio:.2f}x (without start-up: {without_start})",
        ratio <= 0.7,
    )
    return [figure], [
        Measurement(f"beam-bleu, {SYSTEMS} systems at once", SYSTEMS * text.pairs, together),
        Measurement(f"beam-bleu, {SYSTEMS} systems one by one", SYSTEMS * text.pairs, alone),
        Measurement(f"beam-bleu, start-up, median of {_STARTS}", 1, start),
    ]


def memory(workspace: Workspace, sizes: Sizes) -> Results:
    """The peak memory of the whole command at three sizes."""
    warm_up(workspace)
    texts = [workspace.first_shard(), workspace.whole(), workspace.tenfold()]
    measurements = [
        Measurement("beam-bleu", text.pairs, runs)
        for text, runs in zip(
            texts,
            interleaved([functools.partial(beam_bleu, text) for text in texts], sizes.repeats),
            strict=True,
        )
    ]
    peaks = [each.median.peak for each in measurements]
    growth = max(peaks) / min(peaks) - 1
    shown = ", ".join(f"{text.pairs:,}" for text in texts)
    return [
        Figure(
            f"peak memory at {shown} pairs",
            "≤ 400 MB",
            ", ".join(f"{peak / 1e6:.0f} MB" for peak in peaks),
            max(peaks) <= 400e6,
        ),
        Figure(
            "the largest of these against the smallest", "≤ 15 %", f"{growth:.1%}", growth <= 0.15
        ),
    ], measurements


def segment_scores(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command with the scores of segments against the run without them, CPU."""
    warm_up(workspace)
    text = workspace.whole()
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--output", folder]
        with_scores, without = interleaved(
            [
                functools.partial(beam_bleu, text, flags=[*flags, "--segment_scores"]),
                functools.partial(beam_bleu, text, flags=flags),
            ],
            sizes.repeats,
            warm_up=True,
        )
    rows = json.loads(with_scores[-1].stdout)["segment_scores"]["rows"]
    ratio = medians(with_scores).cpu / medians(without).cpu
    figure = Figure(
        f"`--segment_scores`, {text.pairs:,} pairs, CPU against the run without",
        "≤ 2x",
        f"{ratio:.2f}x; {rows:,} rows",
        ratio <= 2 and rows == text.pairs,
    )
    return [figure], [
        Measurement("beam-bleu, with segment scores", text.pairs, with_scores),
        Measurement("beam-bleu, without", text.pairs, without),
    ]
