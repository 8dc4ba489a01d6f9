"""Many systems in one run: each score and each difference is that of the two systems alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from case import Case
from checks import check, check_success
from definition import Definition
from numpy.typing import NDArray
from oracle import differences
from output_folder import OutputFolder
from pieces import WORDS
from sacrebleu.metrics import BLEU
from shards import plain_layout
from texts import Corpus, make_corpus
from valid import run_flags

_ORDER = 4
_STEP = 1e-4


def attack(case: Case) -> None:
    """Compares many systems with one of them, or each with each other one."""
    chooser = case.random
    corpus = _make_corpus(case)
    names = [f"s{number}" for number in range(len(corpus.systems))]
    baseline = chooser.choice(names)
    compare_all, saved = case.chance(0.4), case.chance(0.3)
    case.what = f"{len(names)} systems{', each pair' if compare_all else ''}"
    layout = plain_layout(case.folder / "in", corpus)
    output = OutputFolder(case)
    flags = ["--format=json", f"--baseline={baseline}", *run_flags(case, corpus)]
    flags += ["--compare=all"] if compare_all else []
    flags += ["--save_totals"] if saved else []
    document = check_success(case.run(*layout.arguments(*flags, "--output", output.path)))
    wrong = [
        *differences(document, corpus, _DEFINITION),
        *_wrong_comparisons(document, corpus, names, baseline, compare_all),
    ]
    check(wrong == [], "; ".join(wrong[:5]))
    if saved:
        # Another baseline than that of the run.
        other = chooser.choice(names)
        flags = [f"--baseline={other}", "--format=json"]
        rescored = check_success(case.run("rescore", output.path / "totals.json", *flags))
        wrong = list(_wrong_comparisons(rescored, corpus, names, other, compare_all))
        check(wrong == [], "; ".join(wrong[:5]))


_DEFINITION = Definition()


def _make_corpus(case: Case) -> Corpus:
    """Candidates that keep more or fewer of the words of the reference."""
    chooser = case.random
    references = make_corpus(chooser, chooser.choice([31, 60, 120]), plain=True).references[:1]
    systems = []
    for _ in range(chooser.choice([5, 17, 40, 80])):
        kept = chooser.uniform(0.4, 0.95)
        systems.append(
            [
                " ".join(
                    word if chooser.random() < kept else chooser.choice(WORDS)
                    for word in line.split(" ")
                    if chooser.random() < 0.97
                )
                for line in references[0]
            ]
        )
    return Corpus(systems, references)


def _wrong_comparisons(
    document: dict[str, Any],
    corpus: Corpus,
    names: Sequence[str],
    baseline: str,
    compare_all: bool,
) -> Iterator[str]:
    """The mistakes in the comparisons of a result; none if they are right."""
    ordered = [baseline, *(name for name in names if name != baseline)]
    expected = [
        (system, other)
        for place, other in enumerate(ordered if compare_all else ordered[:1])
        for system in ordered[place + 1 :]
    ]
    found = [(each["system"], each["baseline"]) for each in document["comparisons"]]
    if found != expected:
        yield f"{len(found)} comparisons, expected {len(expected)}, with {baseline} first"
        return
    # Where both lengths are equal, the brevity penalty has no gradient.
    errors = {
        each["system"]: None if each["sys_len"] == each["ref_len"] else each["standard_error"]
        for each in document["scores"]
    }
    influences = {
        name: _influences(candidate, corpus.references)
        for name, candidate in zip(names, corpus.systems, strict=True)
        if errors[name] is not None
    }
    for name, influence in influences.items():
        if not math.isclose(errors[name], _standard_error(influence), rel_tol=1e-4):
            yield f"{name}: standard error {errors[name]}, expected {_standard_error(influence)}"
    for each in document["comparisons"]:
        pair = each["system"], each["baseline"]
        if None in (errors[pair[0]], errors[pair[1]]):
            continue
        error = _standard_error(influences[pair[0]] - influences[pair[1]])
        if not math.isclose(each["standard_error"], error, rel_tol=1e-4, abs_tol=1e-9):
            yield f"{pair}: standard error {each['standard_error']}, expected {error}"


def _influences(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[Any]:
    """What each segment adds to the score: its integers times a numerical gradient, (segments,)."""
    bleu = BLEU()
    counts = np.array(bleu._extract_corpus_statistics(candidate, references), float)
    sums = counts.sum(axis=0)

    def score(sums: NDArray[Any]) -> float:
        matches, totals = sums[2 : 2 + _ORDER], sums[2 + _ORDER :]
        penalty = min(0.0, 1 - sums[1] / sums[0])
        return 100 * math.exp(penalty + float(np.log(matches / totals).mean()))

    steps = np.eye(len(sums)) * _STEP
    gradient = [(score(sums + step) - score(sums - step)) / (2 * _STEP) for step in steps]
    return np.asarray(counts @ np.array(gradient))


def _standard_error(influences: NDArray[Any]) -> float:
    number = len(influences)
    return float(math.sqrt(number * np.var(influences, ddof=1)))
