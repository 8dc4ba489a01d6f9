"""The library on elements, against pipelines that count them, and on tables."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Sequence

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import Run, interleaved, run
from benchmarks.speed.results import Figure, Measurement, Results
from benchmarks.speed.sizes import Sizes

_KEYS = 7

COUNT, GLOBALLY, COUNT_KEYED, PER_KEY, TABLES, TABLES_PER_KEY = (
    "count",
    "globally",
    "count-keyed",
    "per-key",
    "tables",
    "tables-per-key",
)
_OF_TABLES = (TABLES, TABLES_PER_KEY)

SEGMENT_TABLES, SEGMENT_LINES = "segment-scores-tables", "segment-scores-lines"
"""`SegmentScores`: on tables, and on the lines of a text."""

WITH_TABLES = (*_OF_TABLES, SEGMENT_TABLES)
_OF_LINES = (COUNT, GLOBALLY, COUNT_KEYED, PER_KEY)

CREATED = "created-"
"""Before the name of a way: its elements come from `beam.Create`, not from the lines of a text."""

WAYS = (*_OF_LINES, *(CREATED + way for way in _OF_LINES), *_OF_TABLES)
"""The ways to score a corpus, and to count its elements."""

_LESS_CREATED = 10
"""`beam.Create` needs so much time for an element that it gets a part of the segments."""

TABLE_ROWS = 20_000
COPIES = 20
"""How often the tables are scored, because a table needs so little time."""


def library(workspace: Workspace, sizes: Sizes) -> Results:
    """The library on elements and on tables."""
    return compared(workspace.head(sizes.library_segments), sizes.repeats)


def compared(text: Text, repeats: int) -> Results:
    """The same, on a text, with this number of runs of each pipeline."""
    measurements = _measured(WAYS, text, repeats)
    cpu = _cpu_by_way(measurements)
    against = "CPU against the pipeline that only counts the elements"
    figures = []
    for of_source, source in ((CREATED, "elements of `beam.Create`"), ("", "lines of a text")):
        for name, reach, ours, counting in (
            ("`CorpusBleu.Globally`", 1.12, of_source + GLOBALLY, of_source + COUNT),
            (
                f"`CorpusBleu.PerKey`, {_KEYS} interleaved keys",
                1.2,
                of_source + PER_KEY,
                of_source + COUNT_KEYED,
            ),
        ):
            ratio = cpu[ours] / cpu[counting]
            both = f"{1e6 * cpu[ours]:.1f} and {1e6 * cpu[counting]:.1f} µs a segment"
            figures.append(
                Figure(
                    f"{name}, {source}, {against}",
                    f"≤ {reach:g}x",
                    f"{ratio:.2f}x ({both})",
                    ratio <= reach,
                )
            )
    rates = [1 / cpu[way] for way in _OF_TABLES]
    figures.append(
        Figure(
            f"`CorpusBleu` on tables of {TABLE_ROWS:,} rows, segments a CPU second: "
            f"`Globally`; `PerKey`, {_KEYS} interleaved keys",
            "≥ 400,000",
            "; ".join(f"{rate:,.0f}" for rate in rates),
            min(rates) >= 400_000,
        )
    )
    return figures, measurements


def segment_scores(workspace: Workspace, sizes: Sizes) -> Results:
    """`SegmentScores` on tables; and on elements, beside a pipeline that only counts them."""
    text = workspace.head(sizes.library_segments)
    measurements = _measured((SEGMENT_TABLES, SEGMENT_LINES, COUNT), text, sizes.repeats)
    cpu = _cpu_by_way(measurements)
    rate = 1 / cpu[SEGMENT_TABLES]
    figure = Figure(
        f"`SegmentScores`, BLEU, on tables of {TABLE_ROWS:,} rows, segments a CPU second",
        "≥ 300,000",
        f"{rate:,.0f}; a segment of a line costs {1e6 * cpu[SEGMENT_LINES]:.1f} µs, and "
        f"{1e6 * cpu[COUNT]:.1f} µs if it is only counted",
        rate >= 300_000,
    )
    return [figure], measurements


def _measured(ways: Sequence[str], text: Text, repeats: int) -> list[Measurement]:
    """The runs of pipelines, which take turns."""
    with tempfile.TemporaryDirectory() as folder:
        lines, few_lines, one_line = (
            pathlib.Path(folder, f"{name}.txt") for name in ("lines", "few_lines", "one_line")
        )
        few = text.pairs // _LESS_CREATED
        for path, size in ((lines, text.pairs), (few_lines, few), (one_line, 1)):
            _write_lines(text, path, size)
        contestants = [
            functools.partial(_child, way, few_lines if _is_created(way) else lines, one_line)
            for way in ways
        ]
        found = interleaved(contestants, repeats)
    segments = {
        way: few if _is_created(way) else text.pairs * (COPIES if way in WITH_TABLES else 1)
        for way in ways
    }
    return [Measurement(way, segments[way], runs) for way, runs in zip(ways, found, strict=True)]


def _cpu_by_way(measurements: Sequence[Measurement]) -> dict[str, float]:
    """The seconds of CPU for a segment."""
    return {
        each.what: statistics.median(run.cpu for run in each.runs) / each.pairs
        for each in measurements
    }


def _is_created(way: str) -> bool:
    return way.startswith(CREATED)


def _write_lines(text: Text, path: pathlib.Path, size: int) -> None:
    """Writes a line for each of the first segments: a key, the candidate and the reference."""
    with (
        open(text.candidates[0], "rb") as candidates,
        open(text.references, "rb") as references,
        open(path, "wb") as file,
    ):
        segments = itertools.islice(zip(candidates, references, strict=True), size)
        for number, (candidate, reference) in enumerate(segments):
            file.write(b"key %d\t%s\t%s" % (number % _KEYS, candidate[:-1], reference))


def _child(way: str, lines: pathlib.Path, one_line: pathlib.Path) -> Run:
    """Runs a pipeline in a process. The seconds are only those of the pipeline."""
    program = [sys.executable, "-m", "benchmarks.speed.library", "--run", way]
    result = run([*program, str(lines), str(one_line)])
    cpu, wall = json.loads(result.stdout)
    return dataclasses.replace(result, cpu=cpu, wall=wall)
