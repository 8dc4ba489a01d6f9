"""The entries of a result as tables of Arrow. A table has a row of `Column` for each column."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.pipeline.display.score_tables import signature_of
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, ComparisonRow, Result, ScoreRow
from beam_bleu.pipeline.result.series import slice_text
from beam_bleu.transforms.known_metrics import MetricWord, metric_type
from beam_bleu.transforms.score.shown_score import own_fields

TEXT, INTEGER, NUMBER = pa.string(), pa.int64(), pa.float64()
LABELS = pa.map_(TEXT, TEXT)

Entry = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
      name: its name.
      type: its type.
      meaning: what it is, for a reader.
      required: whether no value is null.
    """

    name: str
    type: pa.DataType
    meaning: str
    required: bool = False

    def values(self, entries: Iterable[Entry]) -> pa.Array:
        """The values of all entries.

        Raises:
          KeyError, TypeError, ValueError, OverflowError: the entries are damaged.
        """
        values = [entry[self.name] for entry in entries]
        if self.type == LABELS:
            values = [None if labels is None else list(labels.items()) for labels in values]
        array = pa.array(values, self.type)
        if self.required and array.null_count:
            raise ValueError(f"{self.name} is missing")
        return array


_METRIC = Column("metric", TEXT, "the word of the metric, as in `--metrics`", required=True)
_SYSTEM = Column("system", TEXT, "the system", required=True)
_SLICE = Column("slice", TEXT, "the slice, such as `domain=news`; null for the whole corpus")
_SLICE_LABELS = Column(
    "labels", LABELS, "the labels of the slice and their values; null for the whole corpus"
)
_SEGMENTS = Column("segments", INTEGER, "how many segments", required=True)


def _uncertainty(what: str) -> tuple[Column, ...]:
    return (
        Column("standard_error", NUMBER, f"the standard error of {what}"),
        Column("interval_low", NUMBER, "the lower end of its 95 % interval"),
        Column("interval_high", NUMBER, "the upper end"),
    )


METRIC_COLUMNS = (
    _METRIC,
    Column("name", TEXT, "its name for readers, such as chrF2", required=True),
    Column("signature", TEXT, "its definition; null if languages have different ones"),
    Column("sacrebleu_signature", TEXT, "the same as sacreBLEU writes it; null if it does not"),
)

SCORE_COLUMNS = (
    _METRIC,
    _SYSTEM,
    _SLICE,
    _SLICE_LABELS,
    _SEGMENTS,
    Column("score", NUMBER, "the score, not rounded", required=True),
    *_uncertainty("the score"),
    Column("signature", TEXT, "the definition of this score", required=True),
)
"""The columns of all scores. Those of the fields that only some metrics have come after them."""

COMPARISON_COLUMNS = (
    _METRIC,
    _SYSTEM,
    Column("baseline", TEXT, "the system with which it is compared", required=True),
    _SLICE,
    _SLICE_LABELS,
    _SEGMENTS,
    Column("units", INTEGER, "how many units (segments or documents)", required=True),
    Column("difference", NUMBER, "the score of the system minus that of the baseline"),
    *_uncertainty("the difference"),
    Column("p_value", NUMBER, "the p-value"),
    Column("p_value_holm", NUMBER, "the p-value, adjusted for all comparisons of the family"),
    Column("detectable", NUMBER, "a true difference that would be found in 80 of 100 cases"),
    Column("family", TEXT, "the family: corpus or slices", required=True),
)

_OF_COMPARED = "; null if the segment is not compared"

EXAMPLE_COLUMNS = (
    Column("kind", TEXT, "why it was picked: best, worst, gain, loss or sample", required=True),
    _METRIC,
    _SYSTEM,
    Column("baseline", TEXT, f"the system with which it is compared{_OF_COMPARED}"),
    Column("index", INTEGER, "the number of the segment, from 0", required=True),
    Column("id", TEXT, "its id; null if segments have none"),
    Column("score", NUMBER, "the score of the segment; null if it has none"),
    Column("baseline_score", NUMBER, f"that of the baseline{_OF_COMPARED}"),
    Column("difference", NUMBER, f"the score minus that of the baseline{_OF_COMPARED}"),
    Column("candidate", TEXT, "the text of the system"),
    Column("baseline_candidate", TEXT, f"the text of the baseline{_OF_COMPARED}"),
    Column("references", pa.list_(TEXT), "the references", required=True),
    Column("labels", LABELS, "the labels of the segment and their values", required=True),
    Column("kept", LABELS, "the columns of `--keep` and their values", required=True),
)


def metric_table(result: Result) -> pa.Table:
    """The metrics of a result. All of these functions raise what `Column.values` does."""
    names = [column.name for column in METRIC_COLUMNS]
    entries = [{name: getattr(metric, name) for name in names} for metric in result.metrics]
    return _table(METRIC_COLUMNS, entries)


def score_table(result: Result) -> pa.Table:
    """Its scores, with the fields of each metric. Other metrics have null there."""
    of_metrics = list(_columns_of_metrics(result.words))
    lacking = dict.fromkeys(column.name for column in of_metrics)
    fields = {metric: own_fields(metric_type(metric).score_type) for metric in result.words}
    entries = [
        {
            **lacking,
            **{name: row.parts[name] for name in fields[row.metric]},
            **_common(row),
            "score": row.score,
            "signature": signature_of(result, row),
        }
        for row in result.scores
        if row.preset is None and row.group != MACRO_AVERAGE
    ]
    return _table([*SCORE_COLUMNS, *of_metrics], entries)


_OF_COMPARISONS = (
    *("baseline", "units", "difference", "p_value", "p_value_holm", "detectable", "family"),
)


def comparison_table(result: Result) -> pa.Table:
    """Its comparisons of systems."""
    entries = [
        {**_common(row), **{name: getattr(row, name) for name in _OF_COMPARISONS}}
        for row in result.comparisons
        if row.group != MACRO_AVERAGE
    ]
    return _table(COMPARISON_COLUMNS, entries)


def _common(row: ScoreRow | ComparisonRow) -> dict[str, Any]:
    """What scores and comparisons have."""
    low, high = row.interval or (None, None)
    return {
        "metric": row.metric,
        "system": row.system,
        "slice": slice_text(row.group) if isinstance(row.group, Mapping) else None,
        "labels": row.group,
        "segments": row.segments,
        "standard_error": row.standard_error,
        "interval_low": low,
        "interval_high": high,
    }


def example_table(examples: Sequence[Entry]) -> pa.Table:
    """The lines of the file of examples."""
    return _table(EXAMPLE_COLUMNS, examples)


def _table(columns: Sequence[Column], entries: Sequence[Entry]) -> pa.Table:
    schema = pa.schema(
        [pa.field(column.name, column.type, nullable=not column.required) for column in columns]
    )
    return pa.Table.from_arrays([column.values(entries) for column in columns], schema=schema)


def _columns_of_metrics(metrics: Iterable[MetricWord]) -> Iterator[Column]:
    """A column for each field that not all metrics have. Fields of the same name have one type."""
    types: dict[str, Any] = {}
    for metric in metrics:
        score_type = metric_type(metric).score_type
        hints = typing.get_type_hints(score_type)
        types |= {name: hints[name] for name in own_fields(score_type) if name not in types}
    for name, hint in types.items():
        yield Column(name, _type_of(hint), "")


def _type_of(hint: Any) -> pa.DataType:
    """The type of a column, by that of an attribute of a score: numbers, or tuples of numbers."""
    if typing.get_origin(hint) is tuple:
        return pa.list_(_type_of(typing.get_args(hint)[0]))
    return NUMBER if float in (hint, *typing.get_args(hint)) else INTEGER
