"""What tables and reports show of a score of ROUGE. It loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIMALS = 1  # as in sacreBLEU
"""How many decimals a score has in tables if it has no standard error."""


def cells(score: Mapping[str, Any], decimals: int) -> dict[str, str]:
    """What a table shows beside the score.

    Args:
      score: a score of scores.json.
      decimals: how many decimals percentages have.
    """
    percentages = {name: f"{score[name]:.{decimals}f}" for name in ("precision", "recall")}
    counts = {"hits": "hits", "hyp_words": "hyp", "ref_words": "ref"}
    return {**percentages, **{shown: str(score[name]) for name, shown in counts.items()}}


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """The mean precision and recall, in percent.

    Args:
      score: a score of scores.json.
    """
    return {name: score[name] for name in ("precision", "recall")}
