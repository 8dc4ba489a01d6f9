"""Reports in Chromium: nothing is loaded, everybody can read them, hostile texts stay texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from accessibility import violations
from made_reports import HOSTILE, example, of_two_systems, written_result
from made_results import entry, result
from playwright.sync_api import Browser, Page

from beam_bleu.pipeline.subcommands.nights import report_command

WIDTHS = (400, 800, 1600)
SCHEMES = ("light", "dark")


OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"

KINDS = ("loss", "gain", "worst", "best", "sample")


def made(folder: Path, *results: Path) -> Path:
    """The page of some results."""
    path = folder / "report.html"
    assert report_command([*map(str, results), "--output", str(path), "--quiet"]) == 0
    return path


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with all sections: examples, a history with a gap, warnings."""
    folder = tmp_path_factory.mktemp("usual")
    days = []
    for day in (22, 23, 25):
        document = of_two_systems([f"system-{number}" for number in range(8)], slices=13)
        document["scores"][0]["score"] += day
        document |= {"partition": f"2026-11-{day}", "warnings": ["a warning"]}
        examples = [example(kind, system="system-1") for kind in KINDS]
        days.append(written_result(folder / f"2026-11-{day}", document, examples))
    return made(folder, *days)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose names and texts are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    document = of_two_systems(HOSTILE, slices=1) | {"warnings": list(HOSTILE)}
    examples = [
        example("worst", text, system=text, kept={text: text}, labels={text: text}, id=text)
        for text in HOSTILE
    ]
    return made(folder, written_result(folder / "night", document, examples))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that has only what cannot be left out."""
    folder = tmp_path_factory.mktemp("small")
    document = result({**entry("only", 12.3, None), "interval": None}) | {"segments": 1}
    return made(folder, written_result(folder / "night", document))


def shown(
    browser: Browser, path: Path, width: int = 800, scheme: str = "light", scripts: bool = True
) -> Page:
    """A page in a new window, which fails if it loads anything."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        java_script_enabled=scripts,
    )
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a script has run: {dialog.message}"))
    page.goto(path.as_uri())
    assert requests == [path.as_uri()]
    return page


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("name", ["usual", "hostile", "small"])
def test_wcag_is_not_violated(browser, request, name, width, scheme):
    page = shown(browser, request.getfixturevalue(name), width, scheme)
    page.evaluate(OPEN_ALL)
    assert violations(page) == []
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_the_page_never_scrolls_sideways(browser, request, name, width):
    page = shown(browser, request.getfixturevalue(name), width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Wide tables scroll in their own box.
    boxes = page.locator(".scroll")
    assert boxes.count() > 5
    overflowing = [box for box in boxes.all() if box.evaluate("e => e.scrollWidth > e.clientWidth")]
    assert all(box.get_attribute("tabindex") == "0" for box in overflowing)
    page.context.close()


def test_the_page_needs_no_scripts(browser, usual):
    with_scripts, without = shown(browser, usual), shown(browser, usual, scripts=False)
    assert without.inner_text("body") == with_scripts.inner_text("body")
    assert "system-0 has the best BLEU" in without.inner_text("body")
    for page in (with_scripts, without):
        page.context.close()
