"""What tables and reports show of a score of exact match or token F1. It loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIMALS = 1  # as in sacreBLEU
"""How many decimals a score has in tables if it has no standard error."""

_SHOWN = ("exact_matches", "common_words", "hyp_words", "ref_words")
"""The fields of either metric that are shown."""


def cells(score: Mapping[str, Any], decimals: int) -> dict[str, str]:
    """What a table shows beside the score.

    Args:
      score: a score of scores.json.
      decimals: how many decimals percentages have.
    """
    return {name: str(score[name]) for name in _SHOWN if name in score}


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """These scores have no parts with a common unit."""
    return {}
