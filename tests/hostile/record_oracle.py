"""The right numbers of records: candidates and references, as Python's libraries read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checks import check
from sacrebleu.metrics import BLEU

Pair = tuple[str, str]
"""A candidate and its reference."""


def check_score(score: dict[str, Any], pairs: Sequence[Pair], what: str) -> None:
    """Checks an element of `scores` in the result document."""
    candidates, references = map(list, zip(*pairs, strict=True))
    right = BLEU().corpus_score(candidates, [references])
    for name, value in {
        "segments": len(pairs),
        "matches": right.counts,
        "totals": right.totals,
        "sys_len": right.sys_len,
        "ref_len": right.ref_len,
        "score": right.score,
    }.items():
        check(score[name] == value, f"{what}: {name}: {score[name]}, expected {value}")


def check_slices(
    document: dict[str, Any], label: str, by_value: dict[str | None, list[Pair]]
) -> None:
    """Checks the whole corpus, and that it has these slices and no others."""
    found = {
        score["slice"] and score["slice"][label]: score
        for score in document["scores"]
        if score["slice"] is None or score["slice"][label] is not None
    }
    whole = [pair for pairs in by_value.values() for pair in pairs]
    check({*found} == {None, *by_value}, f"slices: {[*found]}, expected {[*by_value]}")
    check_score(found[None], whole, "the corpus")
    for value, pairs in by_value.items():
        check_score(found[value], pairs, f"the slice {value}")
