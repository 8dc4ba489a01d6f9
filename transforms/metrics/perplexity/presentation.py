"""What tables and reports show of a perplexity. It loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIMALS = 4
"""How many decimals a score has in tables if it has no standard error."""


def cells(score: Mapping[str, Any], decimals: int) -> dict[str, str]:
    """What a table shows beside the score.

    Args:
      score: a score of scores.json.
      decimals: how many decimals percentages have.
    """
    symbols = ("tokens", "words", "bytes")
    shown = {name: str(score[name]) for name in symbols if score[name] is not None}
    if score["bits_per_byte"] is not None:
        shown["bits/byte"] = f"{score['bits_per_byte']:.{decimals}f}"
    return shown


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """A perplexity has no parts with a common unit."""
    return {}
