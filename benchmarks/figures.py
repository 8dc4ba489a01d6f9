"""The figures that the project must reach, and how each one is measured."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import tempfile
from collections.abc import Callable, Sequence

from commands import beam_bleu, contestant, count_words_command, sacrebleu, score, warm_up
from measure import cores, interleaved, medians, run, run_together, total
from results import Figure, Measurement, Results
from workspace import SYSTEMS, Text, Workspace

_STARTS = 5
"""Runs for the seconds of a start, which are subtracted many times over."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Attributes:
      kernel_pairs: pairs for the kernel against sacreBLEU's API.
      lines: the sizes at which the commands of both are compared; the first is a figure itself.
      repeats: runs of each long measurement.
      short_repeats: runs of each short one.
    """

    kernel_pairs: int
    lines: tuple[int, ...]
    repeats: int
    short_repeats: int


def kernel(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel alone on one core against sacreBLEU's API."""
    western = workspace.head(sizes.kernel_pairs)
    chinese = workspace.chinese_head(sizes.kernel_pairs)
    figures, measurements = [], []
    for name, reach, text, ways in (
        ("13a", 80, western, ("--tokenize 13a", "--tokenize none", "--lowercase")),
        ("intl", 25, western, ("--tokenize intl",)),
        ("zh", 25, chinese, ("--tokenize zh",)),
        ("char", 25, chinese, ("--tokenize char",)),
    ):
        compared = [
            _against_sacrebleu(text, flags, sizes.repeats if flags == ways[0] else 1)
            for flags in ways
        ]
        ours, theirs = compared[0][0]
        ratio = ours.rate / theirs.rate
        are_equal = all(is_equal for _, is_equal in compared)
        equal = "same integers" if are_equal else "**DIFFERENT INTEGERS**"
        lines = "pairs that look Chinese" if text is chinese else "pairs"
        shown = " (13a, none, lower-cased)" if name == "13a" else ""
        figures.append(
            Figure(
                f"kernel, {name}, one core, against sacreBLEU's API, {text.pairs:,} {lines}",
                f"≥ {reach}x pairs/s",
                f"{ratio:.1f}x; {equal} on every segment{shown}",
                ratio >= reach and are_equal,
            )
        )
        measurements += [each for both, _ in compared for each in both]
    return figures, measurements


def _against_sacrebleu(text: Text, flags: str, runs: int) -> tuple[list[Measurement], bool]:
    """(the kernel and sacreBLEU's API, whether they have the same integers)."""
    ours, theirs = interleaved(
        [
            functools.partial(contestant, name, text, flags.split(), cores()[-1:])
            for name in ("kernel", "sacrebleu")
        ],
        runs,
    )
    is_equal = len({json.loads(each.stdout)["counts"] for each in (*ours, *theirs)}) == 1
    return [
        Measurement(f"kernel, one core, {flags}", text.pairs, ours),
        Measurement(f"sacreBLEU's API, one core, {flags}", text.pairs, theirs),
    ], is_equal


def words(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command against `wc -w`, CPU."""
    warm_up(workspace)
    text = workspace.tenfold()
    ours, theirs = interleaved(
        [lambda: beam_bleu(text), lambda: run(count_words_command(text))], sizes.repeats
    )
    ratio = medians(ours).cpu / medians(theirs).cpu
    figure = Figure(
        f"whole command, {text.pairs:,} pairs, CPU against `LC_ALL=C.UTF-8 wc -w`",
        "≤ 2.5x",
        f"{ratio:.2f}x",
        ratio <= 2.5,
    )
    return [figure], [
        Measurement("beam-bleu", text.pairs, ours),
        Measurement("wc -w", text.pairs, theirs),
    ]


def bleuscore(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command against bleuscore, of which only the counting is timed."""
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
    figure = Figure(
        f"whole command, {text.pairs:,} pairs, against bleuscore",
        "≥ 12x pairs per CPU second",
        f"{ratio:.1f}x; {equal}",
        ratio >= 12 and is_equal,
    )
    return [figure], measurements


def two_cores(workspace: Workspace, sizes: Sizes) -> Results:
    """The whole command on two cores against one, wall; and what the machine allows."""
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
    ours, theirs = walls[0::2], walls[1::2]
    ratio = ours[0] / theirs[0]
    crossing, shown = _crossing(sizes.lines, ours, theirs)
    return [
        Figure(
            f"{sizes.lines[0]:,} lines, whole command, wall, against sacreBLEU's command",
            "≤ 3x",
            f"{ratio:.2f}x",
            ratio <= 3,
        ),
        Figure(
            "lines from which beam-bleu's command is faster", "≤ 15,000", shown, crossing <= 15_000
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


FIGURES: dict[str, Callable[[Workspace, Sizes], Results]] = {
    "kernel": kernel,
    "words": words,
    "bleuscore": bleuscore,
    "cores": two_cores,
    "systems": systems,
    "memory": memory,
    "small": small,
    "segments": segment_scores,
}


def _crossing(
    lines: Sequence[int], ours: Sequence[float], theirs: Sequence[float]
) -> tuple[float, str]:
    """(the size from which ours stays below theirs, the same for people)."""
    behind = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    slower = [i for i, seconds in enumerate(behind) if seconds > 0]
    if not slower:
        return lines[0], f"fewer than {lines[0]:,}"
    last = slower[-1]
    if last == len(lines) - 1:
        return math.inf, f"more than {lines[-1]:,}"
    part = behind[last] / (behind[last] - behind[last + 1])
    crossing = lines[last] + part * (lines[last + 1] - lines[last])
    return crossing, f"{crossing:,.0f}"
