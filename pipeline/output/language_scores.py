"""The parts of the result document that only a corpus in several languages or tasks has."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.shared_signature import shared_signature
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.metric_kind import MetricKind, Score
from beam_bleu.transforms.score.uncertainty import NO_STANDARD_ERROR, interval
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums


@dataclasses.dataclass(frozen=True)
class SliceScore:
    """The score of a system's segments in a slice.

    Attributes:
      system: the system.
      of_slice: the labels of the slice and their values.
      text: how the texts became tokens.
      sums: the sums.
      score: the score.
    """

    system: str
    of_slice: Mapping[str, str | None]
    text: TextName
    sums: CorpusSums
    score: Score


def listed_languages(
    scores: Sequence[SliceScore], kind: MetricKind, corpus: Metric
) -> list[dict[str, Any]]:
    """The languages with their tokenizers and signatures.

    Args:
      scores: the scores of the languages' slices, language by language.
      kind: the metric.
      corpus: its definition for languages.
    """
    return [
        {
            "slice": of_language[0].of_slice,
            "tokenize": of_language[0].text.tokenize,
            **_signatures(of_language, kind, corpus),
        }
        for of_language in _by_language(scores)
    ]


def signatures_of_segments(
    scores: Sequence[SliceScore], kind: MetricKind, segments: Metric
) -> list[dict[str, Any]]:
    """The languages with the signatures of their segments' scores.

    Args:
      scores: the scores of the languages' slices, language by language.
      kind: the metric.
      segments: its definition for single segments.
    """
    return [
        {"slice": of_language[0].of_slice, **_signatures(of_language, kind, segments)}
        for of_language in _by_language(scores)
    ]


def _by_language(scores: Sequence[SliceScore]) -> list[list[SliceScore]]:
    """The scores of each language, one for each system that has segments in it."""
    return [list(group) for _, group in itertools.groupby(scores, key=lambda each: each.of_slice)]


def _signatures(
    of_language: Sequence[SliceScore], kind: MetricKind, metric: Metric
) -> dict[str, str | None]:
    return shared_signature(of_language[0].text, kind, metric, [each.sums for each in of_language])


def macro_averages(
    systems: Sequence[str],
    scores: Sequence[SliceScore],
    *,
    uncertain: bool,
    counted: str = "languages",
) -> list[dict[str, Any]]:
    """The mean of each system's scores.

    A system that does not have segments in all languages has no mean, because it could not be
    compared with those of other systems. Different languages have different segments, so the
    variances of their scores add up. The mean has a standard error if all scores have one.

    Args:
      systems: the systems' names, in order.
      scores: the scores of the languages' slices, language by language.
      uncertain: whether standard errors and intervals were asked for.
      counted: what the slices are: languages or tasks.
    """
    languages = len(_by_language(scores))
    averages = []
    for system in systems:
        own = [each.score for each in scores if each.system == system]
        complete = len(own) == languages
        mean = math.fsum(each.score for each in own) / languages if complete else None
        average: dict[str, Any] = {"system": system, counted: len(own), "score": mean}
        if uncertain:
            errors = [each.standard_error for each in own if each.standard_error is not None]
            error = None
            if mean is not None and len(errors) == languages:
                error = math.sqrt(math.fsum(each * each for each in errors)) / languages
            average["standard_error"] = error
            average["interval"] = None if mean is None or error is None else interval(mean, error)
        averages.append(average)
    return averages


def warnings_by_language(systems: Sequence[str], scores: Sequence[SliceScore]) -> list[str]:
    """The warnings about systems that lack a language, and about each system and language.

    Tasks that have no common score are like languages here.

    Args:
      systems: the systems' names, in order.
      scores: the scores of the languages' slices, language by language.
    """
    languages = list(dict.fromkeys(map(_language, scores)))
    warnings = []
    for system in systems:
        own = {_language(each) for each in scores if each.system == system}
        missing = [language for language in languages if language not in own]
        if missing:
            warnings.append(
                f"{system}: there is no macro average, because it has no segment in "
                f"{joined(missing)}"
            )
    return warnings + [
        f"{each.system}, {_language(each)}: {warning}"
        for each in scores
        for warning in each.score.warnings
        if not warning.startswith(NO_STANDARD_ERROR)  # one sentence is about those of all slices
    ]


def _language(score: SliceScore) -> str:
    """The language of a language's slice."""
    (language,) = score.of_slice.values()
    assert language is not None  # counting has refused segments without a language
    return language
