"""The programs that measure themselves count what they should: else their times mean nothing."""

from __future__ import annotations

import argparse
import hashlib
import pathlib

import numpy as np
import pytest
from command_line import REFERENCES, SYSTEMS
from sacrebleu.metrics import CHRF

from benchmarks.speed.contestants import (
    jiwer,
    kernel,
    rapidfuzz,
    rouge_score,
    sacrebleu,
    squad,
)

FLAGS = argparse.Namespace(
    metric="bleu", tokenize="13a", lowercase=False, word_order=0, passes=2, results=False
)
OF_CHRF = [
    argparse.Namespace(**{**vars(FLAGS), "metric": "chrf", "word_order": order}) for order in (0, 2)
]
OF_TER = argparse.Namespace(**{**vars(FLAGS), "metric": "ter"})


def lines(path: pathlib.Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()[:30]


@pytest.mark.parametrize("flags", [FLAGS, *OF_CHRF, OF_TER], ids=str)
@pytest.mark.parametrize("references", [1, 2])
def test_the_kernel_and_sacrebleu_count_the_same(
    references: int, flags: argparse.Namespace
) -> None:
    texts = lines(SYSTEMS["atlas"]), [lines(path) for path in REFERENCES[:references]]
    ours, theirs = kernel(*texts, flags), sacrebleu(*texts, flags)
    assert ours["counts"] == theirs["counts"]
    assert ours["cpu"] > 0
    other = kernel(lines(SYSTEMS["birch"]), texts[1], flags)
    assert other["counts"] != ours["counts"]


@pytest.mark.parametrize("metric", ["exact_match", "token_f1"])
@pytest.mark.parametrize("references", [1, 2])
def test_the_kernel_and_squad_have_the_same_scores(references: int, metric: str) -> None:
    flags = argparse.Namespace(**{**vars(FLAGS), "metric": metric})
    first, *others = (lines(path) for path in REFERENCES[:references])
    candidates = [*lines(SYSTEMS["atlas"])[:20], *first[20:]]
    ours = kernel(candidates, [first, *others], flags)
    assert ours["counts"] == squad(candidates, [first, *others], flags)["counts"]
    assert ours["counts"] != kernel(first, [first, *others], flags)["counts"]


@pytest.mark.parametrize("metric", ["wer", "cer"])
def test_the_kernel_and_jiwer_count_the_same(metric: str) -> None:
    flags = argparse.Namespace(**{**vars(FLAGS), "metric": metric})
    texts = lines(SYSTEMS["atlas"]), [lines(REFERENCES[0])]
    ours, theirs = kernel(*texts, flags), jiwer(*texts, flags)
    assert ours["counts"] == theirs["counts"]
    assert theirs["cpu"] > 0
    other = kernel(lines(SYSTEMS["birch"]), texts[1], flags)
    assert other["counts"] != ours["counts"]


def test_the_kernel_and_rapidfuzz_have_the_same_edits() -> None:
    flags = argparse.Namespace(**{**vars(FLAGS), "metric": "cer", "results": True})
    texts = lines(SYSTEMS["atlas"]), [lines(REFERENCES[0])]
    ours, theirs = kernel(*texts, flags), rapidfuzz(*texts, flags)
    assert ours["counts"] == theirs["counts"]
    assert theirs["cpu"] > 0
    assert kernel(lines(SYSTEMS["birch"]), texts[1], flags)["counts"] != ours["counts"]


def test_the_scores_of_chrf_are_compared_bit_by_bit() -> None:
    flags = argparse.Namespace(**{**vars(OF_CHRF[0]), "results": True})
    candidates, of_segments = lines(SYSTEMS["atlas"]), lines(REFERENCES[0])
    scores = [
        CHRF().sentence_score(candidate, [reference]).score
        for candidate, reference in zip(candidates, of_segments, strict=True)
    ]
    expected = hashlib.sha256(np.array(scores).tobytes()).hexdigest()
    assert kernel(candidates, [of_segments], flags)["counts"] == expected


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("metric", ["rouge", "rougeLsum"])
def test_the_kernel_and_rouge_score_have_the_same_scores(metric: str, stemmer: bool) -> None:
    flags = argparse.Namespace(**{**vars(FLAGS), "metric": metric, "stemmer": stemmer})
    texts = lines(SYSTEMS["atlas"]), [lines(path) for path in REFERENCES[:2]]
    ours, theirs = kernel(*texts, flags), rouge_score(*texts, flags)
    assert ours["counts"] == theirs["counts"]
    assert theirs["cpu"] > 0
    assert kernel(lines(SYSTEMS["birch"]), texts[1], flags)["counts"] != ours["counts"]
