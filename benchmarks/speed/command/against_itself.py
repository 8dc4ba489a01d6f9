"""The whole command against itself: cores, systems, size, segment scores, compressed input."""

from __future__ import annotations

import functools
import json
import tempfile

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.machine import shown_extras
from benchmarks.measure import cores, interleaved, medians, run, run_together, total
from benchmarks.speed.commands import (
    beam_bleu,
    beam_bleu_command,
    count_words_command,
    score,
    warm_up,
)
from benchmarks.speed.results import Measurement, Results, at_least, at_most
from benchmarks.speed.sizes import Sizes

_STARTS = 5
"""Runs that measure the seconds of a start. They are subtracted once for each system."""


def two_cores(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command on two cores against one, wall.

    Two processes with a half of the corpus each share nothing but the machine, so they show how
    much of two cores it gives. `wc -w` shows the same for a program that needs little memory.
    """
    warm_up(workspace)
    text, halves = workspace.tenfold(), [workspace.tenfold_half(half) for half in (0, 1)]
    both, one = cores()[:2], cores()[:1]
    reach = at_least(1.85)
    what = f"whole command, {text.pairs:,} pairs, wall, 2 cores against 1"
    if len(both) < 2:
        return [reach.missed(what, "there is 1")], []
    one_line = workspace.head(1)
    apart = [both[:1], both[1:]]
    ours_two, ours_one, ours_apart, start, words_two, words_one = interleaved(
        [
            lambda: beam_bleu(text, both),
            lambda: beam_bleu(text, one),
            lambda: run_together([beam_bleu_command(half) for half in halves], apart),
            lambda: beam_bleu(one_line, both),
            lambda: run_together([count_words_command(half) for half in halves], apart),
            lambda: run(count_words_command(text), one),
        ],
        sizes.repeats,
    )
    two, single, starting = (medians(runs).wall for runs in (ours_two, ours_one, start))
    ceiling = single / medians(ours_apart).wall
    words = medians(words_one).wall / medians(words_two).wall
    note = (
        f"two processes, a half each: {ceiling:.2f}x; `wc -w`, a half each: {words:.2f}x; "
        "serial share by Amdahl's law "
        f"{_serial_share(two, single):.1%}, without the seconds of a start "
        f"{_serial_share(two - starting, single - starting):.1%}"
    )
    return [reach.figure(what, single / two, note)], [
        Measurement("beam-bleu, 2 cores", text.pairs, ours_two),
        Measurement("beam-bleu, 1 core", text.pairs, ours_one),
        Measurement("beam-bleu, a half on each of 2 cores", text.pairs, ours_apart),
        Measurement("beam-bleu, 2 cores, start", 1, start),
        Measurement("wc -w, a half on each of 2 cores", text.pairs, words_two),
        Measurement("wc -w, 1 core", text.pairs, words_one),
    ]


def _serial_share(two: float, one: float) -> float:
    """The share that cannot be divided, by Amdahl's law, of the seconds on two cores and on one."""
    return 2 * two / one - 1


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
    reach = at_most(0.45)
    what = (
        f"{SYSTEMS} systems with one reference stream, {text.pairs:,} segments, CPU per candidate "
        "without start-up, against one by one"
    )
    counting = one_by_one - SYSTEMS * starting
    if counting > starting:
        ratio = (side_by_side - starting) / counting
        figure = reach.figure(what, ratio, f"with start-up: {side_by_side / one_by_one:.2f}x")
    else:
        figure = reach.missed(what, "not measurable: the start takes most of the time")
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
    sizes_shown = ", ".join(f"{text.pairs:,}" for text in texts)
    peaks_shown = ", ".join(f"{peak / 1e6:.0f} MB" for peak in peaks)
    return [
        at_most(320, " MB", digits=0).figure(
            f"peak memory, the largest at {sizes_shown} pairs",
            max(peaks) / 1e6,
            f"{peaks_shown}; {shown_extras()}",
        ),
        at_most(5, " %", digits=1).figure(
            "the largest of these above the smallest", 100 * (max(peaks) / min(peaks) - 1)
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
    figure = at_most(1.3).figure(
        f"`--segment_scores`, {text.pairs:,} pairs, CPU against the run without",
        ratio,
        f"{rows:,} rows",
        is_right=rows == text.pairs,
    )
    return [figure], [
        Measurement("beam-bleu, with segment scores", text.pairs, with_scores),
        Measurement("beam-bleu, without", text.pairs, without),
    ]


def compressed(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command on .gz against the same texts as plain files, CPU."""
    plain, packed = workspace.whole(), workspace.compressed()
    of_packed, of_plain, unpacking = interleaved(
        [
            functools.partial(beam_bleu, packed),
            functools.partial(beam_bleu, plain),
            functools.partial(run, ["gzip", "--test", *packed.files]),
        ],
        sizes.repeats,
        warm_up=True,
    )
    is_equal = score(of_packed[-1]) == score(of_plain[-1])
    base = medians(of_plain).cpu
    equal = "same score" if is_equal else "**DIFFERENT SCORE**"
    figure = at_most(1.35).figure(
        f"`.gz` input, {packed.pairs:,} pairs, CPU against the same run on plain text",
        medians(of_packed).cpu / base,
        f"{equal}; `gzip --test` alone is {medians(unpacking).cpu / base:.2f}x",
        is_right=is_equal,
    )
    return [figure], [
        Measurement("beam-bleu, .gz", packed.pairs, of_packed),
        Measurement("beam-bleu, plain text", plain.pairs, of_plain),
        Measurement("gzip --test", packed.pairs, unpacking),
    ]
