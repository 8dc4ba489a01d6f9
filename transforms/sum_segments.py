"""The library's transform that gives sums instead of scores, for a table that a user keeps."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.corpus_scores import require_no_files
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.sum_rows import row_of_sums
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns, SegmentTable
from beam_bleu.transforms.pairing.segments.batching import Segment
from beam_bleu.transforms.pairing.segments.gather import GatherSegments
from beam_bleu.transforms.statistics.batch_steps import count_matches
from beam_bleu.transforms.totals.summing import SeveralTotals, sum_groups

__all__ = ["SumSegments"]


class SumSegments(beam.PTransform):
    """PCollection of (key, segment), or of tables -> PCollection of (key, row of sums).

    A row is a dict of integers. The rows of parts of a corpus, such as days, can be added up by
    SQL, and `bleu_of_sums` makes a score of the result. docs/library_state.md explains the columns.
    It works with any windowing and trigger, like `CorpusBleu`.

    Args:
      config: the definition; by default sacreBLEU's. Of its scoring, only the n-gram order matters.
      columns: the columns of the segments and their keys, if the elements are tables of pyarrow.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import SumSegments, bleu_of_sums
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("monday", ("the cat sat on the mat", ["A cat sat on the mat"]))])
      ...         | SumSegments()
      ...         | beam.MapTuple(lambda day, sums: print(day, f"{bleu_of_sums(sums).score:.2f}"))
      ...     )
      monday 75.98
    """

    def __init__(
        self, config: BleuConfig | None = None, *, columns: ArrowColumns | None = None
    ) -> None:
        super().__init__()
        self._counted = ChosenMetrics.single(config, ["bleu"]).counted
        self._gather = GatherSegments(keyed=True, columns=columns)

    def expand(
        self, segments: PCollection[tuple[Any, Segment] | SegmentTable]
    ) -> PCollection[tuple[Any, dict[str, int]]]:
        require_no_files(segments)
        key_type = self._gather.key_type(segments)
        statistics = (
            segments
            | "Gather segments" >> self._gather
            | "Count matches" >> count_matches(self._counted, threads=1)
        )
        sums = sum_groups(
            statistics,
            [metric.basis for _, metric in self._counted],
            key_type,
            with_products=True,
        )
        return sums | "Make rows" >> beam.Map(_row).with_output_types(
            typehints.Tuple[key_type, typehints.Dict[str, int]]
        )


def _row(keyed: tuple[Any, SeveralTotals]) -> tuple[Any, dict[str, int]]:
    key, totals = keyed
    return key, row_of_sums(totals.metrics[0])
