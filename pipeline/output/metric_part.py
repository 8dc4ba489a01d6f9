"""The part of the result document about one metric, with the entries of its scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.evidence_parts import (
    resampling_part,
    uncertainty_parts,
    warning_about_clusters,
    warning_about_slices,
)
from beam_bleu.pipeline.output.language_scores import (
    SliceScore,
    listed_languages,
    macro_averages,
    require_no_common_score,
    require_one_task_of_each_language,
    shared_signature,
    signatures_of_segments,
    tasks_of,
    warnings_by_language,
)
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.corpus_score import corpus_score
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.score.suspicious_input import suspicious_slices
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import require_all_scored
from beam_bleu.transforms.totals.group_totals import CorpusSums, GroupTotals


def metric_part(
    totals: Totals,
    scorings: Scorings,
    slicing: Slicing,
    evidence: Evidence,
    *,
    judge_input: bool,
) -> dict[str, Any]:
    """What a result document says about one metric. `metric_views` explains the form.

    Args:
      totals: everything that was added up.
      scorings: the scorings of the corpus and of its segments, by this metric.
      slicing: the slices that are scored, too.
      evidence: what is found out about the scores.
      judge_input: whether to warn about suspicious input; False if another metric does.

    Raises:
      InputError: the baseline is not one of the systems.
      JobError: not every segment of every system was scored exactly once, by each definition and
        in the slices of each item.
    """
    of_metric, kind = totals.metrics[scorings.name], scorings.kind
    systems, scored = totals.systems, totals.scored
    for text in scorings.counters:
        require_all_scored(
            scored, of_metric[text].corpus.segments, "" if text == scorings.text else text.label
        )
    slices = of_metric[scorings.text].slices
    sums = {
        text: {system: totals_of_text.corpus.sums(system) for system in systems}
        for text, totals_of_text in of_metric.items()
    }
    own = sums[scorings.text]

    def score_all(
        of_corpus: Mapping[str, CorpusSums],
        text: TextName,
        metric: Metric,
        *,
        judge_input: bool,
        without_errors: Collection[str] = (),
    ) -> dict[str, Score]:
        return {
            system: corpus_score(
                kind,
                of_corpus[system],
                text,
                metric,
                judge_input=judge_input,
                explain_error=system not in without_errors,
            )
            for system in systems
        }

    keys = [] if slices is None else [key for key in slices.keys if key is not None]
    of_slices = [slicing.values(key) for key in keys]
    whole = _text_of_corpus(scorings, of_slices)
    tasks = tasks_of(scorings, of_slices)
    if tasks:
        require_no_common_score(tasks, scorings, evidence)
    if tasks and scorings.languages is not None:
        require_one_task_of_each_language(scorings, of_slices)
    scores: dict[str, Score] = {}
    if whole is not None and not tasks:
        scores = score_all(own, whole, scorings.corpus, judge_input=judge_input)
    sliced: list[SliceScore] = []
    if slices is not None:
        sliced.extend(
            _of_slices(
                *(systems, scorings, slicing, slices),
                judge_input=judge_input and not scores,
            )
        )
    of_languages = [score for score in sliced if list(score.of_slice) == [scorings.languages]]
    of_tasks = []
    if tasks and scorings.languages is None:
        of_tasks = [score for score in sliced if list(score.of_slice) == [scorings.unpooled]]
    uncertain, fields = evidence.uncertainty, kind.fields
    part: dict[str, Any] = {
        "name": scorings.shown,
        **_signatures(whole, kind, scorings.corpus, own),
        "scores": listed_scores(scorings.name, scores, fields, sliced, uncertain=uncertain),
        "warnings": [
            *warnings_of(scores),
            *(warnings_about_slices(scores, own, sliced) if judge_input else ()),
            *warnings_by_language(systems, of_languages),
            *warnings_by_language(systems, of_tasks),
            *warning_about_slices(sliced, evidence, kind),
            *warning_about_clusters(scores, evidence),
        ],
    }
    if scorings.languages is not None:
        part["languages"] = listed_languages(of_languages, kind, scorings.corpus)
        part["macro_average"] = macro_averages(systems, of_languages, uncertain=uncertain)
    if of_tasks:
        part["tasks"] = [{"slice": {str(scorings.unpooled): task}} for task in tasks]
        part["macro_average"] = macro_averages(
            systems, of_tasks, uncertain=uncertain, counted="tasks"
        )
    if scorings.presets:
        part["presets"] = []
        for name, preset in scorings.presets.items():
            text = preset.text
            others = score_all(
                sums[text],
                text,
                preset.metric,
                judge_input=False,
                # Their reasons are there already: a preset with the same tokens has the same units.
                without_errors={
                    system for system, score in scores.items() if score.standard_error is None
                },
            )
            has_units = uncertain and text == scorings.text
            part["presets"].append(
                {
                    "preset": name,
                    **shared_signature(text, kind, preset.metric, sums[text].values()),
                    "scores": listed_scores(scorings.name, others, fields, uncertain=has_units),
                    "warnings": warnings_of(others),
                }
            )
    if scorings.segments is not None:
        part["segment_scores"] = {
            **_signatures(whole, kind, scorings.segments, own),
            "rows": sum(scored.values()),
        }
        if scorings.languages is not None:
            signatures = signatures_of_segments(of_languages, kind, scorings.segments)
            part["segment_scores"]["languages"] = signatures
    if evidence.uncertainty:
        label = scorings.languages or (scorings.unpooled if of_tasks else None)
        count = len(part["languages"]) if scorings.languages is not None else len(tasks)
        part |= uncertainty_parts(
            *(systems, of_metric[scorings.text], scores, scorings.corpus, slicing, evidence),
            lower_is_better=row_of(scorings.name).lower_is_better,
            averaged=None if label is None else (label, count),
        )
    return part | resampling_part(systems, of_metric[scorings.text], scorings.corpus, evidence)


def _signatures(
    text: TextName | None, kind: MetricKind, metric: Metric, sums: Mapping[str, CorpusSums]
) -> dict[str, str | None]:
    if text is None:
        return {"signature": None, "sacrebleu_signature": None}
    return shared_signature(text, kind, metric, sums.values())


def _text_of_corpus(
    scorings: Scorings, slices: Iterable[Mapping[str, str | None]]
) -> TextName | None:
    """How the texts of all slices became tokens; None if that differs by language."""
    if scorings.languages is None:
        return scorings.text
    texts = {scorings.text_of(of_slice) for of_slice in slices}
    return texts.pop() if len(texts) == 1 else None


def _of_slices(
    systems: Sequence[str],
    scorings: Scorings,
    slicing: Slicing,
    slices: GroupTotals,
    *,
    judge_input: bool,
) -> Iterator[SliceScore]:
    """The scores of the slices: slice by slice, and system by system in each one.

    `judge_input` says whether those of languages or tasks have warnings about the input, because
    there is no score of the whole corpus that could have them.
    """
    kind = scorings.kind
    for key in slices.keys:
        assert key is not None
        values = slicing.values(key)
        text = scorings.text_of(values)
        is_part = list(values) == [scorings.languages or scorings.unpooled]
        for system in systems:
            sums = slices.sums(system, key)
            if sums.segments:
                score = corpus_score(
                    kind,
                    sums,
                    text,
                    scorings.corpus,
                    judge_input=judge_input and is_part,
                    explain_error=False,  # one warning is about all slices
                )
                yield SliceScore(system, values, text, sums, score)


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
    rows = [
        *((system, None, score) for system, score in scores.items()),
        *((slice_score.system, slice_score.of_slice, slice_score.score) for slice_score in slices),
    ]
    return [{"metric": metric, **_entry(*row, fields, uncertain)} for row in rows]


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
    return [
        f"{system}: {warning}" for system, score in scores.items() for warning in score.warnings
    ]


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
    for slice_score in slices:
        if scores:
            by_system[slice_score.system][_name(slice_score.of_slice)] = slice_score
    return [
        f"{system}: {warning}"
        for system, own in by_system.items()
        for text in {slice_score.text for slice_score in own.values()}
        for warning in suspicious_slices(
            sums[system], {name: slice_score.sums for name, slice_score in own.items()}, text
        )
    ]


def _name(of_slice: Mapping[str, str | None]) -> str:
    """A slice, as a reader may write it."""
    values = (f"{name}={'null' if value is None else value}" for name, value in of_slice.items())
    return f"the slice {', '.join(values)}"
