"""Calls on lists against sacreBLEU's API."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import statistics
import sys
from collections.abc import Sequence

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import Run, interleaved, medians, run
from benchmarks.speed.results import Measurement, Results, at_least, at_most
from benchmarks.speed.sizes import Sizes

_LINES = 3_004
_SEGMENTS = 60_000
_COLD, _WARM = "--cold", "--warm"

_AT_ONCE = ("score", "score_with_errors", "sacrebleu_corpus")


def calls(workspace: Workspace, sizes: Sizes) -> Results:
    """The calls of the library on lists of Python."""
    lines, many = workspace.head(_LINES), workspace.head(min(_SEGMENTS, sizes.kernel_pairs))
    warm = _measured(_AT_ONCE, lines, sizes.short_repeats)
    cold = _measured(_AT_ONCE, lines, sizes.short_repeats, _COLD)
    segments = _measured(["segments"], many, sizes.short_repeats)["segments"]

    def seconds(name: str) -> float:
        return statistics.median(each.cpu for each in warm[name])

    def ratio(ours: str, theirs: str) -> float:
        return seconds(theirs) / seconds(ours)

    def same(ours: str, theirs: str) -> bool:
        found = [_score(runs[-1]) for runs in (warm[ours], warm[theirs])]
        return math.isclose(*found, rel_tol=1e-12)

    corpus, theirs = f"{lines.pairs:,} lines in lists", "sacreBLEU's `corpus_bleu`"
    first, of_theirs = (medians(cold[name]) for name in ("score", "sacrebleu_corpus"))
    is_right = same("score", "sacrebleu_corpus")
    note = "same score" if is_right else "**DIFFERENT SCORE**"
    rate = segments_a_second(segments, many.pairs)
    with_errors = f"{ratio('score_with_errors', 'sacrebleu_corpus'):.0f}x"
    figures = [
        at_least(100, digits=0).figure(
            f"`score`, {corpus}, warm, CPU against {theirs}",
            ratio("score", "sacrebleu_corpus"),
            f"{note}; with standard errors {with_errors}",
            is_right=is_right,
        ),
        at_most(0.4, " s").figure(
            f"`score`, {corpus}, a new process on one core, with its imports, CPU",
            first.cpu,
            f"wall {first.wall:.2f} s; sacreBLEU {of_theirs.cpu:.2f} and {of_theirs.wall:.2f} s",
        ),
        at_least(300_000, "", digits=0).figure(
            f"`score_segments`, one call with {many.pairs:,} segments in lists, a CPU second", rate
        ),
    ]
    measurements = [
        *(Measurement(f"{name}, warm", lines.pairs, runs) for name, runs in warm.items()),
        *(Measurement(f"{name}, with imports", lines.pairs, runs) for name, runs in cold.items()),
        Measurement("segments, warm", many.pairs, segments),
    ]
    return figures, measurements


def segments_a_second(runs: Sequence[Run], segments: int) -> float:
    """How many segments are scored in a CPU second."""
    return segments / statistics.median(each.cpu for each in runs)


def _measured(
    names: Sequence[str], text: Text, repeats: int, state: str = _WARM
) -> dict[str, list[Run]]:
    """The runs of contestants, which take turns; cold ones are timed as whole processes."""
    contestants = [functools.partial(_child, name, text, state) for name in names]
    return dict(zip(names, interleaved(contestants, repeats, warm_up=True), strict=True))


def _child(name: str, text: Text, state: str) -> Run:
    program = [sys.executable, "-m", "benchmarks.speed.calls.contestants", name]
    found = run([*program, text.candidates[0], text.references, state])
    if state == _COLD:
        return found
    seconds = json.loads(found.stdout)
    return dataclasses.replace(found, cpu=seconds["cpu"], wall=seconds["wall"])


def _score(found: Run) -> float:
    score: float = json.loads(found.stdout)["score"]
    return score
