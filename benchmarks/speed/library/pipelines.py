"""The pipelines that `benchmarks.speed.library` measures, each in a process of its own.

The program imports this module, so that Beam can name its functions. If they were in the program
itself, Beam would pickle them with all that they use. Of elements that come from `beam.Create`,
Beam infers the types, pickles each one, and compresses them with bz2, which takes twenty times as
long as all its other steps. So a pipeline with them is measured beside one that reads a text.
"""

from __future__ import annotations

import functools
import statistics
import time
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms import combiners

from beam_bleu import ArrowColumns, CorpusBleu, SegmentScores
from benchmarks.speed.library.figures import (
    COPIES,
    COUNT,
    COUNT_KEYED,
    CREATED,
    GLOBALLY,
    PER_KEY,
    SEGMENT_LINES,
    SEGMENT_TABLES,
    TABLE_ROWS,
    TABLES,
    TABLES_PER_KEY,
    WITH_TABLES,
)

_STARTS = 3

_tables: list[pa.Table] = []
"""The elements of a pipeline of tables."""


def seconds_of(way: str, path: str, one_line: str) -> tuple[float, float]:
    """(CPU, wall) of a pipeline, without its start.

    Args:
      way: the name of a way in `benchmarks.speed.library.figures`.
      path: a file whose lines have a key, a candidate and a reference, with tabs between them.
      one_line: a file with one such line. The start is the time of a pipeline with this line.
    """
    _seconds(way, one_line)  # compiles the kernel or loads it
    starts = [_seconds(way, one_line) for _ in range(_STARTS)]
    all_seconds = _seconds(way, path)
    cpu, wall = (
        seconds - statistics.median(of_starts)
        for seconds, of_starts in zip(all_seconds, zip(*starts, strict=True), strict=True)
    )
    return cpu, wall


def _seconds(way: str, path: str) -> tuple[float, float]:
    """(CPU, wall) of a pipeline."""
    if way in WITH_TABLES:
        _tables[:] = _read_tables(path)
    cpu, wall = time.process_time(), time.perf_counter()
    _run_pipeline(way, path)
    return time.process_time() - cpu, time.perf_counter() - wall


def _run_pipeline(way: str, path: str) -> None:
    is_created, way = way.startswith(CREATED), way.removeprefix(CREATED)
    with beam.Pipeline("FnApiRunner") as pipeline:
        if way in WITH_TABLES:
            elements = (
                pipeline
                | "Start" >> beam.Create([None], reshuffle=False)
                | "Give tables" >> beam.FlatMap(_give_tables).with_output_types(Any)
            )
        else:
            of_line = _keyed_segment if way in (COUNT_KEYED, PER_KEY) else _segment
            if is_created:
                with open(path, encoding="utf-8", newline="\n") as lines:
                    created = [of_line(line.removesuffix("\n")) for line in lines]
                elements = pipeline | beam.Create(created)
            else:
                elements = pipeline | beam.io.ReadFromText(path) | beam.Map(of_line)
        _ = elements | _transform(way)


def _transform(way: str) -> Any:
    columns = functools.partial(ArrowColumns, "candidate", ["reference"])
    transforms: dict[str, Any] = {
        COUNT: combiners.Count.Globally,
        GLOBALLY: CorpusBleu.Globally,
        COUNT_KEYED: combiners.Count.PerKey,
        PER_KEY: CorpusBleu.PerKey,
        TABLES: lambda: CorpusBleu.Globally(columns=columns()),
        TABLES_PER_KEY: lambda: CorpusBleu.PerKey(columns=columns(key="key")),
        SEGMENT_TABLES: lambda: SegmentScores(["bleu"], columns=columns()),
        SEGMENT_LINES: SegmentScores,
    }
    return transforms[way]()


def _segment(line: str) -> tuple[str, list[str]]:
    _, candidate, reference = line.split("\t", 2)
    return candidate, [reference]


def _keyed_segment(line: str) -> tuple[str, tuple[str, list[str]]]:
    key, candidate, reference = line.split("\t", 2)
    return key, (candidate, [reference])


def _read_tables(path: str) -> list[pa.Table]:
    with open(path, encoding="utf-8", newline="\n") as lines:
        rows = [line.removesuffix("\n").split("\t", 2) for line in lines]
    names = ["key", "candidate", "reference"]
    table = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    starts = range(0, len(rows), TABLE_ROWS)
    tables = [table.slice(start, TABLE_ROWS) for start in starts]
    return tables * COPIES if len(rows) > 1 else tables


def _give_tables(_: None) -> list[pa.Table]:
    return _tables
