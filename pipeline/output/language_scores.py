"""The parts of the result document about languages and tasks: their scores and signatures."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.score.uncertainty import interval
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.group_totals import CorpusSums


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
    return [list(group) for _, group in itertools.groupby(scores, key=lambda score: score.of_slice)]


def _signatures(
    of_language: Sequence[SliceScore], kind: MetricKind, metric: Metric
) -> dict[str, str | None]:
    return shared_signature(
        of_language[0].text, kind, metric, [score.sums for score in of_language]
    )


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
    variances of their scores add up, as if languages were independent. The mean has a standard
    error if all scores have one.

    Args:
      systems: the systems' names, in order.
      scores: the scores of the languages' slices, language by language.
      uncertain: whether standard errors and intervals were asked for.
      counted: what the slices are: languages or tasks.
    """
    languages = len(_by_language(scores))
    averages = []
    for system in systems:
        own = [slice_score.score for slice_score in scores if slice_score.system == system]
        complete = len(own) == languages
        mean = math.fsum(score.score for score in own) / languages if complete else None
        average: dict[str, Any] = {"system": system, counted: len(own), "score": mean}
        if uncertain:
            errors = [score.standard_error for score in own if score.standard_error is not None]
            error = None
            if mean is not None and len(errors) == languages:
                error = math.sqrt(math.fsum(value * value for value in errors)) / languages
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
        own = {_language(score) for score in scores if score.system == system}
        missing = [language for language in languages if language not in own]
        if missing:
            warnings.append(
                f"{system}: there is no macro average, because it has no segment in "
                f"{joined(missing)}"
            )
    return warnings + [
        f"{slice_score.system}, {_language(slice_score)}: {warning}"
        for slice_score in scores
        for warning in slice_score.score.warnings
    ]


def _language(score: SliceScore) -> str:
    """The language of a language's slice."""
    (language,) = score.of_slice.values()
    assert language is not None  # counting has refused segments without a language
    return language


def shared_signature(
    text: TextName, kind: MetricKind, metric: Metric, sums: Iterable[CorpusSums]
) -> dict[str, str | None]:
    """The signatures, as documents have them.

    Systems can have different segments, and so different numbers of references. The signature has
    the numbers of all systems together, so it does not depend on the order of the systems.

    Args:
      text: how texts become tokens.
      kind: the metric.
      metric: its definition.
      sums: the sums of each system.
    """
    used = [of_system for of_system in sums if of_system.segments]
    smallest = min((of_system.min_reference_count for of_system in used), default=0)
    largest = max((of_system.max_reference_count for of_system in used), default=0)
    signatures = kind.signatures(text, metric, smallest, largest)
    return {"signature": signatures.own, "sacrebleu_signature": signatures.sacrebleu}


def tasks_of(scorings: Scorings, slices: Iterable[Mapping[str, str | None]]) -> list[str]:
    """The tasks, if there are several that have no common score; otherwise none.

    Args:
      scorings: the scorings, which say whether tasks have a common score.
      slices: the labels of all slices and their values, in the order of the result.
    """
    label = scorings.unpooled
    if label is None:
        return []
    tasks = dict.fromkeys(str(of_slice[label]) for of_slice in slices if label in of_slice)
    return list(tasks) if len(tasks) > 1 else []


def require_no_common_score(tasks: Sequence[str], scorings: Scorings, evidence: Evidence) -> None:
    """Checks that nothing is asked for that only a common score of all tasks could give.

    Raises:
      InputError: something is.
    """
    asked = {
        "--compare_presets": bool(scorings.presets),
        "--resample": evidence.resampling is not None,
    }
    for flag, is_asked in asked.items():
        if is_asked:
            raise InputError(
                f"{flag} needs a score of the whole corpus, but the input has {len(tasks)} "
                f"tasks, which have no common score: {joined(tasks)}",
                "name the file of one task; or add --pool_tasks to score all tasks together",
            )


def require_one_task_of_each_language(
    scorings: Scorings, slices: Iterable[Mapping[str, str | None]]
) -> None:
    """Checks that no language has the segments of several tasks, which have no common score.

    Args:
      scorings: the scorings, with a label of languages and a label of tasks.
      slices: the labels of all slices and their values.

    Raises:
      InputError: a language has segments of several tasks.
    """
    tasks_of_language: dict[str | None, str] = {}
    for labels in slices:
        if {*labels} == {scorings.languages, scorings.unpooled}:
            language, task = labels[str(scorings.languages)], str(labels[str(scorings.unpooled)])
            other = tasks_of_language.setdefault(language, task)
            if other != task:
                raise InputError(
                    f"the language {language} has segments of the tasks {other} and {task}, which "
                    "have no common score",
                    "leave out --language_column, or name the files of one of these tasks; or add "
                    "--pool_tasks to score all tasks of a language together",
                )
