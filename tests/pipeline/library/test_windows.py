"""`Evaluate` on tables in windows: each window and pane has the result of a run over its rows."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.testing.test_stream import TestStream as Stream
from apache_beam.testing.util import assert_that
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark
from apache_beam.transforms.window import (
    FixedWindows,
    GlobalWindows,
    SlidingWindows,
    TimestampedValue,
)

from beam_bleu import ArrowColumns, Evaluate
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.transforms.totals import documents

COLUMNS = ArrowColumns(
    {"old": "old", "new": "new"}, ["reference"], labels=["domain", "document"], ids="id"
)
WORDS = ["a", "and", "at", "bark", "cat", "dogs", "mat", "night", "on", "sat", "some", "the"]


def made(count: int, rows: int = 8) -> list[pa.Table]:
    """Tables with random texts."""
    generator = np.random.default_rng(count)

    def text() -> str:
        return " ".join(generator.choice(WORDS, generator.integers(4, 9)))

    tables = []
    for number in range(count):
        references = [text() for _ in range(rows)]
        columns = {
            "reference": references,
            "old": [text() + " " + reference for reference in references],
            "new": [f"{reference} {text()}" for reference in references],
            "domain": generator.choice(["news", "talks"], rows),
            "document": [f"d{place % 3}" for place in range(rows)],
            "id": [f"{number}-{place}" for place in range(rows)],
        }
        tables.append(pa.table(columns))
    return tables


KEYWORDS: dict[str, dict[str, Any]] = {
    "segments": {"slice_by": ["domain", "length"], "metrics": ["bleu", "chrf"], "examples": 2},
    "documents": {
        "documents": "document",
        "slice_by": "domain",
        "resample": "bootstrap",
        "resamples": 20,
    },
}


FOUND: list[bytes] = []
"""What `of_batch` has found. Beam copies a function, unless it finds it in its module."""


def keep(documents: list[dict[str, Any]]) -> None:
    FOUND[:] = map(document_bytes, documents)


def of_batch(tables: list[pa.Table], keywords: dict[str, Any]) -> bytes:
    """The bytes of the document of a run over these tables, in one table and without windows."""
    with beam.Pipeline("FnApiRunner") as root:
        whole = root | beam.Create([pa.concat_tables(tables)])
        assert_that((whole | Evaluate(columns=COLUMNS, **keywords)).document, keep)
    (only,) = FOUND
    return only


class Dated(beam.DoFn):
    """Maps each document to the end of its window, and its bytes."""

    def process(self, document: Any, window: Any = beam.DoFn.WindowParam) -> Any:
        yield int(window.end), document_bytes(document)


def assert_results(documents: Any, expected: list[Any]) -> None:
    """Checks the documents of all windows, each with the end of its window."""

    def check(found: list[Any]) -> None:
        assert sorted(found) == sorted(expected)

    dated = documents | beam.ParDo(Dated()) | "Unwindow" >> beam.WindowInto(GlobalWindows())
    assert_that(dated, check)


def test_each_window_has_the_result_of_its_rows():
    tables, times = made(5), [1, 9, 10, 30, 39]
    for kind, windows, places in (
        ("segments", FixedWindows(10), {10: [0, 1], 20: [2], 40: [3, 4]}),
        ("documents", SlidingWindows(20, 10), {10: [0, 1], 20: [0, 1, 2], 30: [2], 50: [3, 4]}),
    ):
        keywords = KEYWORDS[kind]
        expected = {
            end: of_batch([tables[place] for place in own], keywords) for end, own in places.items()
        }
        if kind == "documents":
            expected[40] = expected[50]
        with beam.Pipeline("FnApiRunner") as root:
            rows = [TimestampedValue(*each) for each in zip(tables, times, strict=True)]
            in_windows = root | beam.Create(rows) | beam.WindowInto(windows)
            evaluated = in_windows | Evaluate(columns=COLUMNS, **keywords)
            assert_results(evaluated.document, [*expected.items()])


@pytest.mark.parametrize("mode", ["ACCUMULATING", "DISCARDING"])
def test_each_pane_of_a_stream_has_the_result_of_its_rows(mode):
    first, second, late = tables = made(3)
    stream = (
        Stream()
        .advance_watermark_to(0)
        .add_elements([TimestampedValue(first, 1)])
        .add_elements([TimestampedValue(second, 2)])
        .advance_watermark_to(11)
        .add_elements([TimestampedValue(late, 3)])
        .advance_watermark_to_infinity()
    )
    keywords = KEYWORDS["documents"]
    panes = [[first], [second], [late]]
    if mode == "ACCUMULATING":
        # The pane at the end of the window has what the early ones have.
        panes = [[first], [first, second], [first, second], tables]
    options = PipelineOptions()
    options.view_as(StandardOptions).streaming = True
    with beam.Pipeline("BundleBasedDirectRunner", options=options) as root:
        evaluated = (
            root
            | stream
            | beam.WindowInto(
                FixedWindows(10),
                trigger=AfterWatermark(early=AfterCount(1), late=AfterCount(1)),
                accumulation_mode=getattr(AccumulationMode, mode),
                allowed_lateness=100,
            )
            | Evaluate(columns=COLUMNS, **keywords)
        )
        assert_results(evaluated.document, [(10, of_batch(pane, keywords)) for pane in panes])


def test_the_parts_of_many_tables_are_put_together(monkeypatch):
    monkeypatch.setattr(documents, "_MOST_PARTS", 2)
    tables, keywords = made(6, 5), KEYWORDS["documents"]
    expected = of_batch(tables, keywords)
    with beam.Pipeline("FnApiRunner") as root:
        evaluated = root | beam.Create(tables) | Evaluate(columns=COLUMNS, **keywords)
        assert_that(
            evaluated.document,
            lambda documents: [[document_bytes(each) for each in documents]].index([expected]),
        )


def test_each_window_is_judged():
    def run(least: float) -> None:
        with beam.Pipeline("FnApiRunner") as root:
            dated = root | beam.Create([TimestampedValue(each, 9) for each in made(2)])
            windows = dated | beam.WindowInto(FixedWindows(10))
            _ = windows | Evaluate(columns=COLUMNS, fail_under=least)

    run(10)
    with pytest.raises(Exception, match=r"old scores .* below 99"):
        run(99)
