"""What ends a run because it is probably a mistake, and what --allow lets pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

AllowedName = Literal["other-documents"]

ALLOWED: Mapping[AllowedName, str] = {
    "other-documents": "rows with the same id have different references, sources or hashes",
}
"""What --allow can name, and what is allowed then. Without it the run ends with an error, and with
it the result has a warning."""
