"""Runs the attack for several seconds, and proves that it would find faults."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable
from pathlib import Path

import attack
import case as case_module
import process
import pytest
from case import Case
from command_line import Argument, Run, called
from definition import Definition
from oracle import differences
from shards import plain_layout
from texts import make_corpus

SEED = 8
IN_PROCESS = [
    "valid",
    "wrong",
    "changed",
    "names",
    "reruns",
    "systems",
    "line ends",
    "conditions",
    "mixtures",
]


def first_case(kind: str, seed: int = SEED) -> int:
    return next(number for number in range(1000) if attack.kind_of(seed, number) == kind)


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [(SEED, 2), pytest.param(SEED + 1, 60, marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize("kind", IN_PROCESS)
def test_no_case_fails(kind: str, seed: int, seconds: float, tmp_path: Path) -> None:
    reports: list[str] = []
    tallies = attack.run(seed, seconds, [kind], tmp_path, reports.append)
    assert not reports, "\n".join(reports)
    assert tallies[kind].cases >= 1


@pytest.mark.parametrize(
    "fault",
    [
        # Each starts several processes. The fast tests of single files have the same faults.
        pytest.param(fault, marks=[pytest.mark.nightly] * (fault is not process.FAULTS[0]))
        for fault in sorted(set(process.FAULTS), key=lambda fault: fault.__name__)
    ],
)
def test_no_fault_of_a_process_fails(fault: Callable[[Case], None], tmp_path: Path) -> None:
    fault(Case(SEED, 0, tmp_path))


def with_another_score(run: Run) -> Run:
    if run.code:
        return run
    document = json.loads(run.out)
    document["scores"][0]["score"] += 1  # of whatever metric the case has
    return dataclasses.replace(run, out=json.dumps(document).encode())


def as_if_nothing_were_wrong(run: Run) -> Run:
    return Run(0, b'{"plausible": true}', "")


def with_more_to_say(run: Run) -> Run:
    return dataclasses.replace(run, err=run.err + "Traceback (most recent call last):\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "tampered", "found"),
    [
        ("valid", with_another_score, ": score: "),
        ("valid", with_more_to_say, "on stderr: "),
        ("wrong", as_if_nothing_were_wrong, "exit code 0, expected "),
        ("wrong", with_more_to_say, "a traceback"),
        ("changed", as_if_nothing_were_wrong, "scores.json is not what was printed"),
    ],
)
def test_a_command_that_is_wrong_is_found(
    kind: str,
    tampered: Callable[[Run], Run],
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(case_module, "called", lambda *given: tampered(called(*given)))
    number = first_case(kind)
    report = attack.run_case(SEED, number, tmp_path / "case")
    assert report is not None
    assert found in report
    assert f"--seed {SEED} --only {number}\n" in report
    assert f"files:  {tmp_path}/case" in report
    assert list((tmp_path / "case" / "in").iterdir()), "the files of the case were not kept"


@pytest.mark.parametrize(
    ("metric", "field"), [("bleu", "matches"), ("chrf", "ref_ngrams"), ("ter", "edits")]
)
def test_the_oracle_finds_a_wrong_number_of_each_metric(
    metric: str, field: str, tmp_path: Path
) -> None:
    chooser = random.Random(1)
    corpus = make_corpus(chooser, 20, plain=True)
    definition = Definition(
        metrics=("ter", "chrf", "bleu"), chrf_word_order=2, chrf_beta=1, ter_no_punct=True
    )
    arguments = plain_layout(tmp_path, corpus).arguments("--format=json", *definition.flags)
    document = called(*arguments).document
    assert list(differences(document, corpus, definition)) == []
    score = next(each for each in document["scores"] if each["metric"] == metric)
    if isinstance(score[field], list):
        score[field][0] += 1
    else:
        score[field] += 1
    (found,) = differences(document, corpus, definition)
    assert f"{field}: " in found


@pytest.mark.parametrize("kind", IN_PROCESS)
def test_a_case_depends_only_on_its_seed_and_number(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def watched(*given: Argument) -> Run:
        folder = tmp_path / "case"
        files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        seen.append((given, files))
        raise case_module.DifferenceError("seen")

    monkeypatch.setattr(case_module, "called", watched)
    for seed in (SEED, SEED, SEED + 1):
        attack.run_case(seed, first_case(kind, seed), tmp_path / "case")
    assert seen[0] == seen[1] != seen[2]


def test_a_passed_case_leaves_no_files(tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    keep.mkdir()
    tallies = attack.run(SEED, 0.01, ["wrong"], keep)
    assert not keep.exists()
    assert "all " in attack.table(tallies)
