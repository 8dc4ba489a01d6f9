"""The warnings of a result document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def warnings_of_document(document: Mapping[str, Any]) -> list[str]:
    """All that a reader of the scores must know, also of those of presets."""
    of_presets = [
        f"{each['preset']}: {warning}"
        for each in document.get("presets", ())
        for warning in each["warnings"]
    ]
    return [*document["warnings"], *of_presets]
