"""Pipelines of the library to measure: with segments as elements, with tables, and mere counting.

Each runs in its own process, which imports this module, because Beam would pickle the functions of
a main program, with all that they use. Elements are lines of a file: with `beam.Create`, Beam
pickles and compresses each one, which takes twenty times as long as all other steps.
"""

from __future__ import annotations

import functools
import json
import pathlib
import statistics
import tempfile
import time
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms import combiners

from beam_bleu import ArrowColumns, CorpusBleu, SegmentScores

_TABLE_ROWS = 20_000
_STARTS = 3

_columns = functools.partial(ArrowColumns, "candidate", ["reference"])

_OF_LINES: dict[str, Any] = {
    "count": combiners.Count.Globally,
    "globally": CorpusBleu.Globally,
    "segment_scores": SegmentScores,
}
_OF_KEYED_LINES: dict[str, Any] = {
    "count_per_key": combiners.Count.PerKey,
    "per_key": CorpusBleu.PerKey,
}
_OF_TABLES: dict[str, Any] = {
    "tables_globally": lambda: CorpusBleu.Globally(columns=_columns()),
    "tables_per_key": lambda: CorpusBleu.PerKey(columns=_columns(key="key")),
    "tables_segment_scores": lambda: SegmentScores(["bleu"], columns=_columns()),
}


def _segment(line: str) -> tuple[str, list[str]]:
    _, candidate, reference = line.split("\t", 2)
    return candidate, [reference]


def _keyed_segment(line: str) -> tuple[str, tuple[str, list[str]]]:
    key, candidate, reference = line.split("\t", 2)
    return key, (candidate, [reference])


_given: list[pa.Table] = []
"""The elements of a pipeline of tables."""


def _give_tables(_: None) -> list[pa.Table]:
    return _given


def _tables(path: str) -> list[pa.Table]:
    with open(path, encoding="utf-8", newline="\n") as lines:
        rows = [line.removesuffix("\n").split("\t", 2) for line in lines]
    names = ["key", "candidate", "reference"]
    table = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    return [table.slice(start, _TABLE_ROWS) for start in range(0, len(rows), _TABLE_ROWS)]


def _seconds(way: str, path: str) -> tuple[float, float]:
    """The (CPU, wall) seconds of a pipeline."""
    _given[:] = _tables(path) if way in _OF_TABLES else []
    cpu, wall = time.process_time(), time.perf_counter()
    with beam.Pipeline("FnApiRunner") as pipeline:
        if way in _OF_TABLES:
            elements = pipeline | beam.Create([None], reshuffle=False)
            elements |= beam.FlatMap(_give_tables).with_output_types(Any)
        else:
            of_line = _keyed_segment if way in _OF_KEYED_LINES else _segment
            elements = pipeline | beam.io.ReadFromText(path) | beam.Map(of_line)
        _ = elements | {**_OF_LINES, **_OF_KEYED_LINES, **_OF_TABLES}[way]()
    return time.process_time() - cpu, time.perf_counter() - wall


def main(way: str, path: str) -> None:
    """Runs a pipeline, and prints its seconds as JSON, minus those of a single segment.

    Args:
      way: the name of a pipeline.
      path: a file with a key, a candidate and a reference in each line.
    """
    with tempfile.TemporaryDirectory() as folder:
        one_line = pathlib.Path(folder, "line.txt")
        with open(path, encoding="utf-8") as lines:
            one_line.write_text(lines.readline(), encoding="utf-8")
        _seconds(way, str(one_line))  # compiles or loads the kernel
        starts = [_seconds(way, str(one_line)) for _ in range(_STARTS)]
    of_start = [statistics.median(seconds) for seconds in zip(*starts, strict=True)]
    cpu, wall = (whole - start for whole, start in zip(_seconds(way, path), of_start, strict=True))
    print(json.dumps({"cpu": cpu, "wall": wall}))
