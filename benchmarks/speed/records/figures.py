"""The figures for records: each format against line-parallel text, and against other programs."""

from __future__ import annotations

import functools
import json
import pathlib
import sys
from collections.abc import Callable, Mapping

from benchmarks.corpus.workspace import Text
from benchmarks.measure import BEAM_BLEU, Run, interleaved, medians, run
from benchmarks.speed.commands import beam_bleu, score
from benchmarks.speed.results import Figure, Measurement, Reach, Results, at_least

REACH: Mapping[str, Reach] = {
    "zstd.parquet": at_least(0.8),
    "snappy.parquet": at_least(0.8),
    "tsv": at_least(0.8),
    "jsonl": at_least(0.6),
}
"""The pairs per second of each format that are to be reached, as a part of those of line-parallel
text."""


def formats(text: Text, patterns: Mapping[str, str], repeats: int) -> Results:
    """The whole command on each format, wall, against the same texts as line-parallel text."""
    contestants: list[Callable[[], Run]] = [functools.partial(beam_bleu, text)]
    contestants += [functools.partial(_records, patterns[name], text.pairs) for name in REACH]
    lines, *of_formats = interleaved(contestants, repeats, warm_up=True)
    figures = []
    measurements = [Measurement("beam-bleu, line-parallel", text.pairs, lines)]
    for (name, reach), runs in zip(REACH.items(), of_formats, strict=True):
        ratio = medians(lines).wall / medians(runs).wall
        cpu = medians(lines).cpu / medians(runs).cpu
        is_equal = score(runs[-1]) == score(lines[-1])
        equal = "" if is_equal else "; **DIFFERENT SCORE**"
        figures.append(
            reach.figure(
                f"{name}, {text.pairs:,} pairs, pairs/s on all cores, against line-parallel",
                ratio,
                f"per CPU second: {cpu:.2f}x{equal}",
                is_right=is_equal,
            )
        )
        measurements.append(Measurement(f"beam-bleu, {name}", text.pairs, runs))
    return figures, measurements


def pandas(text: Text, patterns: Mapping[str, str], repeats: int) -> Results:
    """The whole command on JSON lines against pandas and sacreBLEU's API, wall."""
    pattern = patterns["jsonl"]
    ours, theirs = interleaved(
        [
            functools.partial(_records, pattern, text.pairs),
            functools.partial(_contestant, "pandas", pattern, text.pairs),
        ],
        repeats,
        warm_up=True,
    )
    ratio = medians(theirs).wall / medians(ours).wall
    found = json.loads(theirs[-1].stdout)["score"]
    is_equal = found == score(ours[-1])
    equal = "same score" if is_equal else f"**DIFFERENT SCORES** {score(ours[-1])} and {found}"
    return [
        Figure(
            f"jsonl, {text.pairs:,} pairs, wall, against pandas and sacreBLEU's API",
            "say it",
            f"{ratio:.1f}x as fast; {equal}",
            is_equal,
        )
    ], [
        Measurement("beam-bleu, jsonl", text.pairs, ours),
        Measurement("pandas.read_json(lines=True), sacreBLEU's API", text.pairs, theirs),
    ]


def polars(text: Text, patterns: Mapping[str, str], repeats: int) -> Results:
    """The whole command on Parquet against polars, which reads the texts without scoring, wall."""
    pattern = patterns["zstd.parquet"]
    ours, theirs = interleaved(
        [
            functools.partial(_records, pattern, text.pairs),
            functools.partial(_contestant, "polars", pattern, text.pairs),
        ],
        repeats,
        warm_up=True,
    )
    ratio = medians(ours).wall / medians(theirs).wall
    return [
        Figure(
            f"zstd.parquet, {text.pairs:,} pairs, wall, against polars that only reads the texts",
            "say it",
            f"{ratio:.1f}x its time",
            True,
        )
    ], [
        Measurement("beam-bleu, zstd.parquet", text.pairs, ours),
        Measurement("polars, without scoring", text.pairs, theirs),
    ]


def record_files(text: Text, copies: int) -> dict[str, str]:
    """The record files of a text, beside its own files."""
    from benchmarks.speed.records.record_files import record_patterns

    return record_patterns(text, pathlib.Path(text.references).parent, copies)


def _records(pattern: str, pairs: int) -> Run:
    """Runs the whole command on records, and checks that it has scored every pair."""
    result = run([*BEAM_BLEU, "--input", pattern, "--format=json"])
    _check(json.loads(result.stdout)["segments"], pairs, pattern)
    return result


def _contestant(name: str, pattern: str, pairs: int) -> Run:
    result = run([sys.executable, "-m", "benchmarks.speed.records.contestants", name, pattern])
    _check(json.loads(result.stdout)["pairs"], pairs, name)
    return result


def _check(found: int, pairs: int, what: str) -> None:
    if found != pairs:
        raise RuntimeError(f"{what}: {found} pairs of {pairs} were read")
