"""Chromium, started once for each file of tests, and stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from engine_parts import need

from deploy.local import parts

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need("chromium")
    # Not above: pytest reads this file even if no test of this folder runs.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium's sandbox does not work for root, as whom tests run in containers.
        browser = playwright.chromium.launch(
            executable_path=parts.chromium(), args=["--no-sandbox"]
        )
        yield browser
        browser.close()
