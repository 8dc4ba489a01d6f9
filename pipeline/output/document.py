"""The result document, scores.json. Its bytes do not depend on where the job ran."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.checked_units import CheckedUnits
from beam_bleu.pipeline.output.evidence_parts import (
    resampling_part,
    uncertainty_parts,
    warning_about_clusters,
    warning_about_resampling,
    warning_about_slices,
)
from beam_bleu.pipeline.output.json_text import json_text
from beam_bleu.pipeline.output.language_scores import (
    SliceScore,
    listed_languages,
    macro_averages,
    signatures_of_segments,
    warnings_by_language,
)
from beam_bleu.pipeline.output.score_entries import (
    listed_scores,
    warnings_about_slices,
    warnings_of,
)
from beam_bleu.pipeline.output.shared_signature import shared_signature
from beam_bleu.pipeline.output.tasks import (
    require_no_common_score,
    require_one_task_of_each_language,
    tasks_of,
)
from beam_bleu.pipeline.scoring.evidence import USUAL_EVIDENCE, Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.columns import BleuColumns
from beam_bleu.transforms.metrics.bleu.metric import Bleu
from beam_bleu.transforms.metrics.bleu.score import BleuScore, bleu_score
from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED, Tally
from beam_bleu.transforms.score.uncertainty import NO_STANDARD_ERROR
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import require_all_scored
from beam_bleu.transforms.totals.conditions import condition_warnings
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.rejected import Rejected, rejected_warnings
from beam_bleu.transforms.totals.slice_sums import SliceSums


def result_document(
    totals: Totals,
    scorings: Scorings,
    slicing: Slicing = NO_SLICES,
    evidence: Evidence = USUAL_EVIDENCE,
) -> dict[str, Any]:
    """The document of a finished job.

    Args:
      totals: everything that was added up.
      scorings: the scorings of the corpus and of its segments.
      slicing: the slices that are scored, too.
      evidence: what is found out about the scores.

    Raises:
      InputError: the baseline is not one of the systems.
      JobError: not every segment of every system was scored exactly once, by each definition and
        in the slices of each item.
    """
    systems, sums, segments = totals.systems, totals.sums, totals.segments
    scored, slices = totals.scored, totals.slices
    for text in scorings.counted_orders:
        require_all_scored(scored, sums[text], "" if text == scorings.text else text.label)
    units = CheckedUnits(_moments(totals, evidence) if evidence.uncertainty else None)
    own = sums[scorings.text]

    def score_all(
        of_corpus: Mapping[str, CorpusSums],
        text: TextName,
        scoring: Scoring,
        *,
        judge_input: bool,
    ) -> dict[str, BleuScore]:
        return {
            system: bleu_score(
                of_corpus[system],
                text,
                scoring,
                judge_input=judge_input,
                units=units.of(system, own[system]) if of_corpus is own else None,
            )
            for system in systems
        }

    number = _units(totals, evidence)
    keys = () if slices is None else slices.keys
    of_slices = [slicing.values(key) for key in keys]
    whole = _text_of_corpus(scorings, of_slices)
    tasks = tasks_of(scorings, of_slices)
    if tasks:
        require_no_common_score(tasks, scorings, evidence)
    if tasks and scorings.languages is not None:
        require_one_task_of_each_language(scorings, of_slices)
    scores: dict[str, BleuScore] = {}
    if whole is not None and not tasks:
        scores = score_all(own, whole, scorings.corpus, judge_input=True)
    sliced: list[SliceScore] = []
    if slices is not None:
        sliced.extend(
            _of_slices(systems, own, scorings, slicing, slices, units, has_whole=bool(scores))
        )
    of_languages = [each for each in sliced if list(each.of_slice) == [scorings.languages]]
    of_tasks = []
    if tasks and scorings.languages is None:
        of_tasks = [each for each in sliced if list(each.of_slice) == [scorings.unpooled]]
    document: dict[str, Any] = {
        **_signatures(whole, scorings.corpus, own),
        "segments": segments,
        "scores": listed_scores(scores, sliced, uncertain=evidence.uncertainty),
        "counters": {
            "segments": segments,
            "empty_candidates": sum(
                BleuColumns(each.columns).short_candidates[0] for each in own.values()
            ),
            "bytes": sum(each.candidate_bytes for each in own.values())
            # Systems can have different segments (--coverage each).
            + max(each.reference_bytes for each in own.values()),
        },
        "warnings": [
            *condition_warnings(totals.tally),
            *rejected_warnings(totals.tally, totals.rejected),
            *totals.warnings,
            *warnings_of(scores),
            *warnings_about_slices(scores, own, sliced),
            *warnings_by_language(systems, of_languages),
            *warnings_by_language(systems, of_tasks),
            *warning_about_slices(sliced, evidence),
            *warning_about_clusters(scores, evidence),
            *warning_about_resampling(systems, number, evidence),
        ],
    }
    if totals.is_tallied:
        document["counters"] |= _rejected_counters(totals.tally, totals.rejected)
    if scorings.languages is not None:
        document["languages"] = listed_languages(of_languages, scorings.corpus)
        document["macro_average"] = macro_averages(
            systems, of_languages, uncertain=evidence.uncertainty
        )
    if of_tasks:
        document["tasks"] = [{"slice": {str(scorings.unpooled): task}} for task in tasks]
        document["macro_average"] = macro_averages(
            systems, of_tasks, uncertain=evidence.uncertainty, counted="tasks"
        )
    if scorings.presets:
        document["presets"] = []
        for name, config in scorings.presets.items():
            text = config.text.name
            others = score_all(sums[text], text, config.scoring, judge_input=False)
            uncertain = evidence.uncertainty and text == scorings.text
            document["presets"].append(
                {
                    "preset": name,
                    **shared_signature(text, config.scoring, sums[text].values()),
                    "scores": listed_scores(others, uncertain=uncertain),
                    "warnings": _without_repeated(warnings_of(others), document["warnings"]),
                }
            )
    if scorings.segments is not None:
        document["segment_scores"] = {
            **_signatures(whole, scorings.segments, own),
            "rows": sum(scored.values()),
        }
        if scorings.languages is not None:
            signatures = signatures_of_segments(of_languages, scorings.segments)
            document["segment_scores"]["languages"] = signatures
    if totals.coverage is not None:
        document["coverage"] = dataclasses.asdict(totals.coverage)
    if units.moments is not None:
        document |= uncertainty_parts(
            systems, units.moments, scores, Bleu(scorings.corpus), slicing, evidence
        )
    document |= resampling_part(
        systems, totals.replicates, own, Bleu(scorings.corpus), number, evidence
    )
    if evidence.partition is not None:
        document["partition"] = evidence.partition
    return document


def _without_repeated(warnings: Sequence[str], given: Sequence[str]) -> list[str]:
    """The warnings of a preset without those about standard errors that the document has, too.

    A preset with the same tokens has the same units. So it lacks standard errors for the same
    reason.
    """
    return [each for each in warnings if NO_STANDARD_ERROR not in each or each not in given]


def _moments(totals: Totals, evidence: Evidence) -> Moments | None:
    """The moments of a job; None if they are not needed.

    Raises:
      JobError: they are missing.
    """
    if not evidence.needs_moments:
        return None
    if totals.moments is None:
        raise JobError(
            "the last step got no sums of units",
            "the runner lost data: do not use it for this job",
        )
    return totals.moments


def _units(totals: Totals, evidence: Evidence) -> int:
    """The number of units of the whole corpus, of those that all systems have."""
    moments = _moments(totals, evidence)
    return totals.segments if moments is None else moments.units


def _signatures(
    text: TextName | None, scoring: Scoring, sums: Mapping[str, CorpusSums]
) -> dict[str, str | None]:
    if text is None:
        return {"signature": None, "sacrebleu_signature": None}
    return shared_signature(text, scoring, sums.values())


def _text_of_corpus(
    scorings: Scorings, slices: Iterable[Mapping[str, str | None]]
) -> TextName | None:
    """How the texts of all slices became tokens; None if that differs by language."""
    if scorings.languages is None:
        return scorings.text
    texts = {scorings.text_of(each) for each in slices}
    return texts.pop() if len(texts) == 1 else None


def _of_slices(
    systems: Sequence[str],
    whole: Mapping[str, CorpusSums],
    scorings: Scorings,
    slicing: Slicing,
    slices: SliceSums,
    units: CheckedUnits,
    *,
    has_whole: bool,
) -> Iterator[SliceScore]:
    """The scores of the slices: slice by slice, and system by system in each one.

    `has_whole` says whether the whole corpus is scored. Then its warnings about the input are
    enough. Otherwise those about each language take their place.
    """
    for system in systems:
        for item in range(len(slicing.items)):
            if slices.of_item(system, item) != whole[system]:
                raise JobError(
                    f"the sums of the slices of {slicing.name_of_item(item)} are not those of the "
                    f"whole corpus, for system {system}",
                    "the runner lost or repeated data: do not use it for this job",
                )
    by_system = {system: slices.of_system(system) for system in systems}
    for key in slicing.in_order(slices.keys):
        values = slicing.values(key)
        text = scorings.text_of(values)
        parts = scorings.languages or scorings.unpooled
        judge_input = not has_whole and list(values) == [parts]
        for system, sums in by_system.items():
            if key in sums:
                score = bleu_score(
                    sums[key],
                    text,
                    scorings.corpus,
                    judge_input=judge_input,
                    units=units.of(system, sums[key], key),
                )
                yield SliceScore(system, values, text, sums[key], score)


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document: JSON in UTF-8, with a final newline."""
    return json_text(document, indent=1).encode() + b"\n"


def _rejected_counters(tally: Tally, rejected: Rejected) -> dict[str, Any]:
    """The counters of the result document about segments that are read, but not scored."""
    return {
        "read": tally.read,
        **dict.fromkeys((FILTERED, REJECTED), 0),
        **{reason.replace("-", "_"): number for reason, number in tally.left_out.items()},
        "rejected_records": [
            {"reason": reason, "records": number} for reason, number in rejected.reasons.items()
        ],
    }
