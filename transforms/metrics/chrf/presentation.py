"""What tables and reports show of a score of chrF. It loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIMALS = 1  # as in sacreBLEU
"""How many decimals a score has in tables if it has no standard error."""

COUNTS = ("hyp_ngrams", "ref_ngrams", "matches")
"""The fields of a score with counts."""


def cells(score: Mapping[str, Any], decimals: int) -> dict[str, str]:
    """What a table shows beside the score.

    Args:
      score: a score of scores.json.
      decimals: how many decimals percentages have.
    """
    hyp, ref = score["hyp_ngrams"][0], score["ref_ngrams"][0]
    ratio = f"{hyp / ref:.3f}" if ref else "0.000"
    return {"ratio": ratio, "hyp_chars": str(hyp), "ref_chars": str(ref)}


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """The mean precision and recall of all orders that both texts have, in percent.

    Args:
      score: a score of scores.json.
    """
    orders = [
        (matches / hyp, matches / ref)
        for hyp, ref, matches in zip(*(score[name] for name in COUNTS), strict=True)
        if hyp and ref
    ]
    if not orders:
        return {}
    precision, recall = (100 * sum(shares) / len(orders) for shares in zip(*orders, strict=True))
    return {"precision": precision, "recall": recall}
