"""The signature of the scores of several systems."""

from __future__ import annotations

from collections.abc import Iterable

from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.bleu.signature import sacrebleu_signature, signature
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums


def shared_signature(
    text: TextName, scoring: Scoring, sums: Iterable[CorpusSums]
) -> dict[str, str | None]:
    """The signatures, as documents have them.

    Systems can have different segments, and so different numbers of references. The signature has
    the numbers of all systems together, so it does not depend on the order of the systems.

    Args:
      text: how texts become tokens.
      scoring: how sums become a score.
      sums: the sums of each system.
    """
    used = [each for each in sums if each.segments]
    smallest = min((each.min_reference_count for each in used), default=0)
    largest = max((each.max_reference_count for each in used), default=0)
    return {
        "signature": signature(text, scoring, smallest, largest),
        "sacrebleu_signature": sacrebleu_signature(text, scoring, smallest, largest),
    }
