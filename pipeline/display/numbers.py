"""How many decimals the numbers of a metric have in tables."""

from __future__ import annotations

from collections.abc import Iterable

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import METRICS, metric_type
from beam_bleu.transforms.score.shown_numbers import USUAL_DECIMALS, decimals_for


def decimals_of(
    metric: str, asked: int | None, standard_errors: Iterable[float | None] = ()
) -> int:
    """How many decimals the scores or differences of a metric have.

    See `decimals_for`.

    Args:
      metric: the metric.
      asked: how many decimals the user asks for; None if that is left to this function.
      standard_errors: of the numbers; None for one that has none. If none of them is above 0, the
        numbers have the usual decimals of the metric.

    >>> decimals_of("bleu", None, [0.34, None]), decimals_of("bleu", None, [12.0])
    (2, 1)
    """
    if asked is not None:
        return asked
    return decimals_for(standard_errors, metric_type(metric).score_type.DECIMALS)


def usual_decimals() -> str:
    """How many decimals the scores of each metric have, for a reader: "1, of perplexity 4"."""
    others: dict[int, list[str]] = {}
    for row in METRICS.values():
        decimals = metric_type(row.name).score_type.DECIMALS
        if decimals != USUAL_DECIMALS:
            others.setdefault(decimals, []).append(row.word)
    return ", ".join(
        [str(USUAL_DECIMALS), *(f"of {joined(names)} {number}" for number, names in others.items())]
    )
