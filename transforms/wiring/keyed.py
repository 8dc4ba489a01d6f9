"""Gives values a key, for steps that bring all values together."""

from __future__ import annotations

from typing import Any

__all__ = ["keyed"]


def keyed(value: Any) -> tuple[int, Any]:
    """A value with the key that all values have."""
    return 0, value
