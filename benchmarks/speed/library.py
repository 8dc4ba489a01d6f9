"""Measures the library: calls on lists, and pipelines of segments or of Arrow tables."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

from benchmarks.corpus.workspace import Text
from benchmarks.measure import cores
from benchmarks.speed.harness import (
    Benchmark,
    Comparison,
    Contestant,
    Figure,
    Setting,
    one,
    rate,
    ratio,
)
from benchmarks.speed.kernel import kernel_pairs
from benchmarks.speed.programs import timed

_LINES = 3_004
"""How many lines are scored in a call: as many as WMT's test set of 2017 has."""

_SEGMENTS = 400_000
"""The number of segments of a pipeline."""

_KEYS = 7


def _calls(setting: Setting) -> Iterator[Comparison]:
    lines = setting.corpus.head(min(_LINES, setting.corpus.pairs))
    many = setting.corpus.head(kernel_pairs(setting))
    yield Comparison(
        [
            timed("score", "`score`", lines),
            timed("corpus_bleu", "sacreBLEU's `corpus_bleu`", lines),
        ],
        [
            Figure(
                f"`score`, {lines.pairs:,} lines in lists, against sacreBLEU's `corpus_bleu`",
                ratio("sacreBLEU's `corpus_bleu`", "`score`"),
                least=100,
            )
        ],
    )
    cold = timed("score", "process", lines, "--passes=1", on=cores()[-1:])
    yield Comparison(
        [Contestant(cold.name, cold.command, cold.pairs, cold.on)],
        [Figure("the same, a new process with its imports", one("process"), most=0.4, unit=" s")],
    )
    yield Comparison(
        [timed("score_segments", "`score_segments`", many)],
        [
            Figure(
                f"`score_segments`, {many.pairs:,} segments in lists, segments a CPU second",
                rate("`score_segments`", many.pairs),
                least=300_000,
                unit="",
            )
        ],
    )


def _pipelines(setting: Setting) -> Iterator[Comparison]:
    text = setting.corpus.head(min(_SEGMENTS, setting.corpus.pairs))
    file = setting.folder / "lines.txt"
    _write_keyed_lines(text, file)

    def pipeline(way: str) -> Contestant:
        code = "import sys; from benchmarks.speed.pipelines import main; main(*sys.argv[1:])"
        command = [sys.executable, "-c", code, way, str(file)]
        return Contestant(way, command, text.pairs, times_itself=True)

    of_lines = {"globally": ("count", 1.5), "per_key": ("count_per_key", 1.7)}
    counting = [pipeline(way) for way in ("count", "count_per_key")]
    scoring = [pipeline(way) for way in (*of_lines, "segment_scores")]
    yield Comparison(
        [*counting, *scoring],
        [
            Figure(
                f"pipeline `{way}` on lines, CPU against `{count}`",
                ratio(way, count),
                most=most,
            )
            for way, (count, most) in of_lines.items()
        ]
        + [
            Figure(f"`{each.name}`, a segment", one(each.name, scale=1e6 / text.pairs), unit=" µs")
            for each in (*counting, *scoring)
        ],
    )
    tables = {
        "tables_globally": 400_000,
        "tables_per_key": 400_000,
        "tables_segment_scores": 300_000,
    }
    yield Comparison(
        [pipeline(way) for way in tables],
        [
            Figure(
                f"pipeline `{way}`, segments a CPU second",
                rate(way, text.pairs),
                least=least,
                unit="",
            )
            for way, least in tables.items()
        ],
    )


def _write_keyed_lines(text: Text, path: pathlib.Path) -> None:
    """Writes a line for each segment: a key, the candidate and the reference."""
    (candidates,), (references,) = text.candidates, text.references
    with (
        open(candidates, "rb") as of_system,
        open(references, "rb") as of_references,
        open(path, "wb") as file,
    ):
        for number, (candidate, reference) in enumerate(zip(of_system, of_references, strict=True)):
            file.write(b"key %d\t%s\t%s" % (number % _KEYS, candidate[:-1], reference))


BENCHMARKS: dict[str, Benchmark] = {"calls": _calls, "pipelines": _pipelines}
