"""The entries of a result as tables of Arrow. A table has a row of `Column` for each column."""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.pipeline.display.slices import signature_of
from beam_bleu.pipeline.output.metric_views import metrics_of, parts_of
from beam_bleu.pipeline.result.series import slice_text
from beam_bleu.transforms.known_metrics import MetricWord, kind_of

TEXT, INTEGER, NUMBER = pa.string(), pa.int64(), pa.float64()
LABELS = pa.map_(TEXT, TEXT)

Entry = Mapping[str, Any]

_KINDS: Mapping[pa.DataType, Any] = {
    TEXT: str,
    INTEGER: int,
    NUMBER: (int, float),
    LABELS: dict,
}
"""What a value of JSON must be, by the type of its column."""


def _interval(end: int) -> Callable[[Entry], Any]:
    """One end of the interval of an entry: 0 is the lower one. Runs can leave out intervals."""
    return lambda entry: None if entry.get("interval") is None else entry["interval"][end]


def _slice(entry: Entry) -> str | None:
    return None if entry["slice"] is None else slice_text(entry["slice"])


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
      name: its name.
      type: its type.
      meaning: what it is, for a reader.
      value: (entry) its value; None if it is the field of this name.
      required: whether no value is null.
      least: the smallest number that it can be.
      most: the largest one.
    """

    name: str
    type: pa.DataType
    meaning: str
    value: Callable[[Entry], Any] | None = None
    required: bool = False
    least: float = -math.inf
    most: float = math.inf

    def values(self, entries: Iterable[Entry]) -> pa.Array:
        """The values of all entries.

        Raises:
          KeyError, TypeError, ValueError, OverflowError: the entries are damaged.
        """
        value = self.value or (lambda entry: entry[self.name])
        return pa.array([self._checked(value(entry)) for entry in entries], self.type)

    def _checked(self, value: Any) -> Any:
        if value is None and not self.required:
            return None
        if not pa.types.is_list(self.type):
            return self._in_range(value, self.type)
        if not isinstance(value, list | tuple):
            raise TypeError(f"{value!r} is not a list")
        return [self._in_range(item, self.type.value_type) for item in value]

    def _in_range(self, value: Any, type_: pa.DataType) -> Any:
        checked = _checked(value, type_)
        if type_ in (INTEGER, NUMBER) and not self.least <= checked <= self.most:
            raise ValueError(f"{self.name} is {checked}")
        return checked


def _checked(value: Any, type_: pa.DataType) -> Any:
    """A value of JSON for a column of this type."""
    if not isinstance(value, _KINDS[type_]) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not of the type {type_}")
    if type_ == NUMBER and not math.isfinite(value):
        raise ValueError(f"{value} is not a number")
    return list(value.items()) if type_ == LABELS else value


_METRIC = Column("metric", TEXT, "the word of the metric, as in `--metrics`", required=True)
_SYSTEM = Column("system", TEXT, "the system", required=True)
_SLICE = Column(
    "slice", TEXT, "the slice, such as `domain=news`; null for the whole corpus", _slice
)
_SLICE_LABELS = Column(
    "labels",
    LABELS,
    "the labels of the slice and their values; null for the whole corpus",
    lambda entry: entry["slice"],
)
_SEGMENTS = Column("segments", INTEGER, "how many segments", required=True, least=1)


def _uncertainty(what: str) -> tuple[Column, ...]:
    error = f"the standard error of {what}"
    return (
        Column("standard_error", NUMBER, error, lambda entry: entry.get("standard_error"), least=0),
        Column("interval_low", NUMBER, "the lower end of its 95 % interval", _interval(0)),
        Column("interval_high", NUMBER, "the upper end", _interval(1)),
    )


def _probability(name: str, meaning: str) -> Column:
    return Column(name, NUMBER, meaning, least=0, most=1)


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
    Column("units", INTEGER, "how many units (segments or documents)", required=True, least=1),
    Column("difference", NUMBER, "the score of the system minus that of the baseline"),
    *_uncertainty("the difference"),
    _probability("p_value", "the p-value"),
    _probability("p_value_holm", "the p-value, adjusted for all comparisons of the family"),
    Column(
        "detectable", NUMBER, "a true difference that would be found in 80 of 100 cases", least=0
    ),
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


def metric_table(document: Entry) -> pa.Table:
    """The metrics of a result document. All of these functions raise what `Column.values` does."""
    return _table(METRIC_COLUMNS, document["metrics"])


def score_table(document: Entry) -> pa.Table:
    """Its scores, with the fields of each metric. Other metrics have null there."""
    scores = [
        {**score, "signature": signature_of(part, score)}
        for part in parts_of(document)
        for score in part["scores"]
    ]
    return _table([*SCORE_COLUMNS, *_columns_of_metrics(metrics_of(document))], scores)


def comparison_table(document: Entry) -> pa.Table:
    """Its comparisons of systems."""
    return _table(COMPARISON_COLUMNS, document.get("comparisons", ()))


def example_table(examples: Sequence[Entry]) -> pa.Table:
    """The lines of examples.jsonl."""
    return _table(EXAMPLE_COLUMNS, examples)


def _table(columns: Sequence[Column], entries: Sequence[Entry]) -> pa.Table:
    schema = pa.schema(
        [pa.field(column.name, column.type, nullable=not column.required) for column in columns]
    )
    return pa.Table.from_arrays([column.values(entries) for column in columns], schema=schema)


def _columns_of_metrics(metrics: Iterable[MetricWord]) -> Iterator[Column]:
    """A column for each field that not all metrics have. Fields of the same name have one type."""
    having: dict[str, set[MetricWord]] = {}
    types: dict[str, Any] = {}
    for metric in metrics:
        kind = kind_of(metric)
        types = typing.get_type_hints(kind.score_type) | types
        for name in kind.fields:
            having.setdefault(name, set()).add(metric)
    for name, owners in having.items():
        yield Column(name, _type_of(types[name]), "", functools.partial(_own, name, owners))


def _own(name: str, owners: Container[MetricWord], entry: Entry) -> Any:
    """A field of an entry; None if its metric has no such field."""
    return entry[name] if entry["metric"] in owners else None


def _type_of(hint: Any) -> pa.DataType:
    """The type of a column, by that of an attribute of a score: numbers, or tuples of numbers."""
    if typing.get_origin(hint) is tuple:
        return pa.list_(_type_of(typing.get_args(hint)[0]))
    return NUMBER if float in (hint, *typing.get_args(hint)) else INTEGER
