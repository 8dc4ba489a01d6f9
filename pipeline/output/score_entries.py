"""The entries of scores in the result document, and the warnings about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.language_scores import SliceScore
from beam_bleu.transforms.score.bleu import BleuScore


def listed_scores(
    scores: Mapping[str, BleuScore], slices: Sequence[SliceScore] = (), *, uncertain: bool
) -> list[dict[str, Any]]:
    """The entries of scores.

    Args:
      scores: the scores of the whole corpus, by system.
      slices: the scores of the slices.
      uncertain: whether standard errors and intervals were asked for.
    """
    return [
        *(_entry(system, None, score, uncertain) for system, score in scores.items()),
        *(_entry(each.system, each.of_slice, each.score, uncertain) for each in slices),
    ]


def _entry(
    system: str, of_slice: Mapping[str, str | None] | None, score: BleuScore, uncertain: bool
) -> dict[str, Any]:
    entry = {
        "system": system,
        "slice": of_slice,
        "segments": score.segments,
        "score": score.score,
        "precisions": score.precisions,
        "matches": score.matches,
        "totals": score.totals,
        "bp": score.bp,
        "ratio": score.ratio,
        "sys_len": score.sys_len,
        "ref_len": score.ref_len,
    }
    if uncertain:
        entry |= {"standard_error": score.standard_error, "interval": score.interval}
    return entry


def warnings_of(scores: Mapping[str, BleuScore]) -> list[str]:
    """The warnings about scores. Each one begins with the system's name."""
    return [f"{system}: {each}" for system, score in scores.items() for each in score.warnings]
