"""Measures where the CPU of a run goes: the start, the parts of the kernel, and everything else.

    python -m benchmarks.speed.parts --output benchmarks/speed/PARTS.md

The parts of the kernel come from batches in which one side has no text. What is outside of the
kernel comes from runs with a kernel that does nothing (without_kernel.py).
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.machine import machine, shown_extras
from benchmarks.measure import BEAM_BLEU, Run, cores, interleaved, medians, run
from benchmarks.program import (
    add_corpus_flags,
    add_output_flag,
    add_repeats_flag,
    command_parser,
    publish,
)

_KERNEL_PAIRS = 60_000
_REPEATS = 5
_WITHOUT_KERNEL = (sys.executable, "-m", "benchmarks.speed.without_kernel")
_DISTRIBUTIONS = ("apache-beam", "numba", "numpy", "pyarrow")
_CERTAIN = "--no_uncertainty"

# The parts.
_CANDIDATE = "tokenizing the candidate"
_REFERENCE = "tokenizing the reference, and writing its keys"
_MATCHING = "matching"
_EMPTY = "the kernel's work for a segment without text"
_MOMENTS = "squares and products for the standard error"
_READING = "reading, the check of UTF-8, splitting, Beam"


def _main() -> None:
    parser = command_parser("Measures where the CPU of a run goes.")
    add_corpus_flags(parser)
    add_repeats_flag(parser, _REPEATS)
    add_output_flag(parser)
    flags = parser.parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    load = os.getloadavg()[0]
    report = _report(workspace, flags.repeats)
    notes = (
        f"{datetime.date.today()}. `python -m benchmarks.speed.parts`, {flags.pairs:,} pairs, "
        f"medians of {flags.repeats} runs in turn. {machine(_DISTRIBUTIONS)} "
        f"{shown_extras().capitalize()}; "
        f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after."
    )
    publish(f"# Where a microsecond goes\n\n{notes}\n\n{report}", flags.output)


def _report(workspace: Workspace, repeats: int) -> str:
    text, one_line = workspace.whole(), workspace.head(1)
    kernel = _kernel(workspace.head(min(_KERNEL_PAIRS, text.pairs)), repeats)
    whole, start, outside, outside_start, certain, certain_start, words = (
        medians(runs).cpu
        for runs in interleaved(
            [
                *(
                    functools.partial(_command, program, of_text)
                    for program in (BEAM_BLEU, _WITHOUT_KERNEL, (*_WITHOUT_KERNEL, _CERTAIN))
                    for of_text in (text, one_line)
                ),
                functools.partial(run, ["wc", "-l", *text.files]),
            ],
            repeats,
            warm_up=True,
        )
    )

    def a_pair(seconds: float) -> float:
        return 1e6 * seconds / text.pairs

    rows = {
        _CANDIDATE: kernel["candidates"] - kernel["nothing"],
        _REFERENCE: kernel["references"] - kernel["nothing"],
        _MATCHING: kernel["both"] - kernel["candidates"] - kernel["references"] + kernel["nothing"],
        _EMPTY: kernel["nothing"],
        _MOMENTS: a_pair(outside - outside_start - certain + certain_start),
        _READING: a_pair(certain - certain_start),
    }
    return "\n".join(
        [
            "| part | µs of CPU for a pair |",
            "| --- | ---: |",
            *(f"| {what} | {value:.3f} |" for what, value in rows.items()),
            f"| all parts | {sum(rows.values()):.3f} |",
            f"| the whole command without its start, measured | {a_pair(whole - start):.3f} |",
            f"| to compare: Arrow's check of UTF-8 of the same texts | {kernel['utf8']:.3f} |",
            f"| to compare: `wc -l` of the same files | {a_pair(words):.3f} |",
            "",
            f"The start takes {start:.2f} s of CPU, however many pairs there are.",
            "",
            _sharing(rows),
            "",
        ]
    )


def _sharing(rows: Mapping[str, float]) -> str:
    """What 16 systems can save at most if they share everything that does not depend on them."""
    tokens = rows[_CANDIDATE] + rows[_MATCHING]
    reading = rows[_READING] / 2  # half of the text is the references'
    own = tokens + reading + rows[_EMPTY] + rows[_MOMENTS]
    shared = rows[_REFERENCE] + reading
    return (
        f"Of these parts, {own:.3f} µs are a candidate's own, and {shared:.3f} µs are work on the "
        f"reference, which all systems can share. So a candidate of {SYSTEMS} systems takes at "
        f"least {_least(own, shared):.2f} times the CPU of a pair. If everything took no time "
        "except tokenizing and matching, it would be "
        f"{_least(tokens, rows[_REFERENCE]):.2f} times."
    )


def _least(own: float, shared: float) -> float:
    return (own + shared / SYSTEMS) / (own + shared)


def _kernel(text: Text, repeats: int) -> dict[str, float]:
    """Microseconds of a pair in the kernel, by which sides of the batches have text."""
    program = [sys.executable, "-m", "benchmarks.speed.contestants", "sides"]
    command = [*program, *text.candidates, *text.all_references]
    found = [json.loads(run(command, cores()[-1:]).stdout) for _ in range(repeats)]
    return {
        side: 1e6 * statistics.median(each[side] for each in found) / text.pairs
        for side in found[0]
    }


def _command(command: Sequence[str], text: Text) -> Run:
    return run([*command, *text.arguments, "--format=json"])


if __name__ == "__main__":
    _main()
