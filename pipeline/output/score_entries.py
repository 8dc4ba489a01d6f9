"""The entries of scores in the result document, and the warnings about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.language_scores import SliceScore
from beam_bleu.transforms.metrics.bleu.score import BleuScore
from beam_bleu.transforms.metrics.bleu.suspicious_input import suspicious_slices
from beam_bleu.transforms.totals.corpus_sums import CorpusSums


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


def warnings_about_slices(
    scores: Mapping[str, BleuScore], sums: Mapping[str, CorpusSums], slices: Sequence[SliceScore]
) -> list[str]:
    """The warnings about slices whose input is suspicious. Each begins with the system's name.

    Args:
      scores: the scores of the whole corpus, by system; none if languages have different tokens,
        and then each language has warnings of its own.
      sums: those of the whole corpus, by system.
      slices: the scores of the slices.
    """
    by_system: dict[str, dict[str, SliceScore]] = {system: {} for system in scores}
    for each in slices:
        if scores:
            by_system[each.system][_name(each.of_slice)] = each
    return [
        f"{system}: {warning}"
        for system, own in by_system.items()
        for text in {each.text for each in own.values()}
        for warning in suspicious_slices(
            sums[system], {name: each.sums for name, each in own.items()}, text
        )
    ]


def _name(of_slice: Mapping[str, str | None]) -> str:
    """A slice, as a reader may write it."""
    values = (f"{name}={'null' if value is None else value}" for name, value in of_slice.items())
    return f"the slice {', '.join(values)}"
