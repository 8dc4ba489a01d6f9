"""The main ratios in less than three minutes, for a developer who changes the kernel.

The corpus is small, so the time of a start is measured by itself and subtracted.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence

from benchmarks.corpus.workspace import Workspace
from benchmarks.measure import Run, interleaved, run
from benchmarks.speed.commands import beam_bleu, count_words_command
from benchmarks.speed.kernel import against_sacrebleu, equal_integers

PAIRS = 200_000
"""The pairs of the corpus. The whole command scores them `_COPIES` times."""

_COPIES = 10
_KERNEL_PAIRS = 20_000
_REFERENCES = 4
_KERNEL_ROUNDS, _COMMAND_ROUNDS = 3, 5


def quick_report(workspace: Workspace, notes: str) -> str:
    """The main ratios, each as the median and the range of several rounds, in Markdown."""
    return "\n".join(
        [
            "# Main ratios",
            "",
            notes,
            "",
            "| | median | range | rounds | |",
            "| --- | ---: | ---: | ---: | --- |",
            *_kernel(workspace),
            *_command(workspace),
            "",
            "If the ranges of two versions overlap, do not say that one of them is faster.",
            "",
        ]
    )


def _kernel(workspace: Workspace) -> list[str]:
    rows = []
    for text, what in (
        (workspace.head(_KERNEL_PAIRS), "kernel, 13a"),
        (
            workspace.head_with_references(_KERNEL_PAIRS // 2, _REFERENCES),
            f"kernel, 13a, {_REFERENCES} references",
        ),
    ):
        print(f"measuring {what}", file=sys.stderr)
        (ours, theirs), are_equal = against_sacrebleu(text, "--tokenize 13a", _KERNEL_ROUNDS)
        ratios = _each(lambda our, their: their.cpu / our.cpu, ours.runs, theirs.runs)
        microseconds = [1e6 * each.cpu / text.pairs for each in ours.runs]
        equal = equal_integers(are_equal)
        rows += [
            _row(f"{what}, pairs/s against sacreBLEU's API", ratios, "x", equal),
            _row(f"{what}, CPU of a segment", microseconds, " µs"),
        ]
    return rows


def _command(workspace: Workspace) -> list[str]:
    print("measuring the whole command", file=sys.stderr)
    text, one_line = workspace.copies(_COPIES), workspace.head(1)
    ours, words, starts = interleaved(
        [
            lambda: beam_bleu(text),
            lambda: run(count_words_command(text)),
            lambda: beam_bleu(one_line),
        ],
        _COMMAND_ROUNDS,
        warm_up=True,
    )
    start = statistics.median(each.cpu for each in starts)
    ratios = _each(lambda our, wc: (our.cpu - start) / wc.cpu, ours, words)
    microseconds = [1e6 * (each.cpu - start) / text.pairs for each in ours]
    what = f"whole command without its start, {text.pairs:,} pairs"
    return [
        _row(f"{what}, CPU against `wc -w`", ratios, "x"),
        _row(f"{what}, CPU of a pair", microseconds, " µs"),
        _row("start, CPU", [each.cpu for each in starts], " s"),
    ]


def _each(
    of: Callable[[Run, Run], float], first: Sequence[Run], second: Sequence[Run]
) -> list[float]:
    """A value of each round: of the two runs that followed each other."""
    return [of(*both) for both in zip(first, second, strict=True)]


def _row(what: str, values: Sequence[float], unit: str, note: str = "") -> str:
    median, least, most = (
        f"{value:.3g}{unit}" for value in (statistics.median(values), min(values), max(values))
    )
    return f"| {what} | {median} | {least} to {most} | {len(values)} | {note} |"
