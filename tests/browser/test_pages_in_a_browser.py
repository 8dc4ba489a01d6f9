"""Reports and the site in Chromium: everybody can read them, and they load nothing of others."""

from __future__ import annotations

import functools
import http.server
import json
import os
import subprocess
import sys
import threading

import pytest
from command_line import PROJECT
from engine_parts import need
from made_reports import HOSTILE, example, of_two_systems, written_result
from playwright.sync_api import sync_playwright

from beam_bleu.pipeline.subcommands.nights import report_command
from deploy.local import parts

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""The rules of WCAG 2.2, levels A and AA, by their names in axe."""

OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"
PAGES = ["index.html", "docs/flags.html", "docs/metrics.html", "docs/library.html"]
"""A page of each kind: code and links, a reference, formulas and wide tables, docstrings."""


@pytest.fixture(scope="module")
def browser():
    need("chromium")
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work for root, as whom tests run in containers.
        browser = playwright.chromium.launch(
            executable_path=parts.chromium(), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


def opened(browser, address, width, scheme, own, scripts=True):
    """A page in a new window, after a check that all it has loaded is its own."""
    page = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
        java_script_enabled=scripts,
    ).new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a script has run: {dialog.message}"))
    page.goto(address, wait_until="networkidle")
    assert requests
    assert [url for url in requests if not url.startswith(own)] == []
    return page


def assert_everybody_can_read(page, width):
    """Checks the rules of WCAG 2.2 AA by axe-core, and that the page never scrolls sideways."""
    page.evaluate(parts.axe().read_text())
    options = {"runOnly": {"type": "tag", "values": WCAG}}
    found = page.evaluate(f"axe.run(document, {json.dumps(options)})")
    assert len(found["passes"]) > 10
    assert [
        (rule["id"], node["html"][:200], node["failureSummary"])
        for rule in found["violations"]
        for node in rule["nodes"]
    ] == []
    for other in (width, 800):
        page.set_viewport_size({"width": other, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= other


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A page with all sections: examples, a history with a gap; and one whose texts are hostile."""
    folder = tmp_path_factory.mktemp("reports")
    days = []
    for day in (22, 23, 25):
        document = of_two_systems([f"system-{number}" for number in range(8)], slices=13)
        document["scores"][0]["score"] += day
        document |= {"partition": f"2026-11-{day}", "warnings": ["a warning"]}
        kinds = ("loss", "gain", "worst", "best", "sample")
        examples = [
            example(
                *(kind, f"a cat on mat {number}"),
                system=f"system-{1 + number % 2}",
                baseline="system-0",
                index=number,
                labels={"domain": f"domain {number % 2}"},
            )
            for number, kind in enumerate(kinds)
        ]
        days.append(written_result(folder / f"2026-11-{day}", document, examples))
    document = of_two_systems(HOSTILE, slices=1) | {"warnings": list(HOSTILE)}
    examples = [
        example("worst", text, system=text, kept={text: text}, labels={text: text}, id=text)
        for text in HOSTILE
    ]
    nights = {"usual": days, "hostile": [written_result(folder / "night", document, examples)]}
    for name, results in nights.items():
        path = str(folder / f"{name}.html")
        assert report_command([*map(str, results), "--output", path, "--quiet"]) == 0
    return folder.as_uri()


LOOKS = [(400, "light"), (1600, "dark")]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_a_report(browser, reports, name, width, scheme):
    address = f"{reports}/{name}.html"
    page = opened(browser, address, width, scheme, own=address)
    controls = page.locator(".filter")
    controls.evaluate("box => { box.hidden = true }")
    text = page.inner_text("body")
    controls.evaluate("box => { box.hidden = false }")
    page.evaluate(OPEN_ALL)
    assert_everybody_can_read(page, width)
    # Wide tables scroll in their own box.
    boxes = page.locator(".scroll")
    assert boxes.count() > 5
    overflowing = [box for box in boxes.all() if box.evaluate("e => e.scrollWidth > e.clientWidth")]
    assert all(box.get_attribute("tabindex") == "0" for box in overflowing)
    without_scripts = opened(browser, address, width, scheme, own=address, scripts=False)
    assert without_scripts.inner_text("body") == text
    for each in (page, without_scripts):
        each.context.close()


def test_the_examples_are_filtered(browser, reports):
    address = f"{reports}/usual.html"
    page = opened(browser, address, 900, "light", own=address)
    system, part = page.locator(".filter select").all()
    words = page.locator(".filter input")
    rows = page.locator(".examples tbody tr:visible")
    assert rows.count() == 5
    system.select_option("system-2")
    assert [row.inner_text().split(",")[0] for row in rows.all()] == ["index 1", "index 3"]
    system.select_option("all")
    part.select_option("domain=domain 0")
    words.fill("MAT 2")
    assert [row.inner_text().split(",")[0] for row in rows.all()] == ["index 2"]
    assert page.locator(".filter output").inner_text() == "1 of 5 segments"
    page.context.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
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


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_the_site(browser, site, path, width, scheme):
    page = opened(browser, f"{site}/{path}", width, scheme, own=f"{site}/")
    assert_everybody_can_read(page, width)
    if path == "docs/library.html":  # from docstrings
        assert "BLEU of a corpus of segments" in page.inner_text("main")
        assert page.locator("[id='beam_bleu.CorpusScores']").is_visible()
    page.context.close()
