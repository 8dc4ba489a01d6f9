"""The programs that are timed count what they should, and the simulation sees what it is for."""

from __future__ import annotations

import hashlib
import importlib.util
import pathlib
from typing import Any

import numpy as np
from command_line import REFERENCES, SYSTEMS
from sacrebleu.metrics import CHRF

from benchmarks.significance.population import in_documents, segments_alone
from benchmarks.significance.trials import LEVELS, judged
from benchmarks.speed.contestants import Texts, add_flags, timed
from benchmarks.speed.kernel import ROWS


def lines(path: pathlib.Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()[:30]


def made_texts(references: int = 1) -> Texts:
    """Some candidates are as the first reference: else no answer would match exactly."""
    first, *others = (lines(path) for path in REFERENCES[:references])
    return [*lines(SYSTEMS["atlas"])[:20], *first[20:]], [first, *others]


def found(name: str, texts: Texts, flags: str) -> Any:
    result = timed(name, texts, add_flags().parse_args([*flags.split(), "--passes=2"]))
    assert result["cpu"] > 0
    return result["numbers"]


def test_the_kernel_and_the_other_program_have_the_same_numbers() -> None:
    for row in (row for rows in ROWS.values() for row in rows):
        other, _ = row.other
        if other in ("fastchrf", "universal_edit_distance") and not importlib.util.find_spec(other):
            continue
        texts = made_texts(2 if other in ("sacrebleu", "squad", "rouge_score") else 1)
        ours = found("kernel", texts, row.flags)
        assert ours == found(other, texts, row.flags), row.what
        assert ours != found("kernel", (texts[1][0], texts[1]), row.flags), row.what


def test_the_scores_of_chrf_are_compared_bit_by_bit() -> None:
    candidates, (references,) = texts = made_texts()
    scores = [
        CHRF().sentence_score(candidate, [reference]).score
        for candidate, reference in zip(candidates, references, strict=True)
    ]
    expected = hashlib.sha256(np.array(scores).tobytes()).hexdigest()
    assert found("kernel", texts, "--metric chrf --numbers scores") == expected


def test_sacrebleu_finds_more_differences_where_there_are_none() -> None:
    alone = segments_alone(2000)
    found = judged(alone, 100, trials=100, resamples=99)
    for method in ("standard error", "bootstrap", "randomization"):
        # At 10 %, about 15 of 150 test sets are false alarms, and 30 hardly ever are.
        assert 0.02 < (found[method].alarms(LEVELS[2]) or 0) < 0.2, method
    alarms = found["sacreBLEU's bootstrap"].alarms(LEVELS[2])
    assert (alarms or 0) > 1.4 * (found["bootstrap"].alarms(LEVELS[2]) or 1)
    assert all((found[method].coverage or 0) > 0.85 for method in ("standard error", "bootstrap"))
    # Segments of documents look more certain than they are.
    found = judged(in_documents(alone, np.random.default_rng(1)), 50, trials=60, resamples=19)
    of_documents, of_segments = (
        found[method].alarms(LEVELS[2])
        for method in ("standard error", "standard error, of segments")
    )
    assert of_documents is not None
    assert (of_segments or 0) > of_documents + 0.05
    assert of_documents < 0.2
