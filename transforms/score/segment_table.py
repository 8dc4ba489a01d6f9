"""Makes the table of segment scores: each segment of a batch scored by itself, for each system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Integers, without_nan
from beam_bleu.transforms.statistics.counting import BatchStatistics

INTEGERS = pa.list_(pa.field("element", pa.int64(), nullable=False))
TEXTS = pa.list_(pa.field("element", pa.large_string(), nullable=False))

_TEXT_FIELDS = (
    pa.field("candidate", pa.large_string(), nullable=False),
    pa.field("references", TEXTS, nullable=False),
)

_NAME = pa.dictionary(pa.int32(), pa.string())


def segment_schema(
    metrics: Sequence[Metric],
    labels: Sequence[str] = (),
    kept: Sequence[str] = (),
    *,
    texts: bool = False,
) -> pa.Schema:
    """The columns of the table; a column has the same type in all metrics. `score`, labels, kept
    columns, and columns that only some metrics have can be null.
    """
    fields = [own_types(metric) for metric in metrics]
    types = {name: own[name] for own in fields for name in own}
    return pa.schema(
        [
            pa.field("index", pa.int64(), nullable=False),
            pa.field("system", _NAME, nullable=False),
            pa.field("metric", _NAME, nullable=False),
            pa.field("score", pa.float64()),
            *(
                pa.field(
                    name, its_type, nullable=not all(name in of_metric for of_metric in fields)
                )
                for name, its_type in types.items()
            ),
            *(pa.field(name, pa.string()) for name in labels),
            *(pa.field(name, pa.large_string()) for name in kept),
            *(_TEXT_FIELDS if texts else ()),
        ]
    )


def segment_table(
    statistics: BatchStatistics, place: int, name: str, metric: Metric, schema: pa.Schema
) -> pa.Table:
    """The scores of a batch by a metric: a row for each segment and system, system by system."""
    assert statistics.numbers is not None
    systems, segments = len(statistics.systems), len(statistics)
    rows = systems * segments
    counts, texts = statistics.rows(place), _text_columns(statistics)
    after_labels = len(schema) - len(statistics.kept) - len(texts)
    labels = schema.names[after_labels - len(statistics.labels) : after_labels]
    columns = {
        "index": np.tile(statistics.numbers, systems),
        "system": _named(
            np.repeat(np.arange(systems, dtype=np.int32), segments), statistics.systems
        ),
        "metric": _named(np.zeros(rows, np.int32), [name]),
        "score": without_nan(metric.segment_scores(counts)),
        **own_columns(counts, metric),
        **{
            label: pa.concat_arrays([column.cast(pa.string())] * systems)
            for label, column in zip(labels, statistics.labels, strict=True)
        },
        # The rows of all systems share the bytes of these texts.
        **{name: pa.chunked_array([column] * systems) for name, column in statistics.kept.items()},
        **texts,
    }
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def own_types(metric: Metric) -> dict[str, pa.DataType]:
    row = np.zeros((metric.basis.width, 1), np.int64)
    return {name: _array(part).type for name, part in metric.segment_parts(row).items()}


def own_columns(rows: Integers, metric: Metric) -> dict[str, pa.Array]:
    return {name: _array(part) for name, part in metric.segment_parts(rows.T).items()}


def _array(part: Any) -> pa.Array:
    return list_array(np.stack(part, axis=-1)) if isinstance(part, tuple) else pa.array(part)


def _text_columns(statistics: BatchStatistics) -> dict[str, pa.ChunkedArray]:
    if statistics.texts is None:
        return {}
    candidates, references = statistics.texts.candidates, statistics.texts.references
    lists = _lists(references)
    return {
        "candidate": pa.chunked_array(list(candidates)),
        "references": pa.chunked_array([lists] * len(candidates)),
    }


def _lists(columns: Sequence[pa.LargeStringArray]) -> pa.ListArray:
    rows = len(columns[0])
    there = np.stack([column.is_valid().to_numpy(zero_copy_only=False) for column in columns])
    bounds = np.concatenate([[0], np.cumsum(there.sum(axis=0))]).astype(np.int32)
    texts = columns[0]
    if len(columns) > 1 or texts.null_count:
        by_row = np.arange(len(columns) * rows).reshape(len(columns), rows).T[there.T]
        texts = pa.concat_arrays(columns).take(pa.array(by_row))
    return pa.ListArray.from_arrays(pa.array(bounds), texts, TEXTS)


def list_array(integers: Integers) -> pa.ListArray:
    *_, length = integers.shape
    bounds = np.arange(0, integers.size + 1, length, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(bounds), integers.ravel(), INTEGERS)


def _named(places: NDArray[np.int32], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places), pa.array(names, pa.string()))
