"""What tables and reports show of WER and CER. It loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COUNTS = ("substitutions", "deletions", "insertions", "ref_length")
"""The fields of a score with counts. If they are equal, so is the score."""


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
