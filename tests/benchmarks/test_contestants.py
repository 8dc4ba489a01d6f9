"""The programs that time themselves count what they should: else their times mean nothing."""

from __future__ import annotations

import hashlib
import importlib.util
import pathlib
from typing import Any

import numpy as np
from command_line import REFERENCES, SYSTEMS
from sacrebleu.metrics import CHRF

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
