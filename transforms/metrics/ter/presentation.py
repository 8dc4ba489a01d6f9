"""What tables and reports show of a score of TER. It loads no kernel."""

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
    length = score["ref_length"]
    shown = str(int(length)) if length == int(length) else f"{length:.1f}"
    return {"edits": str(score["edits"]), "ref_words": shown}


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """Edits are not told apart, so there are no parts."""
    return {}
