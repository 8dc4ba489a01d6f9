"""The entries of scores in the result document, and the warnings about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.language_scores import SliceScore
from beam_bleu.transforms.score.metric_kind import Score
from beam_bleu.transforms.score.suspicious_input import suspicious_slices
from beam_bleu.transforms.totals.corpus_sums import CorpusSums


def listed_scores(
    metric: str,
    scores: Mapping[str, Score],
    fields: Sequence[str],
    slices: Sequence[SliceScore] = (),
    *,
    uncertain: bool,
) -> list[dict[str, Any]]:
    """The entries of scores.

    Args:
      metric: the name of the metric.
      scores: the scores of the whole corpus, by system.
      fields: the names of the attributes that only scores of this metric have.
      slices: the scores of the slices.
      uncertain: whether standard errors and intervals were asked for.
    """
    given = [
        *((system, None, score) for system, score in scores.items()),
        *((each.system, each.of_slice, each.score) for each in slices),
    ]
    return [{"metric": metric, **_entry(*each, fields, uncertain)} for each in given]


def _entry(
    system: str,
    of_slice: Mapping[str, str | None] | None,
    score: Score,
    fields: Sequence[str],
    uncertain: bool,
) -> dict[str, Any]:
    entry = {
        "system": system,
        "slice": of_slice,
        "segments": score.segments,
        "score": score.score,
        **{name: getattr(score, name) for name in fields},
    }
    if uncertain:
        entry |= {"standard_error": score.standard_error, "interval": score.interval}
    return entry


def warnings_of(scores: Mapping[str, Score]) -> list[str]:
    """The warnings about scores. Each one begins with the system's name."""
    return [f"{system}: {each}" for system, score in scores.items() for each in score.warnings]


def warnings_about_slices(
    scores: Mapping[str, Score], sums: Mapping[str, CorpusSums], slices: Sequence[SliceScore]
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
