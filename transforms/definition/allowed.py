"""What is probably a mistake in the input, and what --allow lets pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

AllowedName = Literal[
    "another-format",
    "characters",
    "ids",
    "marks",
    "order",
    "other-documents",
    "pieces",
    "redirects",
    "repeats",
]

ALLOWED: Mapping[AllowedName, str] = {
    "another-format": "the lines are JSON, SGML, subtitles, ..., not text",
    "characters": "texts have characters that differ without being seen",
    "ids": "texts begin or end with ids",
    "marks": "texts of one side have marks of a program",
    "order": "candidates belong to references of other lines",
    "other-documents": "rows with the same id have different references, sources or hashes",
    "pieces": "texts are pieces of words",
    "redirects": "web servers send readers to other hosts (without a warning)",
    "repeats": "the last segments are in the input twice",
}
"""What --allow can name, and what is allowed then: what would end the run is a warning, and what
would be a warning is not told."""
