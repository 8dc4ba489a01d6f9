"""`SegmentScores` for Beam YAML: each row gets its own scores. beam_yaml.py shows the provider."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Optional

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints import typehints
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.transforms.beam_yaml import configs_of, field_types, require_keys
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC
from beam_bleu.transforms.pairing.segments.rows import RowFields
from beam_bleu.transforms.score.segment_table import INTEGERS
from beam_bleu.transforms.segment_scores import SegmentScores

__all__ = ["SegmentScoresRows"]

_IN_ROW: Mapping[pa.DataType, Any] = {
    pa.float64(): Optional[float],  # noqa: UP045 - Beam knows no other form
    pa.int64(): int,
    INTEGERS: Sequence[int],
}
"""The type of a field in a row, by the type of a column with scores."""


class SegmentScoresRows(beam.PTransform):
    """The score of each row by itself, by one metric or several.

    Its output is each row with all its fields and, after them, a field with the score of each
    metric by its name: `bleu`, `chrf`. A score is null where it is not defined. Each metric scores
    a row as the command scores a segment with `--segment_scores`. It works with any windowing.

    Args:
      config: `candidate` and `references`, as for `CorpusScores`; `metrics`, too, but by default
        BLEU; and `details`: whether there are also the numbers that the command writes beside the
        score, such as `bleu_matches`, default false.

    Raises:
      ValueError: a key or a value is not known, and the message shows the choices; or the rows have
        a field with the name of a score.
    """

    def __init__(self, **config: Any) -> None:
        super().__init__()
        require_keys("SegmentScores", config, ("metrics", "candidate", "references", "details"))
        given = {key: value for key, value in config.items() if value is not None}
        candidate = given.get("candidate", "candidate")
        self._fields = RowFields.of(candidate, given.get("references", "references"), (), ())
        configs = [scored for _, scored in configs_of(given.get("metrics", [DEFAULT_METRIC]))]
        self._scoring = SegmentScores(configs, details=given.get("details", False))

    def default_label(self) -> str:
        return "SegmentScores"

    def expand(self, rows: PCollection[Any]) -> PCollection[Row]:
        types = field_types(rows.element_type)
        result: Any = Any
        if types is not None:
            self._fields.check(types)
            schema = self._scoring.schema
            _require_new(schema.names, types)
            scores = [(field.name, _IN_ROW[field.type]) for field in schema]
            result = RowTypeConstraint.from_fields([*types.items(), *scores])
        take = functools.partial(_row_and_segment, self._fields, types is not None)
        keyed = typehints.Tuple[rows.element_type, Any]
        return (
            rows
            | "Take segments" >> beam.Map(take).with_output_types(keyed)
            | "Score segments" >> self._scoring
            | "Make rows" >> beam.MapTuple(_row_with_scores).with_output_types(result)
        )


def _row_and_segment(fields: RowFields, checked: bool, row: Any) -> tuple[Any, Any]:
    _, segment = fields.segment_of(row, checked)
    return row, segment


def _row_with_scores(row: Any, scores: Mapping[str, Any]) -> Row:
    fields = row._asdict()
    _require_new(scores, fields)
    return Row(**fields, **scores)


def _require_new(scores: Iterable[str], fields: Collection[str]) -> None:
    """Checks that no field of a row has the name of a score.

    Raises:
      ValueError: one has.
    """
    for name in scores:
        if name in fields:
            raise ValueError(f"the rows already have a field {name!r}: rename it before")
