"""The result of a job: all that follows from what it has added up, before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.job import Results
from beam_bleu.pipeline.output.scored import scored
from beam_bleu.pipeline.result.document import document_bytes, document_of
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.ends import Ends, only_sum, totals_of_ends
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.examples.example import EXAMPLE_KINDS, ListKey, Picked
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.totals.batch_adder import PICKED


@dataclasses.dataclass(frozen=True)
class JobResult:
    """The result of a job.

    Attributes:
      totals: everything that it has added up.
      rows: the result.
      scores: the bytes of scores.json.
      examples: the bytes of the file of examples; None if no examples are asked for.
    """

    totals: Totals
    rows: Result
    scores: bytes
    examples: bytes | None


def result_of(results: Results, ends: Ends) -> JobResult:
    """The result of a job, from what its last step gets.

    Raises:
      JobError: something was lost or repeated.
      InputError: the input does not have what was asked for.
    """
    scorings, evidence = results.scorings, results.evidence
    totals = totals_of_ends(ends, results)
    systems = totals.systems
    spread = examples = None
    if results.examples:
        picked: Picked = only_sum(PICKED, ends[PICKED])
        spread = _distributions(picked, results.highest_of_segments, systems)
        examples = _examples_bytes(picked, list(scorings), systems, evidence.baseline_of(systems))
    rows = scored(totals, scorings, results.slicing, evidence, spread)
    return JobResult(totals, rows, document_bytes(document_of(rows)), examples)


def _examples_bytes(
    picked: Picked, metrics: Sequence[MetricWord], systems: Sequence[str], baseline: str
) -> bytes:
    """The content of the file of examples: JSON lines in UTF-8, with texts of users.

    Each line is an object; a reader needs no other file to show it.

    Args:
      picked: the examples of the corpus.
      metrics: the metrics, in the order of the result.
      systems: the systems, in this order.
      baseline: the system with which the others are compared.
    """
    return "".join(
        json_text(entry) + "\n"
        for metric in metrics
        for system in systems
        for entry in _entries(picked, metric, system, baseline)
    ).encode()


def _entries(
    picked: Picked, metric: MetricWord, system: str, baseline: str
) -> Iterator[Mapping[str, Any]]:
    for kind in EXAMPLE_KINDS.values():
        key = ListKey(kind.name, metric, system, baseline if kind.compares else None)
        for example in picked.examples.get(key, ()):
            entry = example.entry
            if entry["baseline"] != baseline:
                # Without the first system, a segment was compared with another one.
                entry = {**entry, **_NOT_COMPARED}
            yield entry


_NOT_COMPARED = dict.fromkeys(("baseline", "baseline_score", "difference", "baseline_candidate"))


def _distributions(
    picked: Picked, highest: Mapping[MetricWord, float | None], systems: Sequence[str]
) -> list[dict[str, Any]]:
    """How the scores of segments are distributed, as scores.json shows it.

    Args:
      picked: the scores of the corpus.
      highest: for each metric, in the order of the result, the highest possible score of a segment;
        None if there is none.
      systems: the systems, in this order.
    """
    return [
        {
            "metric": metric,
            "system": system,
            "edges": list(histogram.edges),
            "counts": list(histogram.counts),
        }
        for metric, limit in highest.items()
        for system in systems
        if (cells := picked.scores.get((metric, system))) is not None
        for histogram in [cells.histogram(limit)]
    ]
