"""`beam_bleu.read_scores`: a result as tables, without Beam and without the texts."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from beam_bleu.pipeline.examples.read_examples import read_examples
from beam_bleu.pipeline.notebook.result_tables import (
    comparison_table,
    example_table,
    metric_table,
    score_table,
)
from beam_bleu.pipeline.notebook.shown_result import as_text
from beam_bleu.pipeline.output.result_files import is_folder
from beam_bleu.pipeline.result.saved_result import named_if_damaged, result_and_document_at


@dataclasses.dataclass(frozen=True, repr=False)
class ScoreTables:
    """A result as tables of Arrow; see docs/notebook.md for their columns.

    Attributes:
      path: where it was read from.
      metrics: its metrics, with their signatures.
      scores: the scores of all systems, on the whole corpus and on slices.
      comparisons: the differences between systems.
      examples: the segments that --examples picked; empty without it.
      document: the result document, with everything that the tables leave out.

    Examples:
      >>> from beam_bleu import read_scores
      >>> result = read_scores("out/notebook")  # the folder of --output
      >>> result.scores.select(["metric", "system", "segments"]).to_pylist()[0]
      {'metric': 'bleu', 'system': 'atlas', 'segments': 72}
    """

    path: str
    metrics: pa.Table
    scores: pa.Table
    comparisons: pa.Table
    examples: pa.Table
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return as_text(self.document, self._rows, shutil.get_terminal_size().columns)

    @property
    def _rows(self) -> dict[str, int]:
        names = ("scores", "comparisons", "examples")
        return {name: getattr(self, name).num_rows for name in names}


def read_scores(path: str | os.PathLike[str]) -> ScoreTables:
    """The result of a run as tables.

    Args:
      path: the folder of --output, or a scores.json, which says nothing about examples. A
        totals.json is scored again.

    Raises:
      InputError: there is no such result, it cannot be read, it is damaged, or its folder has files
        of different results.

    Examples:
      >>> from beam_bleu import read_scores
      >>> for row in read_scores("out/notebook").scores.to_pylist():
      ...     print(row["metric"], row["system"], f"{row['score']:.1f}")
      bleu atlas 57.8
      bleu birch 37.9
      bleu cobalt 16.6
    """
    result, document = result_and_document_at(os.fspath(path))
    examples = read_examples(result.name) if is_folder(result.name) else None
    with named_if_damaged(result.name):
        tables = ScoreTables(
            result.name,
            metric_table(document),
            score_table(document),
            comparison_table(document),
            example_table(examples or ()),
            document,
        )
        repr(tables)  # a damaged result fails here, and not when it is shown
        return tables
