"""Results as Arrow tables, without Beam: `read_scores` for notebooks, one table for databases."""

from __future__ import annotations

import dataclasses
import json
import os
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from beam_bleu.pipeline.display.row_order import View
from beam_bleu.pipeline.display.score_tables import signature_of, systems_table
from beam_bleu.pipeline.display.table import as_text
from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.pipeline.examples import read_examples
from beam_bleu.pipeline.result.document import document_bytes, document_of, read_result
from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    MetricNames,
    Result,
    ScoreRow,
)
from beam_bleu.pipeline.saved.saved_result import (
    SavedResult,
    is_folder,
    named_if_damaged,
    result_at,
)
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.score.score import own_fields

TEXT, INTEGER, NUMBER = pa.string(), pa.int64(), pa.float64()
LABELS = pa.map_(TEXT, TEXT)


def _column(name: str, type: pa.DataType, meaning: str = "", *, required: bool = False) -> pa.Field:
    return pa.field(name, type, not required, {"meaning": meaning})


def _uncertainty(what: str) -> tuple[pa.Field, ...]:
    return (
        _column("standard_error", NUMBER, f"the standard error of {what}"),
        _column("interval_low", NUMBER, "the lower end of its 95 % interval"),
        _column("interval_high", NUMBER, "the upper end"),
    )


_METRIC = _column("metric", TEXT, "the word of the metric, as in `--metrics`", required=True)
_SYSTEM = _column("system", TEXT, "the system", required=True)
_BASELINE = "the system with which it is compared"
_OF_WHAT = (
    _column("slice", TEXT, "the slice, such as `domain=news`; null for the whole corpus"),
    _column(
        "labels", LABELS, "the labels of the slice and their values; null for the whole corpus"
    ),
    _column("segments", INTEGER, "how many segments", required=True),
)
_P_VALUES = (
    _column("p_value", NUMBER, "the p-value"),
    _column("p_value_holm", NUMBER, "the p-value, adjusted for all comparisons of the family"),
    _column("detectable", NUMBER, "a true difference that would be found in 80 of 100 cases"),
)
_WILSON = (
    _column("wilson_low", NUMBER, "the lower end of Wilson's interval, of scores that have it"),
    _column("wilson_high", NUMBER, "the upper end"),
)
_MCNEMAR = _column("mcnemar_p_value", NUMBER, "McNemar's exact p-value, of metrics that have it")

METRIC_COLUMNS = pa.schema(
    [
        _METRIC,
        _column("name", TEXT, "its name for readers, such as chrF2", required=True),
        _column("signature", TEXT, "its definition; null if languages have different ones"),
        _column(
            "sacrebleu_signature", TEXT, "the same as sacreBLEU writes it; null if it does not"
        ),
    ]
)

SCORE_COLUMNS = pa.schema(
    [
        *(_METRIC, _SYSTEM, *_OF_WHAT),
        _column("score", NUMBER, "the score, not rounded", required=True),
        *_uncertainty("the score"),
        *_WILSON,
        _column("signature", TEXT, "the definition of this score", required=True),
    ]
)
"""The columns of all scores. Columns for the parts of single metrics come after them."""

COMPARISON_COLUMNS = pa.schema(
    [
        *(_METRIC, _SYSTEM, _column("baseline", TEXT, _BASELINE, required=True), *_OF_WHAT),
        _column("units", INTEGER, "how many units (segments or documents)", required=True),
        _column("difference", NUMBER, "the score of the system minus that of the baseline"),
        *_uncertainty("the difference"),
        *_P_VALUES,
        _MCNEMAR,
        _column("family", TEXT, "the family: corpus or slices", required=True),
    ]
)

_OF_COMPARED = "; null if the segment is not compared"
_KINDS = "why it was picked: best, worst, gain, loss or sample"

RESULT_COLUMNS = pa.schema(
    [
        _column("path", TEXT, "the result that was read", required=True),
        # Not `partition`, which is a reserved word of BigQuery.
        _column("partition_label", TEXT, "its `--partition`; null if it has none, or several"),
        _column("kind", TEXT, "`score`, `preset` or `comparison`", required=True),
        _column("family", TEXT, "`corpus`, `macro_average` or `slices`", required=True),
        _METRIC,
        _column("preset", TEXT, "the preset; null for other kinds"),
        _column("signature", TEXT, "the definition; null if languages have different ones"),
        _SYSTEM,
        _column("baseline", TEXT, _BASELINE),
        *_OF_WHAT,
        _column("score", NUMBER, "the score, not rounded"),
        _column("difference", NUMBER, "the score of the system minus that of the baseline"),
        *_uncertainty("the score or the difference"),
        *_P_VALUES,
        *_WILSON,
        _MCNEMAR,
    ]
)
"""The columns of `beam-bleu table`, for databases: what is written must fit their tables."""

EXAMPLE_COLUMNS = pa.schema(
    [
        *(_column("kind", TEXT, _KINDS, required=True), _METRIC, _SYSTEM),
        _column("baseline", TEXT, f"{_BASELINE}{_OF_COMPARED}"),
        _column("index", INTEGER, "the number of the segment, from 0", required=True),
        _column("id", TEXT, "its id; null if segments have none"),
        _column("score", NUMBER, "the score of the segment; null if it has none"),
        _column("baseline_score", NUMBER, f"that of the baseline{_OF_COMPARED}"),
        _column("difference", NUMBER, f"the score minus that of the baseline{_OF_COMPARED}"),
        _column("candidate", TEXT, "the text of the system"),
        _column("baseline_candidate", TEXT, f"the text of the baseline{_OF_COMPARED}"),
        _column("candidates", LABELS, "the texts of all systems", required=True),
        _column("references", pa.list_(TEXT), "the references", required=True),
        _column("labels", LABELS, "the labels of the segment and their values", required=True),
        _column("kept", LABELS, "the columns of `--keep` and their values", required=True),
    ]
)


def _score_columns(result: Result) -> pa.Schema:
    """The columns of scores, with the parts of each metric, which are null for other metrics."""
    # Parts with the same name have the same type.
    columns = {
        name: _column(name, _type_of(typing.get_type_hints(score_type)[name]))
        for score_type in (metric_type(word).score_type for word in result.words)
        for name in own_fields(score_type)
    }
    return pa.schema([*SCORE_COLUMNS, *columns.values()])


def _fields(row: MetricNames | ScoreRow | ComparisonRow) -> dict[str, Any]:
    fields = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    if not isinstance(row, MetricNames):
        low, high = row.interval or (None, None)
        fields |= {"slice": row.key.slice_text or None, "labels": row.labels or None}
        fields |= {"interval_low": low, "interval_high": high}
        fields |= {"family": row.family}
    if isinstance(row, ScoreRow):
        fields["wilson_low"], fields["wilson_high"] = row.wilson_interval or (None, None)
    if isinstance(row, ComparisonRow):
        fields["mcnemar_p_value"] = row.mcnemar and row.mcnemar.p_value
    return fields


def _parts(row: ScoreRow) -> dict[str, Any]:
    return {name: row.parts[name] for name in own_fields(metric_type(row.metric).score_type)}


def _table(schema: pa.Schema, entries: Iterable[Mapping[str, Any]]) -> pa.Table:
    """The entries as a table; damaged entries raise an error of Python or Arrow."""
    maps = [field.name for field in schema if field.type == LABELS]
    rows = [
        {**entry, **{name: [*entry[name].items()] for name in maps if entry[name] is not None}}
        for entry in entries
    ]
    found = pa.Table.from_pylist(rows, schema)
    for field in schema:
        if not field.nullable and found[field.name].null_count:
            raise ValueError(f"{field.name} is missing")
    return found


def _type_of(hint: Any) -> pa.DataType:
    """The type of the column for an attribute of a score: a number, or a tuple of numbers."""
    if typing.get_origin(hint) is tuple:
        return pa.list_(_type_of(typing.get_args(hint)[0]))
    return NUMBER if float in (hint, *typing.get_args(hint)) else INTEGER


@dataclasses.dataclass(frozen=True, repr=False)
class ScoreTables:
    """A result as Arrow tables; docs/tables.md describes their columns.

    Attributes:
      path: where the result was read.
      metrics: the metrics, with their signatures.
      scores: the scores of all systems, on the whole corpus and on slices.
      comparisons: the differences between systems.
      examples: the segments picked by --examples; empty without it.
      document: the result document, with everything that the tables leave out.
    """

    path: str
    metrics: pa.Table
    scores: pa.Table
    comparisons: pa.Table
    examples: pa.Table
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        names = ("scores", "comparisons", "examples")
        rows = ", ".join(f"{name} {getattr(self, name).num_rows}" for name in names)
        table = systems_table(View(read_result(self.document)))
        return (as_text(table) if table else "") + f"rows: {rows}"


def read_scores(path: str | os.PathLike[str]) -> ScoreTables:
    """Reads the result of a run as tables.

    Args:
      path: the folder of --output; or a scores.json, without examples; or a totals.json, which is
        scored again.

    Raises:
      InputError: the result is missing, unreadable or damaged, or its folder has files of different
        results.

    Examples:
      >>> from beam_bleu import read_scores
      >>> for row in read_scores("out/notebook").scores.to_pylist():
      ...     print(row["metric"], row["system"], f"{row['score']:.1f}")
      bleu atlas 57.8
      bleu birch 37.9
      bleu cobalt 16.6
    """
    saved = result_at(os.fspath(path))
    examples = read_examples(saved.name) if is_folder(saved.name) else None
    with named_if_damaged(saved.name):
        result = saved.result
        scores = (
            {**_fields(row), **_parts(row), "signature": signature_of(result, row)}
            for row in result.scores
            if row.slice != MACRO_AVERAGE
        )
        compared = (row for row in result.comparisons if row.slice != MACRO_AVERAGE)
        return ScoreTables(
            saved.name,
            _table(METRIC_COLUMNS, map(_fields, result.metrics)),
            _table(_score_columns(result), scores),
            _table(COMPARISON_COLUMNS, map(_fields, compared)),
            _table(EXAMPLE_COLUMNS, examples or ()),
            json.loads(document_bytes(document_of(result))),
        )


def result_table(saved: SavedResult) -> pa.Table:
    """All scores and comparisons of a result, also those of presets, as rows of one table."""
    result = saved.result
    (label,) = result.partitions if len(result.partitions) == 1 else (None,)
    about = {"path": printable(saved.name), "partition_label": label}
    with named_if_damaged(saved.name):
        return _table(RESULT_COLUMNS, (about | row for row in _result_rows(result)))


def _result_rows(result: Result) -> Iterator[dict[str, Any]]:
    for row in result.scores:
        yield {"kind": "score", **_fields(row), "signature": signature_of(result, row)}
    for preset in result.presets:
        named = {"preset": preset.preset, "signature": preset.signature}
        yield from ({"kind": "preset", **_fields(row), **named} for row in preset.scores)
    for compared in result.comparisons:
        signature = signature_of(result, compared)
        yield {"kind": "comparison", **_fields(compared), "signature": signature}
