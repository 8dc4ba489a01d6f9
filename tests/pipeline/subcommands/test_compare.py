"""beam-bleu compare and history: two runs, paired only if they can be, and many nights."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import EXAMPLES, PROJECT, called, read_lines, write_lines
from made_results import entry, result, write_night, write_run
from markdown_tables import sections
from saved_parts import NAMES, TEXTS, lines_in, records_in, run_into

BOOTSTRAP = ("--resample=bootstrap", "--resamples=200")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """The totals of several runs: atlas is another text in the new ones."""
    folder: Path = tmp_path_factory.mktemp("runs")
    found = {}
    for name, given in (("plain", ()), ("bootstrap", BOOTSTRAP), ("floor", ("-s=floor",))):
        run_into(folder / name, *lines_in(folder / "texts", slice(None)), *given)
        found[name] = folder / name / "totals.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("saved_parts.TEXTS", {**TEXTS, "atlas": TEXTS["birch"]})
        texts = lines_in(folder / "other texts", slice(None))
        run_into(folder / "new", *texts, *BOOTSTRAP)
    return {**found, "new": folder / "new" / "totals.json"}


def compared(old: Path, new: Path) -> dict[str, Any]:
    run = called("compare", old, new, "--format=json", "--quiet")
    document: dict[str, Any] = run.document
    return document


def test_independent(runs):
    found = compared(runs["plain"], runs["new"])
    assert found["method"] == "independent"
    assert "--resample" in found["reason"]
    atlas, birch, _ = found["systems"]
    scores = json.loads((runs["plain"].parent / "scores.json").read_text())["scores"]
    errors = {each["system"]: each["standard_error"] for each in scores}
    assert atlas["old"] == scores[0]["score"]
    assert atlas["new"] == scores[1]["score"]
    assert atlas["standard_error"] == pytest.approx(math.hypot(errors["atlas"], errors["birch"]))
    assert atlas["interval"][0] < atlas["difference"] < atlas["interval"][1]
    assert (birch["difference"], birch["p_value"]) == (0.0, 1.0)
    assert (birch["standard_error"], birch["interval"]) == (0.0, [0.0, 0.0])  # nothing has changed


def test_paired(runs):
    found = compared(runs["bootstrap"], runs["new"])
    assert found["method"] == "paired"
    atlas, birch, _ = found["systems"]
    document = json.loads((runs["bootstrap"].parent / "scores.json").read_text())
    (same,) = (each for each in document["resampling"]["comparisons"] if each["system"] == "birch")
    assert atlas["difference"] == same["difference"]
    assert atlas["interval"] == same["interval"]
    assert atlas["p_value"] == same["p_value"]
    assert (birch["standard_error"], birch["p_value"]) == (0.0, 1.0)


def test_records_of_any_format_are_paired_if_they_have_the_same_references(tmp_path, runs):
    texts = {name: [*TEXTS[name], "left out"] for name in ("ref", *NAMES)}
    table = pa.table({**texts, "set": ["test"] * 72 + ["other"]})
    lists = table.set_column(0, "ref", [[[ref] for ref in texts["ref"]]])
    pq.write_table(lists[:40], tmp_path / "0.parquet")
    pq.write_table(lists[40:], tmp_path / "1.parquet")
    worse = table.set_column(1, "atlas", [texts["birch"]]).to_pylist()
    flags = (f"--candidate_columns={','.join(NAMES)}", "--where=set=test", *BOOTSTRAP)
    run_into(tmp_path / "old", f"--input={tmp_path}/?.parquet", *flags)
    for name, records in {"new": worse, "moved": [*worse[1:], worse[0]]}.items():
        run_into(tmp_path / name, *records_in(tmp_path / name, records), *flags)
    found = compared(tmp_path / "old", tmp_path / "new")
    # Not only the method: segments have the random weights of the same lines in text files.
    assert found["systems"] == compared(runs["bootstrap"], runs["new"])["systems"]
    assert found["method"] == "paired"
    found = compared(tmp_path / "old", tmp_path / "moved")
    assert found["method"] == "independent"
    assert "the same order" in found["reason"]
    run_into(tmp_path / "not other", *flags, f"--input={tmp_path}/?.parquet", "--where=set!=other")
    run = called("compare", tmp_path / "old", tmp_path / "not other", "--format=json")
    assert run.document["method"] == "independent"
    assert run.document["reason"].endswith("changed from set=test to set!=other, set=test")
    assert run.document["reason"] in run.err


def test_references_beside_other_candidates_are_the_same_as_those_of_the_night_before(tmp_path):
    texts = {"old": ("atlas", TEXTS["ref"]), "new": ("birch", TEXTS["ref"])}
    texts["changed"] = ("birch", ["another reference", *TEXTS["ref"][1:]])
    for name, (system, references) in texts.items():  # a harness writes one file for a model
        rows = zip(TEXTS[system], references, strict=True)
        records = [{"id": n, "hyp": text, "ref": ref} for n, (text, ref) in enumerate(rows)]
        _, path = records_in(tmp_path / f"{name} records", records)
        run_into(tmp_path / name, path, "-i", f"model={path}", "--join_on=id", *BOOTSTRAP)
    assert compared(tmp_path / "old", tmp_path / "new")["method"] == "paired"
    found = compared(tmp_path / "new", tmp_path / "changed")
    assert (found["method"], found["reason"][:18]) == ("independent", "the references are")


def test_tables_for_a_paper_have_the_differences_and_say_how_they_were_tested(runs):
    def lines(old: str, format: str) -> list[str]:
        run = called("compare", runs[old], runs["new"], f"--format={format}", "--quiet")
        return run.out.decode().splitlines()

    caption, _, header, _, atlas, birch, _, _, note = lines("plain", "markdown")
    assert caption.startswith("BLEU, compared with the old run as if their segments were indep")
    assert "significantly different from the old run" in caption
    assert header.split(" | ")[1:3] == ["old ", "new "]
    assert re.search(r"49\.8 \| 33\.8 \| −16\.1 ± \d\.\d<sup>", atlas)
    assert "| 0.0 ± 0.0 " in birch
    assert re.match(r"- BLEU: sacreBLEU `nrefs:1\|.*`; beam-bleu `nrefs:1\|", note)
    assert lines("bootstrap", "markdown")[0].startswith("BLEU, compared with the old run in pairs.")
    latex = "\n".join(lines("plain", "latex"))
    assert r"atlas & 49.8 & 33.8 & $-$16.1\,{\scriptsize$\pm$\," in latex


def test_slices_of_runs_without_totals_have_independent_errors(tmp_path):
    slices = [{"domain": "chat"}, {"domain": "new\x1b[2Js|*\u202e"}]
    for night, scores in {"old": (50.0, 30.0), "new": (49.0, 31.5)}.items():
        of_slices = [
            entry("mt", score, error, each)
            for score, error, each in zip(scores, (0.5, 0.75), slices, strict=True)
        ]
        document = result(entry("mt", 40.0), *of_slices, uncertainty={"units": "segments"})
        write_night(tmp_path / night, document)
    found = compared(tmp_path / "old", tmp_path / "new")["slices"]
    assert [each["slice"] for each in found] == slices
    assert [(each["old"], each["new"], each["difference"]) for each in found] == [
        *((50.0, 49.0, -1.0), (30.0, 31.5, 1.5))
    ]
    for each, error in zip(found, (0.5, 0.75), strict=True):
        assert each["segments"] == 100
        assert each["standard_error"] == pytest.approx(math.hypot(error, error))
        z = abs(each["difference"]) / each["standard_error"]
        assert each["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
    least, other = sorted(each["p_value"] for each in found)
    assert sorted(each["p_value_holm"] for each in found) == [2 * least, max(2 * least, other)]


def test_replicates_pair_the_whole_corpus_and_not_its_slices(tmp_path):
    domains = write_lines(tmp_path / "domains.txt", ["a", "b"] * 36)
    flags = (f"--labels=domain={domains}", "--slice_by=domain", *DRAWN)
    texts = lines_in(tmp_path / "texts", slice(None))
    run_into(tmp_path / "out", *texts, *flags)
    run = called("compare", tmp_path / "out", tmp_path / "out")
    assert "\npaired: " in run.out.decode()
    assert "\nslices and averages: independent, because" in run.out.decode()
    (tmp_path / "out" / "totals.json").unlink()
    found = compared(tmp_path / "out", tmp_path / "out")
    assert "the old run has no totals.json (--save_totals), which" in found["reason"]
    assert {each["p_value"] for each in found["slices"]} == {1.0}  # nothing has changed


def test_other_definitions_are_refused(runs):
    failed = called("compare", runs["plain"], runs["floor"])
    failed.assert_failed(3, "different definitions: BLEU|", "smooth:floor", "rescore")


DRAWN = ("--resample=bootstrap", "--resamples=50")


def test_only_runs_with_the_same_units_are_paired(tmp_path):
    documents = read_lines(EXAMPLES / "documents.txt")
    files = {
        "documents": documents,
        "domains": [f"news\t{each}" for each in documents],
        "labels": [f"{each}\t{i % 4}" for i, each in enumerate(documents)],
    }
    paths = {name: write_lines(tmp_path / f"{name}.txt", lines) for name, lines in files.items()}
    texts = lines_in(tmp_path / "texts", slice(None))
    for name, flags in {
        "segments": "",
        "seed": "--seed=5",
        "documents": "--documents={documents}",
        "a": "--documents=a --labels=a,b={labels}",
        "b": "--documents=a --labels=b,a={labels}",
        "domains": "--documents=document --labels=document={domains}",
    }.items():
        run_into(tmp_path / name, *texts, *DRAWN, *flags.format(**paths).split())
    for old, new, obstacle in (
        ("documents", "documents", ""),
        ("documents", "segments", "units: segments, or documents"),
        ("seed", "segments", "seed is 5 in the old run, now 12345"),
        ("a", "b", "weights"),
        ("documents", "domains", "random weights of the segments are not the same"),
    ):
        found = compared(tmp_path / old, tmp_path / new)
        assert found["method"] == ("independent" if obstacle else "paired")
        assert obstacle in found["reason"]


# The history of several nights


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
    assert (atlas.split()[0], birch.split()[0]) == ("atlas", "birch")
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
    assert [line["gap"] for line in found if line["kind"] == "gap"] == ["missing", "failed"]
    expected = {"verdict": "worse", "method": "independent", "against": "2026-11-24"}
    assert found[-2].items() >= {**expected, "path": f"{nights}/2026-11-26"}.items()


def test_what_is_asked_for_is_shown(nights, tmp_path):
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
    write_night(tmp_path / "2026-11-01", result(entry("atlas", 30.0)), "1")
    called("history", tmp_path, "--slice=all").assert_failed(2, "no night has slices")


def test_a_merged_month_is_left_out_with_a_warning(tmp_path):
    for name in ("2026-11", "2026-11-01"):
        write_night(tmp_path / name, result(entry("atlas", 30.0)))
    run = called("history", tmp_path)
    assert run.code == 0
    assert f"warning: {tmp_path}/2026-11 is a whole month, and not a night: left out" in run.err
    assert called("history", tmp_path / "2026-11").code == 0
