"""What tables and reports show of a score of BLEU. It loads no kernel."""

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
    ref_len = score["ref_len"]
    return {
        "precisions": "/".join(f"{precision:.{decimals}f}" for precision in score["precisions"]),
        "BP": f"{score['bp']:.3f}",
        "ratio": f"{score['ratio']:.3f}",
        "hyp_len": str(score["sys_len"]),
        "ref_len": str(ref_len) if isinstance(ref_len, int) else f"{ref_len:.1f}",
    }


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """The precisions of all orders, in percent, by names for readers.

    Args:
      score: a score of scores.json.
    """
    return {
        f"precision of {order}-grams": precision
        for order, precision in enumerate(score["precisions"], 1)
    }
