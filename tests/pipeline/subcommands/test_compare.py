"""beam-bleu compare: two runs, paired only where their segments are the same."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLES, called, read_lines, write_lines
from jackknife import score_of, segment_counts, standard_error
from saved_parts import TEXTS, lines_in, run_into


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """The totals of several runs: atlas is another text in the new ones."""
    folder: Path = tmp_path_factory.mktemp("runs")
    found = {}
    flags = ("--resample=bootstrap", "--resamples=200")
    for name, given in (("plain", ()), ("bootstrap", flags), ("floor", ("-s=floor",))):
        run_into(folder / name, *lines_in(folder / "texts", slice(None)), *given)
        found[name] = folder / name / "totals.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("saved_parts.TEXTS", {**TEXTS, "atlas": TEXTS["birch"]})
        texts = lines_in(folder / "other texts", slice(None))
        run_into(folder / "new", *texts, *flags)
        run_into(folder / "coins", *texts, "--resample=randomization", "--resamples=200")
    found |= {"new": folder / "new" / "totals.json", "coins": folder / "coins" / "totals.json"}
    return found


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


HOSTILE = "new\x1b[2Js|*\u202e"
PLACES = {"chat": range(36), HOSTILE: range(36, 72)}


@pytest.fixture(scope="module")
def nights(tmp_path_factory) -> Path:
    """Two nights without --save_totals: in one domain the new texts are worse, in one better."""
    folder: Path = tmp_path_factory.mktemp("nights")
    domains = [domain for domain, places in PLACES.items() for _ in places]
    pairs = [{"chat": "en-de", HOSTILE: "de-en"}[domain] for domain in domains]
    labels = [
        f"--labels={name}={write_lines(folder / f'{name}.txt', lines)}"
        for name, lines in (("domain", domains), ("pair", pairs))
    ]
    cobalt = TEXTS["cobalt"]
    texts = {
        "old": [*TEXTS["birch"][:36], *cobalt[36:]],
        "new": [*cobalt[:36], *TEXTS["birch"][36:]],
    }
    for night, lines in texts.items():
        words = [
            *(write_lines(folder / "ref.txt", TEXTS["ref"]), "-i"),
            f"mt={write_lines(folder / night / 'mt.txt', lines)}",
        ]
        flags = [*labels, "--slice_by=domain", "--language_column=pair", "-m", "bleu", "ter"]
        run = called(*words, *flags, "--output", folder / f"out-{night}")
        assert run.code == 0, run.err
    return folder


def test_slices_of_runs_without_totals_have_independent_errors(nights):
    found = compared(nights / "out-old", nights / "out-new")
    slices = {(each["metric"], list(each["slice"].values())[-1]): each for each in found["slices"]}
    assert len(slices) == 8  # two items of two slices, by two metrics
    for domain, rows in PLACES.items():
        errors, scores = [], []
        references = [TEXTS["ref"][row] for row in rows]
        for night in ("old", "new"):
            lines = read_lines(nights / night / "mt.txt")
            counts = segment_counts([lines[row] for row in rows], [references])
            errors.append(standard_error(score_of, counts))
            scores.append(score_of(counts.sum(axis=0)))
        each = slices["bleu", domain]
        assert (each["old"], each["new"]) == pytest.approx(tuple(scores))
        assert each["difference"] == pytest.approx(scores[1] - scores[0])
        assert each["standard_error"] == pytest.approx(math.hypot(*errors), rel=0.05)
        z = abs(each["difference"]) / each["standard_error"]
        assert each["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
        assert each["segments"] == 36
        pair = "en-de" if domain == "chat" else "de-en"
        assert slices["bleu", pair]["p_value"] == each["p_value"]
    p_values = sorted(slices[key]["p_value"] for key in slices if key[0] == "bleu")
    adjusted = sorted(slices[key]["p_value_holm"] for key in slices if key[0] == "bleu")
    assert adjusted[0] == 4 * p_values[0]


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
    same = "--documents={documents}"
    for number, (old, new, obstacle) in enumerate(
        (
            (same, same, ""),
            (same, "", "units: segments, or documents"),
            ("--seed=5", "", "seed is 5 in the old run, now 12345"),
            (
                "--documents=a --labels=a,b={labels}",
                "--documents=a --labels=b,a={labels}",
                "weights",
            ),
            (
                "--documents={domains}",
                "--documents=document --labels=document={domains}",
                "random weights of the segments are not the same",
            ),
        )
    ):
        folders = [tmp_path / f"{name}{number}" for name in ("old", "new")]
        for folder, flags in zip(folders, (old, new), strict=True):
            run_into(folder, *texts, *DRAWN, *flags.format(**paths).split())
        found = compared(*folders)
        assert found["method"] == ("independent" if obstacle else "paired")
        assert obstacle in found["reason"]
