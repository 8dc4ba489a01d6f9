"""The kernel alone against sacreBLEU's API."""

from __future__ import annotations

import functools
import json

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import cores, interleaved
from benchmarks.speed.commands import contestant
from benchmarks.speed.results import Figure, Measurement, Results
from benchmarks.speed.sizes import Sizes


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
