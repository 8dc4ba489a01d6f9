"""beam-bleu merge and rescore: the results of runs over all parts, or by other definitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, called
from memory_filesystem import OBJECTS
from saved_parts import (
    CUTS,
    DOMAINS,
    NAMES,
    TEXTS,
    joined_in,
    lines_in,
    ranges,
    records_in,
    run_into,
)


def merged(*files: Any) -> bytes:
    run = called("merge", *files, "--format=json", "--quiet")
    assert run.code == 0, run.err
    return run.out


def in_parts(
    folder: Path, arguments: Callable[[Path, slice], list[Any]], *flags: str
) -> tuple[Run, list[Path]]:
    """A run over everything, and the saved totals of its parts."""
    whole = run_into(folder / "whole", *arguments(folder / "texts", slice(None)), *flags)
    files = []
    for number, rows in enumerate(ranges()):
        part = folder / f"part{number}"
        run_into(part / "out", *arguments(part, rows), *flags)
        files.append(part / "out" / "totals.json")
    return whole, files


@pytest.mark.parametrize(
    "flags",
    [
        (
            *("-s=floor", "-sv=0.3", "--weights=1,2,3", "--reference_length=average"),
            *("--compare_presets=all", "--slice_by=domain,length*domain"),
            *("--segment_scores", "--compare=all", "--baseline=birch"),
        ),
        ("--language_column=language", "--slice_by=length", "--no_uncertainty"),
    ],
    ids=["a definition, presets, slices", "languages"],
)
def test_parts_of_text_files(flags, tmp_path):
    whole, files = in_parts(tmp_path, lambda folder, rows: lines_in(folder, rows, *flags))
    assert merged(tmp_path / "whole" / "totals.json") == whole.out
    assert merged(*files) == merged(tmp_path / "part*" / "out") == whole.out
    # Nothing of an earlier run stays.
    out = tmp_path / "whole"
    (out / "scores.json").unlink()
    backwards = called("merge", *reversed(files), "--output", out, "--quiet")
    assert backwards.code == 0, backwards.err
    names = sorted(each.name for each in out.rglob("*") if each.is_file())
    assert names == ["_SUCCESS", "manifest.json", "scores.json", "totals.json"]
    assert (out / "scores.json").read_bytes() == whole.out


def test_a_folder_or_a_pattern_of_nights_here_and_on_an_object_store(tmp_path):
    whole = run_into(tmp_path / "whole", *lines_in(tmp_path, slice(None)))
    for number, rows in enumerate(ranges()):
        run_into(tmp_path / "nights" / f"part{number}", *lines_in(tmp_path / "texts", rows))
    OBJECTS.clear()
    for file in (tmp_path / "nights").glob("*/*"):
        OBJECTS[f"mem://nights/{file.relative_to(tmp_path / 'nights')}"] = file.read_bytes(), 1.0
    for folder in (tmp_path / "nights", "mem://nights"):
        assert merged(folder) == whole.out
        assert merged(f"{folder}/part*") == whole.out
        assert merged(f"{folder}/*/totals.json") == whole.out
        assert merged(f"{folder}/part0", f"{folder}/part1") == whole.out
        called("merge", f"{folder}/day*").assert_failed(3, "nothing matches", "day*")
    run = called("merge", "mem://nights", "--output", "mem://nights/part1")
    run.assert_failed(2, "would read mem://nights/part1/totals.json")
    file = tmp_path / "nights" / "part1" / "totals.json"
    called("merge", file, file).assert_failed(3, "were made from the same texts", "--partition")
    file.unlink()
    called("merge", tmp_path / "nights").assert_failed(3, "part1 has no totals.json")


def test_records_with_rejected_ones(tmp_path):
    flags = ["--reference_columns=ref", f"--candidate_columns={','.join(NAMES)}"]
    flags += ["--slice_by=domain", "--on_bad_record=reject", "--max_rejected=0.9"]
    everything: list[dict[str, Any]] = [
        {**{name: text[row] for name, text in TEXTS.items()}, "domain": DOMAINS[row]}
        for row in range(CUTS[-1])
    ]
    for row in (3, 30, 60):
        everything[row]["atlas"] = 7
    whole, files = in_parts(
        tmp_path, lambda folder, rows: records_in(folder, everything[rows]), *flags
    )
    assert "3 of 72 segments were rejected" in whole.document["warnings"][0]
    assert merged(*files) == whole.out


def test_joins(tmp_path):
    whole, files = in_parts(tmp_path, joined_in, "--coverage=each")
    warnings = str(whole.document["warnings"])
    assert "are missing" in warnings
    assert "cannot be scored" in warnings
    assert merged(*files) == whole.out


def test_documents(tmp_path):
    flags = ("--documents=domain",)
    whole, files = in_parts(tmp_path, lambda folder, rows: lines_in(folder, rows, *flags))
    alone = tmp_path / "whole" / "totals.json"
    assert merged(alone) == whole.out
    assert "documents with" not in called("merge", alone).err
    run = called("merge", *files)
    assert run.code == 0
    assert "same name in several partitions count as different documents" in run.err


def test_labelled_partitions_with_replicates(tmp_path):
    flags = ("--resample=bootstrap", "--resamples=50")
    files = []
    for number, rows in enumerate(ranges()):
        folder = tmp_path / f"part{number}"
        texts = lines_in(folder, rows)
        run = run_into(folder / "out", *texts, *flags, f"--partition=day {number}")
        files.append(folder / "out" / "totals.json")
        assert run.document["partition"] == f"day {number}"
        assert merged(files[-1]) == run.out
    whole = run_into(tmp_path / "whole", *lines_in(tmp_path, slice(None)))
    found = json.loads(merged(*files))
    resampled = found.pop("resampling")
    assert resampled["resamples"] == 50
    assert found.pop("partitions") == ["day 0", "day 1"]
    assert found == whole.document
    called("merge", *files, files[0]).assert_failed(3, "the partition day 0 is in", "--replace")
    assert json.loads(merged(files[0], *files, "--replace"))["segments"] == 72


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out: Path = tmp_path_factory.mktemp("out")
    run_into(out, *lines_in(out / "texts", slice(None), "--slice_by=domain", "--segment_scores"))
    return out


@pytest.mark.parametrize(
    "words",
    [
        "-s=add-k -sv=2 --max_ngram_order=3 --reference_length=shortest --weights=1,0,2",
        "--preset=huggingface",
    ],
)
def test_it_is_the_result_of_a_run(words, folder, tmp_path):
    totals, flags = folder / "totals.json", words.split()
    found = called("rescore", totals, *flags, "--output", tmp_path / "out", "--quiet")
    assert found.code == 0, found.err
    run = called(
        *lines_in(tmp_path, slice(None), "--slice_by=domain", *flags), "--format=json", "--quiet"
    )
    assert run.code == 0, run.err
    assert (tmp_path / "out" / "scores.json").read_bytes() == run.out
    again = called("rescore", tmp_path / "out" / "totals.json", "--format=json", "--quiet")
    assert again.out == run.out


def test_it_refuses_what_the_sums_do_not_have(folder):
    for words, cause in {
        "-tok=intl": "tokenize is intl, and the tokens were counted with",
        "-lc": "and the tokens were counted with lowercase",
        "--normalize=nfc": "normalize is nfc",
        "-l=zh": "tokenize is zh",
        "--preset=nltk": "tokenize is none, and the tokens",
        "--max_ngram_order=5": "sums of order 4 cannot be scored",
        "--weights=1,2 --max_ngram_order=4": "weights must be",
        "--baseline=dodo": "--baseline dodo",
        "--baseline=birch": "on slices, systems were compared only with",
    }.items():
        called("rescore", folder / "totals.json", *words.split()).assert_failed(2, cause)
