"""`beam_bleu.read_scores`: a result as tables, without Beam and without the texts."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from beam_bleu.pipeline.display.row_order import View
from beam_bleu.pipeline.display.score_tables import BEST_ARE_BOLD, systems_table
from beam_bleu.pipeline.display.table import as_lines, as_text
from beam_bleu.pipeline.examples.segments import read_examples
from beam_bleu.pipeline.notebook.result_tables import (
    comparison_table,
    example_table,
    metric_table,
    score_table,
)
from beam_bleu.pipeline.output.result_files import is_folder
from beam_bleu.pipeline.result.document import document_bytes, document_of, read_result
from beam_bleu.pipeline.result.saved_result import named_if_damaged, result_at


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
        names = ("scores", "comparisons", "examples")
        rows = ", ".join(f"{name} {getattr(self, name).num_rows}" for name in names)
        table = systems_table(View(read_result(self.document)), for_paper=True)
        shown = ""
        if table is not None:
            # Nothing is bold here.
            caption = " ".join(text for text in table.caption if text != BEST_ARE_BOLD)
            shown = as_text(dataclasses.replace(table, caption=[caption, ""], notes=()))
        return shown + as_lines([f"rows: {rows}"]).rstrip("\n")


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
    saved = result_at(os.fspath(path))
    examples = read_examples(saved.name) if is_folder(saved.name) else None
    with named_if_damaged(saved.name):
        return ScoreTables(
            saved.name,
            metric_table(saved.result),
            score_table(saved.result),
            comparison_table(saved.result),
            example_table(examples or ()),
            json.loads(document_bytes(document_of(saved.result))),
        )
