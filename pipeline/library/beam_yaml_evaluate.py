"""`Evaluate` for Beam YAML: rows or files in; the result, scores, comparisons and so on out.

`Evaluate` takes rows, one for each segment. The others read files, and have the arguments of the
transforms that read (`ReadPairedRecords` and so on). All have the keywords of `Evaluate`, and the
outputs `document`, `scores`, `comparisons`, `examples`, `totals`, `segment_scores` and `rejected`:

    pipeline:
      transforms:
        - type: EvaluatePairedRecords
          name: Evaluated
          config:
            pattern: examples/records/paired.jsonl
            candidate_columns: [atlas=outputs.atlas, birch=outputs.birch]
            reference_columns: [references]
            labels: [domain]
            metrics: [bleu, chrf]
            slice_by: [domain]
            fail_under: [bleu=10, chrf=40]
        - type: WriteToJson
          name: Scores
          input: Evaluated.scores
          config:
            path: out/scores.jsonl
            num_shards: 1
        - type: WriteToJson
          name: Comparisons
          input: Evaluated.comparisons
          config:
            path: out/comparisons.jsonl
            num_shards: 1

    providers:
      - type: python
        config: {}
        transforms:
          Evaluate: beam_bleu.pipeline.library.beam_yaml_evaluate.EvaluateRows
          EvaluateJoinedRecords: beam_bleu.pipeline.library.beam_yaml_evaluate.EvaluateJoinedRecords
          EvaluateLineParallel: beam_bleu.pipeline.library.beam_yaml_evaluate.EvaluateLineParallel
          EvaluateLongRecords: beam_bleu.pipeline.library.beam_yaml_evaluate.EvaluateLongRecords
          EvaluatePairedRecords: beam_bleu.pipeline.library.beam_yaml_evaluate.EvaluatePairedRecords

The provider is also a file next to this one. `transforms/beam_yaml.py` describes other providers.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.pipeline.library.evaluate import Evaluate, Evaluated
from beam_bleu.pipeline.library.keywords import Keywords
from beam_bleu.transforms.beam_yaml import require_keys
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.reading import (
    ReadJoinedRecords,
    ReadLineParallel,
    ReadLongRecords,
    ReadPairedRecords,
)

__all__ = [
    "EvaluateJoinedRecords",
    "EvaluateLineParallel",
    "EvaluateLongRecords",
    "EvaluatePairedRecords",
    "EvaluateRows",
]

_KEYS = ("unpooled", *Keywords.__annotations__)
"""The keys of all transforms here."""

_ROW_KEYS = ("candidates", "references", "labels", "ids", "kept")
"""The other keys of `EvaluateRows`."""

_TEXT: Any = Optional[str]  # noqa: UP045 - Beam knows no other form
_NUMBER: Any = Optional[float]  # noqa: UP045

_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "document": {"document": str},
    "scores": {
        "metric": str,
        "system": str,
        "slice": _TEXT,
        "segments": int,
        "score": _NUMBER,
        "standard_error": _NUMBER,
        "interval_low": _NUMBER,
        "interval_high": _NUMBER,
        "details": str,
    },
    "comparisons": {
        "metric": str,
        "system": str,
        "baseline": str,
        "slice": _TEXT,
        "difference": _NUMBER,
        "standard_error": _NUMBER,
        "interval_low": _NUMBER,
        "interval_high": _NUMBER,
        "p_value": _NUMBER,
        "p_value_holm": _NUMBER,
        "detectable": _NUMBER,
    },
    "examples": {
        "kind": str,
        "metric": str,
        "system": str,
        "index": int,
        "score": _NUMBER,
        "details": str,
    },
    "totals": {"totals": str},
    "segment_scores": {"index": int, "system": str, "metric": str, "score": _NUMBER},
    "rejected": {"number": int, "path": str, "place": str, "reason": str, "what": str},
}
"""For each output, the fields of its rows with their types. `details` is JSON with everything."""


class _Evaluating(beam.PTransform):
    """Makes an `Evaluate` of a configuration, and rows of what it gives.

    Args:
      config: the configuration.
      others: its keys that `Evaluate` does not have.
      columns: the columns of tables; None for segments from files.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    def __init__(
        self, config: Mapping[str, Any], others: Sequence[str], columns: ArrowColumns | None
    ) -> None:
        super().__init__()
        require_keys(self.default_label(), config, (*others, *_KEYS))
        asked: Any = {key: value for key, value in config.items() if key in _KEYS}
        self._evaluate = Evaluate(columns=columns, **asked)

    def default_label(self) -> str:
        return type(self).__name__

    def _rows(self, evaluated: Evaluated) -> dict[str, PCollection[Row]]:
        outputs = {
            name: output for name, output in evaluated._asdict().items() if output is not None
        }
        return {
            name: output
            | f"Make rows of {name}"
            >> beam.FlatMap(functools.partial(_rows_of, name)).with_output_types(
                RowTypeConstraint.from_fields(list(_FIELDS[name].items()))
            )
            for name, output in outputs.items()
        }


class EvaluateRows(_Evaluating):
    """Evaluates rows with a segment each.

    Args:
      candidates: The field of each system, by its name.
      references: The field with a list of references, or a list of fields with one reference each.
      labels: The fields with labels of segments, for `slice_by`, `documents` and `language_column`.
      ids: The field that identifies segments, for `examples`, `segment_scores` and `resample`.
      kept: Fields that examples show.
      config: The keywords of `Evaluate`.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    def __init__(self, **config: Any) -> None:
        missing = [key for key in ("candidates", "references") if config.get(key) is None]
        if missing:
            raise ValueError(f"Evaluate needs the key {missing[0]}")
        if not isinstance(config["candidates"], Mapping):
            raise ValueError(
                f"candidates must have the field of each system, got {config['candidates']!r}"
            )
        self._columns = ArrowColumns(
            dict(config["candidates"]),
            config["references"],
            labels=tuple(config.get("labels") or ()),
            ids=config.get("ids"),
            kept=tuple(config.get("kept") or ()),
        )
        super().__init__(config, _ROW_KEYS, self._columns)

    def default_label(self) -> str:
        return "Evaluate"

    def expand(self, rows: PCollection[Any]) -> dict[str, PCollection[Row]]:
        columns = self._columns
        references = columns.references
        assert isinstance(columns.candidate, Mapping)
        names = dict.fromkeys(
            [
                *columns.candidate.values(),
                *([references] if isinstance(references, str) else references),
                *columns.of_segments,
            ]
        )
        tables = (
            rows
            | "Gather rows" >> beam.BatchElements(min_batch_size=64, max_batch_size=4096)
            | "Make tables" >> beam.Map(_table_of, list(names))
        )
        return self._rows(tables | "Evaluate" >> self._evaluate)


class _EvaluateFiles(_Evaluating):
    """The root of a pipeline -> the rows of a result."""

    READS: type[beam.PTransform]

    _yaml_requires_inputs = False  # Beam YAML asks for it, because the names do not begin with Read

    def __init__(self, **config: Any) -> None:
        keys = inspect.signature(self.READS).parameters
        super().__init__(config, tuple(keys), None)
        arguments = {key: config[key] for key in keys if config.get(key) is not None}
        try:
            inspect.signature(self.READS).bind(**arguments)
        except TypeError as error:
            raise ValueError(f"{self.default_label()}: {error}") from error
        self._reading = self.READS(**arguments)

    def expand(self, root: beam.Pipeline) -> dict[str, PCollection[Row]]:
        return self._rows(root | self._reading | "Evaluate" >> self._evaluate)


class EvaluateLineParallel(_EvaluateFiles):
    """Evaluates line-parallel text."""

    READS = ReadLineParallel


class EvaluatePairedRecords(_EvaluateFiles):
    """Evaluates records that have candidates and references side by side."""

    READS = ReadPairedRecords


class EvaluateLongRecords(_EvaluateFiles):
    """Evaluates records of one segment and one system each."""

    READS = ReadLongRecords


class EvaluateJoinedRecords(_EvaluateFiles):
    """Evaluates records of candidates and of references that are joined by an id."""

    READS = ReadJoinedRecords


def _table_of(rows: Sequence[Any], names: Sequence[str]) -> pa.Table:
    return pa.table({name: pa.array([getattr(row, name) for row in rows]) for name in names})


def _rows_of(name: str, element: Any) -> Iterator[Row]:
    """The rows of an element of an output."""
    if name == "document":
        yield Row(document=_json(element))
    elif name == "totals":
        yield Row(totals=element.decode("ascii"))
    elif name == "rejected":
        yield Row(**{field: getattr(element, field) for field in _FIELDS[name]})
    elif name == "segment_scores":
        for row in element.select(list(_FIELDS[name])).to_pylist():
            yield Row(**row)
    else:
        low, high = element.get("interval") or (None, None)
        values = {**element, "interval_low": low, "interval_high": high, "details": _json(element)}
        if values.get("slice") is not None:
            values["slice"] = _json(values["slice"])
        yield Row(**{field: values.get(field) for field in _FIELDS[name]})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
