"""What keeps people with disabilities from a page, by axe-core."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from deploy.local import parts

if TYPE_CHECKING:
    from playwright.sync_api import Page

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""The rules of WCAG 2.2, levels A and AA, by their names in axe."""


def violations(page: Page) -> list[tuple[str, str, str]]:
    """The rules of WCAG 2.2 AA that a page violates, each with the element and what is wrong."""
    page.evaluate(parts.axe().read_text())
    options = {"runOnly": {"type": "tag", "values": WCAG}}
    found = page.evaluate(f"axe.run(document, {json.dumps(options)})")
    assert len(found["passes"]) > 10
    return [
        (rule["id"], node["html"][:200], node["failureSummary"])
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
