"""Means of columns of records, with and without texts, as a user asks for them."""

from __future__ import annotations

import json
import math
import random
import statistics
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import PROJECT, called, write_records

_RNG = random.Random(1)
SEGMENTS = 80
WIDE: list[dict[str, Any]] = [
    {
        "id": number,
        "domain": ["news", "talk"][number % 2],
        "document": f"d{number // 2}",
        "ref": f"the cat sat on the mat {number} times",
        "hyp_a": f"the cat sat on the mat {number} times",
        "hyp_b": f"a cat sat on the mat {number} times",
        "comet_a": _RNG.gauss(0.8, 0.1),
        "comet_b": _RNG.gauss(-0.7, 0.1),
        "metricx": _RNG.uniform(0, 25),
    }
    for number in range(SEGMENTS)
]
MEANS = {system: math.fsum(row[f"comet_{system}"] for row in WIDE) / SEGMENTS for system in "ab"}
SCHEMA = json.loads((PROJECT / "docs" / "scores.schema.json").read_text())


def scores(document: dict[str, Any], metric: str) -> dict[str, float]:
    """The scores of the whole corpus, by system. The document follows the schema."""
    jsonschema.validate(document, SCHEMA)
    return {
        entry["system"]: entry["score"]
        for entry in document["scores"]
        if entry["metric"] == metric and entry["slice"] is None
    }


def test_records_without_texts(tmp_path: Path) -> None:
    flags = ["-m", "mean:comet_{system}", "--format", "json"]
    for suffix in ("parquet", "tsv"):
        document = called(
            "--input", write_records(tmp_path / f"wide.{suffix}", WIDE), *flags
        ).document
        assert scores(document, "mean:comet_{system}") == pytest.approx(MEANS, rel=1e-15)
        assert document["counters"].keys() == {
            *("segments", "read", "filtered", "rejected", "rejected_records")
        }
        assert not document["warnings"]
        differences = [row["comet_b"] - row["comet_a"] for row in WIDE]
        expected = statistics.stdev(differences) / math.sqrt(SEGMENTS)
        error = document["comparisons"][0]["standard_error"]
        assert error == pytest.approx(expected, rel=1e-12)


def test_a_join_needs_no_references(tmp_path: Path) -> None:
    flags = []
    for system in "ab":
        rows = [{"id": row["id"], "comet": row[f"comet_{system}"]} for row in WIDE]
        random.Random(2).shuffle(rows)
        flags += ["--candidates", write_records(tmp_path / f"{system}.jsonl", rows)]
    run = called(*flags, "--join_on", "id", "-m", "mean:comet", "--format", "json")
    assert scores(run.document, "mean:comet") == pytest.approx(MEANS, rel=1e-15)
    write_records(tmp_path / "b.jsonl", rows[1:])
    run = called(*flags, "--join_on", "id", "-m", "mean:comet")
    run.assert_failed(3, "--coverage")


def test_systems_that_are_right_everywhere_are_no_copies(tmp_path: Path) -> None:
    rows = [{"id": row["id"], "right": 1, "part": 0.1 * (row["id"] % 9)} for row in WIDE]
    path = write_records(tmp_path / "a.jsonl", rows)
    flags = ["-i", f"a={path}", f"b={path}", "--join_on", "id", "--format", "json", "-m"]
    assert called(*flags, "mean:right").document["warnings"] == []
    (warning,) = called(*flags, "mean:right", "mean:part").document["warnings"]
    assert "b and a have the same score" in warning


def test_slices_documents_and_replicates(tmp_path: Path) -> None:
    path = write_records(tmp_path / "wide.jsonl", WIDE)
    flags = ["--input", path, "-m", "mean:comet_{system}", "--format", "json"]
    flags += ["--slice_by", "domain", "--documents", "document", "--resample", "bootstrap"]
    document = called(*flags).document
    jsonschema.validate(document, SCHEMA)
    news = [row["comet_a"] for row in WIDE if row["domain"] == "news"]
    (entry,) = (
        entry
        for entry in document["scores"]
        if entry["system"] == "a" and entry["slice"] == {"domain": "news"}
    )
    assert entry["score"] == pytest.approx(statistics.fmean(news), rel=1e-14)
    sums = [WIDE[i]["comet_a"] + WIDE[i + 1]["comet_a"] for i in range(0, SEGMENTS, 2)]
    expected = statistics.stdev(sums) / 2 / math.sqrt(SEGMENTS / 2)
    assert document["scores"][0]["standard_error"] == pytest.approx(expected, rel=1e-12)
    resampled = document["resampling"]["scores"][0]
    assert resampled["interval"][0] < MEANS["a"] < resampled["interval"][1]


def test_saved_totals_are_merged_compared_and_judged(tmp_path: Path) -> None:
    flags = ["-m", "mean:comet_a", "mean_error:metricx", "--save_totals", "--slice_by", "domain"]
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder, rows in zip(folders, (WIDE[:40], WIDE[40:]), strict=True):
        path = write_records(tmp_path / f"{folder.name}.jsonl", rows)
        partition = ["--partition", folder.name]
        assert called("--input", path, *flags, "--output", folder, *partition).code == 0
    merged = called("merge", *folders, "--format", "json").document
    assert scores(merged, "mean:comet_a") == pytest.approx({"comet_a": MEANS["a"]}, rel=1e-15)
    assert called("rescore", folders[0], "--format", "json").code == 0
    assert called("compare", folders[0], folders[0]).code == 0
    passes = ["--fail_under", "mean:comet_a=0.5", "--fail_over", "mean_error:metricx=25"]
    assert called("gate", folders[0], *passes).code == 0
    assert called("gate", folders[0], "--fail_under", "mean:comet_a=0.99").code == 4
    drop = ["--max_drop", "mean:comet_a=0.2", "--against", folders[1]]
    assert called("gate", folders[0], *drop).code == 0


def test_a_threshold_can_be_negative_if_it_names_the_metric(tmp_path: Path) -> None:
    path = write_records(tmp_path / "wide.jsonl", WIDE)
    flags = ["--input", path, "-m", "mean:comet_b"]
    assert called(*flags, "--fail_under", "mean:comet_b=-1").code == 0
    assert called(*flags, "--fail_under", "mean:comet_b=-0.1").code == 4
    run = called(*flags, "--fail_over", "mean:comet_b=0.5")
    run.assert_failed(2, "a higher mean:comet_b is better")
    run = called(*flags, "mean_error:metricx", "--fail_under", "mean=0.5")
    run.assert_failed(2, "it does not say for which metric", "mean:comet_b, mean_error:metricx")


def test_bad_numbers_are_named_and_can_be_rejected(tmp_path: Path) -> None:
    path, rows = tmp_path / "bad.jsonl", [dict(row) for row in WIDE]
    flags = ["--input", path, "-m", "mean:comet_a"]
    for place, (value, fragment) in enumerate(
        (
            (None, "has no value in the column comet_a: "),
            ("n/a", "has n/a in the column comet_a, where the value must be a number"),
            (math.nan, "has no value in the column comet_a"),
            (1e9, "has 1000000000.0 in the column comet_a"),
            ([0.5], "comet_a is a list, and must be a text, a number"),
        )
    ):
        write_records(path, [row | {"comet_a": value} if row["id"] == 2 else row for row in WIDE])
        called(*flags).assert_failed(3, "line 3", fragment, "bad.jsonl")
        rows[place]["comet_a"] = value
    write_records(path, rows)
    reject = ["--on_bad_record", "reject", "--max_rejected", "5", "--output", tmp_path / "out"]
    document = called(*flags, *reject, "--format", "json").document
    mean = statistics.fmean(row["comet_a"] for row in WIDE[5:])
    assert scores(document, "mean:comet_a") == pytest.approx({"comet_a": mean}, rel=1e-15)
