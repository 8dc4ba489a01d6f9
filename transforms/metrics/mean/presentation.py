"""What tables and reports show of a mean beside the score: nothing. It loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIMALS = 4
"""How many decimals a score has in tables if it has no standard error."""


def cells(score: Mapping[str, Any], decimals: int) -> dict[str, str]:
    """What a table shows beside the score."""
    return {}


def parts(score: Mapping[str, Any]) -> dict[str, float]:
    """A mean has no parts."""
    return {}
