"""The result of a job: all that follows from what it has added up, before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.job import Results
from beam_bleu.pipeline.output.examples_file import distributions, examples_bytes
from beam_bleu.pipeline.output.scored import scored
from beam_bleu.pipeline.result.document import document_bytes, document_of
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.saved.totals_file import saved_bytes
from beam_bleu.pipeline.scoring.ends import EXAMPLES, Ends, only_sum, totals_of_ends
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.examples.example import Picked


@dataclasses.dataclass(frozen=True)
class JobResult:
    """The result of a job.

    Attributes:
      results: what the job does with its sums.
      totals: everything that it has added up.
      rows: the result.
      scores: the bytes of scores.json.
      examples: the bytes of the file of examples; None if no examples are asked for.
    """

    results: Results
    totals: Totals
    rows: Result
    scores: bytes
    examples: bytes | None

    def saved(self, read: Sequence[Mapping[str, Any]]) -> bytes:
        """The bytes of totals.json.

        Args:
          read: the streams that were read, without the versions of their files.
        """
        return saved_bytes(self.totals, self.results, read, self.scores)


def result_of(results: Results, ends: Ends) -> JobResult:
    """The result of a job, from what its last step gets.

    Raises:
      JobError: something was lost or repeated.
      InputError: the input does not have what was asked for.
    """
    scorings, evidence = results.scorings, results.evidence
    totals = totals_of_ends(ends, results)
    systems = totals.systems
    picked: Picked | None = None
    if results.examples:
        picked = only_sum(EXAMPLES, ends[EXAMPLES])
    spread = None
    if picked is not None:
        spread = distributions(picked, results.highest_of_segments, systems)
    rows = scored(totals, scorings, results.slicing, evidence, spread)
    examples = None
    if picked is not None:
        baseline = evidence.baseline_of(systems)
        examples = examples_bytes(picked, list(scorings), systems, baseline)
    return JobResult(results, totals, rows, document_bytes(document_of(rows)), examples)
