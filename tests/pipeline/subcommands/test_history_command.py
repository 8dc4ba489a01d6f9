"""`beam-bleu history`: what a user sees of the scores of several nights."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import PROJECT, called
from made_nights import write_night, write_run
from made_results import entry, result
from markdown_tables import sections

PAGE = (PROJECT / "docs" / "nights.md").read_text()
NEWS = {"domain": "news"}


@pytest.fixture(scope="module")
def nights(tmp_path_factory) -> Path:
    """Twenty-five nights: the last one is worse, one is missing, one has failed."""
    folder = tmp_path_factory.mktemp("scores")
    for day in (*range(1, 20), *range(21, 25), 26):
        score = 20.0 if day == 26 else 30.0 + day / 100
        scores = [entry("atlas", score), entry("birch", 10.0 + day / 100)]
        scores.append(entry("atlas", 25.0 + day / 100, of_slice=NEWS))
        write_night(folder / f"2026-11-{day:02}", result(*scores, partition=str(day)), str(day))
    write_run(folder / "2026-11-25", "failed", "2026-11-25T02:00:00.000Z", "line 7 is \x1b[31mbad")
    return folder


def lines(*arguments: Any) -> list[dict[str, Any]]:
    run = called("history", *arguments, "--format=jsonl")
    assert (run.code, run.err) == (0, "")
    return [json.loads(line) for line in run.out.splitlines()]


def test_a_table_for_each_system_and_a_line_for_each_gap(nights):
    run = called("history", nights, "--last=4")
    assert (run.code, run.err) == (0, "")
    atlas, birch, below = run.out.decode().split("\n\n")
    assert [line.split()[0] for line in (atlas.split("\n")[0], birch.split("\n")[0])] == [
        "atlas",
        "birch",
    ]
    assert atlas.splitlines()[2:] == [
        "2026-11-23  30.23 ± 0.98   +0.01 ± 1.39         0.989",
        "2026-11-24  30.24 ± 0.98   +0.01 ± 1.39         0.989",
        "2026-11-25                                             failed",
        "2026-11-26  20.00 ± 0.98  -10.24 ± 1.39 worse  <0.001",
    ]
    assert below.splitlines()[0] == r"2026-11-25: the run failed: line 7 is \x1b[31mbad"


def test_jsonl_has_the_keys_of_the_page_night_by_night(nights):
    found = lines(nights)
    documented = [
        [
            key
            for cell in re.findall(r"^\| (`.*?`) \|", table, re.M)
            for key in re.findall(r"`(\w+)`", cell)
        ]
        for table in sections(PAGE)["JSON"].split("With `kind` `gap`")
    ]
    for kind, keys in zip(("score", "gap"), documented, strict=True):
        for line in found:
            if line["kind"] == kind:
                assert [*line] == ["kind", *keys]
    assert [line["night"] for line in found] == sorted(line["night"] for line in found)
    assert [line["gap"] for line in found if line["kind"] == "gap"] == ["missing", "failed"]
    last = found[-2]
    assert (last["verdict"], last["method"], last["against"]) == (
        "worse",
        "independent",
        "2026-11-24",
    )
    assert last["path"] == f"{nights}/2026-11-26"


def test_what_is_asked_for_is_shown(nights):
    for words, expected in {
        "": [("atlas", None), ("birch", None)],
        "--system=birch": [("birch", None)],
        "--slice=domain=news": [("atlas", NEWS)],
        "--slice=all -m bleu": [("atlas", NEWS)],
    }.items():
        found = lines(nights, *words.split(), "--last=3")
        last = [line for line in found if line["night"] == "2026-11-26"]
        assert [(line["system"], line["slice"]) for line in last] == expected
    for words, fragment in {
        "--system=cedar": "choose one of atlas, birch",
        "--metrics chrf": "--metrics chrf: there is no such value",
        "--slice=domain=law": "choose one of domain=news",
        "--order_by=size": "size",
        "--last=0": "at least 1",
    }.items():
        called("history", nights, *words.split()).assert_failed(2, fragment)


def test_a_merged_month_is_left_out_with_a_warning(tmp_path):
    for name in ("2026-11", "2026-11-01"):
        write_night(tmp_path / name, result(entry("atlas", 30.0)))
    run = called("history", tmp_path)
    assert run.code == 0
    assert (
        run.err
        == f"beam-bleu: warning: {tmp_path}/2026-11 is a whole month, and not a night: left out\n"
    )
    assert called("history", tmp_path / "2026-11").code == 0
