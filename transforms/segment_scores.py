"""The library's transform that scores each segment by itself, in any Beam pipeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.chosen_metrics import SegmentColumns
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns, table_batches
from beam_bleu.transforms.pairing.segments.batching import GatheredSegments, key_or_itself
from beam_bleu.transforms.pairing.segments.gather import tuple_parts


class SegmentScores(beam.PTransform):
    """Scores each segment by itself, by one metric or several.

    What goes in comes out, with its scores:

    - A segment `(candidate, [reference, ...])` becomes `(segment, scores)`.
    - A keyed segment `(key, segment)` becomes `(key, scores)`. The key can be anything that tells
      the segment from others: an id, or a whole record.
    - With `columns=ArrowColumns(...)`, a table of pyarrow becomes a table with the same rows and
      columns in the same order, and the scores in columns after them.

    `scores` is a dict with the score of each metric by its name: `{"bleu": 53.7, "chrf": 66.0}`. A
    score is None, or null in a table, where it is not defined. BLEU has effective order, as in
    sacreBLEU's `sentence_bleu`, if its smoothing allows it.

    It works with any windowing. Each element keeps its windows, its timestamp and its pane. Batches
    end with Beam's bundle at the latest, and the elements of a bundle stay in order.

    Args:
      metrics: a list of names, such as "bleu", and of configs, such as `ChrfConfig(beta=1)`; each
        metric can be there once.
      columns: the columns of the tables; None if each element is one segment. Its `key`, if it has
        one, is a column like any other here.
      details: whether there are also the numbers that the command writes beside the score, such as
        "bleu_matches": lists of integers, and others (docs/result.md).
    """

    def __init__(
        self,
        metrics: Sequence[MetricWord | Any] = (DEFAULT_METRIC,),
        *,
        columns: ArrowColumns | None = None,
        details: bool = False,
    ) -> None:
        super().__init__()
        self._scored = SegmentColumns(metrics, details=details)
        self._columns = None
        if columns is not None:
            if not isinstance(columns, ArrowColumns):
                raise ValueError(f"columns must be ArrowColumns, got {columns!r}")
            self._columns = dataclasses.replace(columns, key=None)
            self._columns.require(keyed=False, systems=None)

    @property
    def schema(self) -> pa.Schema:
        return self._scored.schema

    def expand(self, segments: PCollection[Any]) -> PCollection[Any]:
        if isinstance(segments, Mapping):
            raise TypeError(
                "SegmentScores takes segments and tables, and not what a transform reads from "
                "files: beam-bleu --segment_scores scores the segments of files"
            )
        if self._columns is not None:
            of_tables = beam.ParDo(_ScoreTables(self._scored, self._columns))
            return segments | "Score tables" >> of_tables.with_output_types(pa.Table)
        key_type = _key_type(segments.element_type)
        of_segments = beam.ParDo(_ScoreElements(self._scored))
        return segments | "Score segments" >> of_segments.with_output_types(
            typehints.Tuple[key_type, typehints.Dict[str, Any]]
        )


def _key_type(element_type: Any) -> Any:
    """The type of the keys of the scores, so that keys keep their coder; Any if it is not known."""
    parts = tuple_parts(element_type)
    if len(parts) == 2 and tuple_parts(parts[1]):
        return parts[0]
    is_segment = len(parts) == 2 and isinstance(parts[1], typehints.ListConstraint)
    return element_type if is_segment else Any


@dataclasses.dataclass(eq=False, repr=False)
class _ScoreTables(beam.DoFn):
    scored: SegmentColumns
    columns: ArrowColumns

    def setup(self) -> None:
        # Here, so that the first table does not have to wait for the compiler. See CountMatches.
        self.scored.prepare()

    def process(self, table: pa.Table | pa.RecordBatch) -> Iterator[pa.Table]:
        batches = [self.scored.of_batch(batch) for batch in table_batches(table, self.columns)]
        # Only now: `table_batches` finds out whether it is a table at all.
        schema = self.scored.schema
        for name in schema.names:
            if name in table.schema.names:
                raise InputError(
                    f"a table already has a column {name!r}",
                    "scores have the names of their metrics, so rename the column of the tables",
                )
        scores = pa.Table.from_batches(batches, schema)
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        for field, column in zip(schema, scores.columns, strict=True):
            table = table.append_column(field, column)
        yield table


@dataclasses.dataclass(eq=False, repr=False)
class _ScoreElements(beam.DoFn):
    """Maps segments to their keys and scores. Lists take less time (see `_GatherByKey`)."""

    scored: SegmentColumns

    def setup(self) -> None:
        self.scored.prepare()

    def start_bundle(self) -> None:
        self._segments = GatheredSegments()
        self._keys: list[Any] = []
        self._elements: list[WindowedValue] = []

    def process(
        self, element: Any, windowed: Any = beam.DoFn.WindowedValueParam
    ) -> Sequence[WindowedValue]:
        key, segment = key_or_itself(element)
        self._segments.add(segment)
        self._keys.append(key)
        self._elements.append(windowed)
        return self._scores() if self._segments.is_full else ()

    def finish_bundle(self) -> Sequence[WindowedValue]:
        return self._scores() if self._keys else ()

    def _scores(self) -> Sequence[WindowedValue]:
        batches = map(self.scored.of_batch, self._segments.batches())
        scores = [row for batch in batches for row in batch.to_pylist()]
        scored = [
            element.with_value((key, of_segment))
            for element, key, of_segment in zip(self._elements, self._keys, scores, strict=True)
        ]
        self.start_bundle()
        return scored
