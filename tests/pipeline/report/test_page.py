"""The page: what it shows, that it is safe and small, and the same for the same results."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import importlib.util
import json
import re

import pytest
from command_line import EXAMPLE, called
from made_reports import HOSTILE, example, of_two_systems, written_result
from made_results import entry, result

from beam_bleu.pipeline.report.page import page, write_report
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.saved.saved_result import SavedResult, result_at
from beam_bleu.transforms.errors import JobError

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Parsed(html.parser.HTMLParser):
    """The elements and the text of a page. It fails if an element is not closed."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(data.decode().replace("<wbr>", ""))
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    examples = [example(kind) for kind in ("loss", "gain", "worst", "best", "sample")]
    return written_result(tmp_path_factory.mktemp("result") / "night", of_two_systems(), examples)


@pytest.fixture(scope="module")
def made(folder):
    return page(result_at(str(folder)))


def test_a_reader_sees_who_is_best_where_why_and_how(made):
    text_of_page = Parsed(made).text
    for text in (
        "BLEU of atlas, birch",
        "Scores on 100 segments",
        "atlas has the best BLEU: 50.0 ± 2.5. It is significantly better than each of the others.",
        "BLEU: differences from atlas",
        "birch -7.0 ± 2.0 worse <0.001 2.8",
        "BLEU by length",
        "domain 1 100 -7.0 ± 2.0 worse",
        "The parts of BLEU",
        "BLEU of segments",
        "index 7, domain=news birch loses most against atlas: birch 12.5, atlas 50.0, difference",
        "Other reasons (2)",
        "source eine Katze reference 1 a cat",
        "atlas a cat sat birch a black cat",
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-0.1.0",
        "empty candidates 2",
        "Files that were read: 1.",
        "beam-bleu 0.1.0 scored these texts.",
    ):
        assert text in text_of_page
    assert "Linux of this machine" not in text_of_page
    assert text_of_page.count("± is half of the 95 % interval") == 1
    assert text_of_page.count("worse or better where p < 0.05") == 1
    for shown in (
        '<dd dir="auto">a <ins>black</ins> cat</dd>',
        '<dd dir="auto">a cat <del>sat</del></dd>',
        '<dd dir="auto">the cat sat</dd>',  # the other reference is not compared
        "eine Katze",
    ):
        assert shown in made.decode()


def test_the_page_loads_nothing_and_runs_only_its_own_script(made):
    elements, text = Parsed(made).elements, made.decode()
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\"" in text
    assert [attributes for tag, attributes in elements if tag == "script"] == [{}]
    loading = {"link", "img", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in elements:
        assert tag not in loading
        assert not [name for name in attributes if name.startswith("on")], tag
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"[a-z]+://|url\(|@import", text)


def test_the_same_result_gives_the_same_bytes(made, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)  # called by a relative path
    assert page(result_at("night")) == made


def test_hostile_names_and_texts_are_shown_as_text(made, tmp_path):
    document = of_two_systems(HOSTILE, slices=1)
    for row in (*document["scores"], *document["comparisons"]):
        if row["slice"] is not None and "domain" in row["slice"]:
            row["slice"] = {"domain": HOSTILE[1]}
    document["warnings"] = list(HOSTILE)
    examples = [
        example("worst", text, system=text, kept={text: text}, labels={text: text}, id=text)
        for text in HOSTILE
    ]
    folder = written_result(tmp_path / "hostile", document, examples)
    data = page(result_at(str(folder)))
    parsed = Parsed(data)
    assert f"Warnings ({len(HOSTILE)})" in parsed.text
    assert '<script>alert("x")</script>' in parsed.text
    assert r"escape \x1b[2J and \x00 NUL" in parsed.text
    assert r"\u202eright to left\u2069" in parsed.text
    tags, usual = ({tag for tag, _ in each.elements} for each in (parsed, Parsed(made)))
    assert tags == usual | {"li", "ul"}
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80\xae|\xe2\x81\xa9", data)


def test_of_equal_losses_those_in_slices_that_are_worse_come_first(tmp_path):
    document = of_two_systems()
    for row in document["comparisons"]:  # the only significant loss is in domain 2
        row["p_value_holm"] = 0.01 if row["slice"] == {"domain": "domain 2"} else 0.5
    losses = [
        example("loss", index=number, difference=-50.0 if number else -60.0, labels=labels)
        for number in range(6)
        for labels in [{"domain": f"domain {number % 3}"}]
    ]
    data = page(result_at(str(written_result(tmp_path / "night", document, losses)))).decode()
    assert re.findall('<th scope="row">index (.)', data) == ["0", "2", "5", "1", "3", "4"]
    assert re.findall('data-systems="1 " data-slices="(.) "', data) == [
        "0",
        "2",
        "2",
        "1",
        "0",
        "1",
    ]


def test_a_segment_is_one_row_whatever_it_is_an_example_of(made):
    assert made.decode().count("<tr data-systems") == 1
    assert "A random sample of birch: birch 12.5" in made.decode()


def test_title_date_and_note(folder):
    called("report", folder, "--title= ").assert_failed(2, "--title", "white space")
    asked = ["--output=-", "--title=German & English", "--date=2026-11-29", "--note=Our <best>."]
    data = called("report", folder, *asked).out.decode()
    for shown in (
        "<title>German &amp; English</title>",
        "<h1>German &amp; English</h1>",
        '<p class="lead">BLEU of atlas, birch</p>',
        '<time datetime="2026-11-29">2026-11-29</time>',
        "Our &lt;best&gt;.",
    ):
        assert shown in data
    refused = called("report", folder, "--date=29.11.2026")
    refused.assert_failed(2, "--date must be a day such as 2026-11-29, got 29.11.2026")


def test_one_system_without_errors_or_slices():
    document = result({**entry("only", 12.34, None), "interval": None}) | {"segments": 1}
    text = Parsed(page(SavedResult("night", read_result(document)))).text
    assert "only has 12.3 BLEU." in text
    assert "Scored: 1 segment." in text
    assert "Where?" not in text
    assert "Inputs" not in text
    assert "±" not in text


def test_a_run_writes_the_page_that_the_subcommand_makes(tmp_path):
    output = tmp_path / "out"
    arguments = [*EXAMPLE, "-m", "bleu", "chrf", "ter", "--slice_by", "length", "--output", output]
    run = called(*arguments, "--compare", "all", "--report")
    assert run.code == 0, run.err
    of_run = (output / "report.html").read_bytes()
    for text in ("the best BLEU", "the best chrF2", "lowest, and so the best, TER", "by length"):
        assert text in Parsed(of_run).text
    for named in (output, f"file://{output}"):
        made = called("report", named)
        assert (made.code, made.out) == (0, f"{output}/report.html\n".encode())
    assert (output / "report.html").read_bytes() == of_run
    # With a result of another run, the page would be wrong.
    assert called(*arguments).code == 0
    assert not (output / "report.html").exists()


def test_a_run_leaves_the_page_to_the_run_that_replaced_its_result(tmp_path, monkeypatch):
    output = tmp_path / "out"
    run = called(*EXAMPLE, "--output", output, "--report")
    assert run.code == 0, run.err
    of_run = (output / "report.html").read_bytes()

    def replaced(saved: SavedResult) -> bytes:
        monkeypatch.undo()
        assert called(*EXAMPLE, "-m", "ter", "--output", output, "--report").code == 0
        return of_run

    monkeypatch.setattr("beam_bleu.pipeline.report.page.page", replaced)
    with pytest.raises(JobError, match="another run has replaced the result"):
        write_report(str(output))
    assert b"best, TER" in (output / "report.html").read_bytes()


def test_a_page_of_another_program_stays(tmp_path):
    folder = written_result(tmp_path / "night", of_two_systems())
    (folder / "report.html").write_text("<html>mine</html>")
    called("report", folder).assert_failed(1, "report.html is not beam-bleu's")
    assert (folder / "report.html").read_text() == "<html>mine</html>"
    run = called("report", folder, "--output", "-")
    assert run.out.startswith(b"<!doctype html>")


def test_several_results_have_a_history(tmp_path):
    nights = []
    for day, score in ((22, 50.0), (24, 50.5), (25, 40.0)):
        document = result({**entry("atlas", score, 0.5), "interval": [score - 1, score + 1]})
        document |= {"segments": 100}
        nights.append(written_result(tmp_path / f"2026-11-{day}", document))
    run = called("report", nights[2], nights[0], nights[1], "--output", "-", "--new_texts")
    assert run.code == 0, run.err
    text = Parsed(run.out).text
    assert "3 nights. The sections below are about the last result, of 2026-11-25." in text
    assert "Significantly worse than the night before: atlas on 2026-11-25." in text
    assert "The history has 1 gap." in text
    assert called("report", tmp_path, "--output", "-", "--new_texts").out == run.out
    for named in (nights, [tmp_path]):
        called("report", *named).assert_failed(2, "the page of several results needs --output")


def test_damaged_files_are_named(tmp_path):
    called("report", tmp_path / "missing").assert_failed(3, "there is no ", "missing")
    folder = written_result(tmp_path / "night", of_two_systems(), [example("best")])
    (folder / "examples.jsonl").write_text(f"{json.dumps(example('worst'))}\n")
    called("report", folder).assert_failed(3, "examples.jsonl does not belong to the manifest")
    (folder / "examples.jsonl").unlink()
    (folder / "run.json").write_text("{")
    called("report", folder).assert_failed(3, "run.json is not a result of beam-bleu, or it is dam")
    (folder / "run.json").unlink()
    assert called("report", folder).code == 0


def test_what_a_report_needs_is_known_before_anything_is_scored(tmp_path, monkeypatch):
    called(*EXAMPLE, "--report").assert_failed(2, "--report needs --output")
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jinja2" else find(name)
    )
    run = called(*EXAMPLE, "--report", "--output", tmp_path / "out")
    run.assert_failed(2, "there is no module jinja2", "./run.sh install report")
    assert not (tmp_path / "out" / "scores.json").exists()
    folder = written_result(tmp_path / "night", of_two_systems())
    called("report", folder).assert_failed(2, "./run.sh install report")
