"""The site of the documentation, in Chromium: everybody can read it, and it loads nothing else."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from accessibility import violations
from command_line import PROJECT
from playwright.sync_api import BrowserContext, Page

PAGES = ["index.html", "docs/flags.html", "docs/metrics.html", "docs/library.html"]
"""A page of each kind: code and links, a reference, formulas and wide tables, docstrings."""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site that is built strictly: a warning of MkDocs is an error."""
    folder = tmp_path_factory.mktemp("site")
    build = [*("-m", "mkdocs", "build", "--config-file", "docs/website/mkdocs.yml")]
    done = subprocess.run(
        [sys.executable, *build, "--site-dir", folder],
        cwd=PROJECT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},  # as in run.sh
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    handler = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def opened(context: BrowserContext, site: str, path: str) -> Page:
    """A page, after a check that all it has loaded is of the site."""
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{site}/{path}", wait_until="networkidle")
    assert len(requests) > 3
    assert [url for url in requests if not url.startswith(f"{site}/")] == []
    return page


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1600, "dark")])
@pytest.mark.parametrize("path", PAGES)
def test_wcag_is_not_violated(browser, site, path, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = opened(context, site, path)
    assert violations(page) == []
    for narrower in (width, 800):
        page.set_viewport_size({"width": narrower, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= narrower
    context.close()


def test_the_library_is_described_from_its_docstrings(browser, site):
    context = browser.new_context()
    page = opened(context, site, "docs/library.html")
    assert "BLEU of a corpus of segments" in page.inner_text("main")
    page.locator("article li > a[href='#beam_bleu.CorpusScores']").click()
    assert page.url.endswith("#beam_bleu.CorpusScores")
    assert page.locator("[id='beam_bleu.CorpusScores']").is_visible()
    context.close()
