"""The signature of the scores of several systems."""

from __future__ import annotations

from collections.abc import Iterable

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums


def shared_signature(
    text: TextName, kind: MetricKind, metric: Metric, sums: Iterable[CorpusSums]
) -> dict[str, str | None]:
    """The signatures, as documents have them.

    Systems can have different segments, and so different numbers of references. The signature has
    the numbers of all systems together, so it does not depend on the order of the systems.

    Args:
      text: how texts become tokens.
      kind: the metric.
      metric: its definition.
      sums: the sums of each system.
    """
    used = [each for each in sums if each.segments]
    smallest = min((each.min_reference_count for each in used), default=0)
    largest = max((each.max_reference_count for each in used), default=0)
    found = kind.signatures(text, metric, smallest, largest)
    return {"signature": found.own, "sacrebleu_signature": found.sacrebleu}
