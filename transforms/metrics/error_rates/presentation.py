"""What tables and reports show of WER and CER. It loads no kernel."""

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
    return {
        "sub": str(score["substitutions"]),
        "del": str(score["deletions"]),
        "ins": str(score["insertions"]),
        "ref": str(int(score["ref_length"])),
    }


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """Each kind of edit for 100 words or characters of the references.

    Args:
      score: a score of scores.json.
    """
    length = score["ref_length"]
    kinds = ("substitutions", "deletions", "insertions")
    return {kind: 100 * score[kind] / length for kind in kinds} if length else {}
