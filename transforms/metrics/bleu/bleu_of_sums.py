"""BLEU of sums that a user keeps in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.score import BleuScore, bleu_score
from beam_bleu.transforms.metrics.bleu.sum_rows import sums_of_row


def bleu_of_sums(sums: Mapping[str, Any], config: BleuConfig | None = None) -> BleuScore:
    """The score of a row of sums, or of several rows that are added up.

    It is the score that `CorpusBleu` gives for all segments of these rows together, with its
    standard error and interval. Warnings about suspicious input are missing, because they need
    the texts.

    Args:
      sums: the columns that `SumSegments` gives: `min_references` is the smallest value of the
        rows, `max_references` the largest one, and all others are sums. Integers of any type that
        databases return: Python's, numpy's, or a whole `Decimal`.
      config: the definition; by default sacreBLEU's. Its tokens must be those of the sums; its
        scoring can be another one, of the same or a lower n-gram order.

    Raises:
      ValueError: a column is missing or is no integer, no segments have these sums (such as
        matches above n-grams), or the definition needs a higher n-gram order than the sums have.
    """
    config = BleuConfig() if config is None else config
    found = sums_of_row(sums)
    return bleu_score(found, config.text.name, config.scoring, judge_input=False, units=found.units)
