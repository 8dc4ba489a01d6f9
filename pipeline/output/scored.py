"""The rows of a result, from what a job has added up.

All numbers of a result are made here: `MetricResult` scores the sums of one metric, and `scored`
puts the metrics together.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    MACRO_AVERAGE,
    ComparisonRow,
    FamilyName,
    Group,
    MetricNames,
    PresetNames,
    Result,
    ScoreRow,
)
from beam_bleu.pipeline.scoring.evidence import USUAL_EVIDENCE, Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings, ScoringsOfMetrics
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.errors import InputError, JobError, joined
from beam_bleu.transforms.known_metrics import counts_empty_candidates, row_of
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED
from beam_bleu.transforms.score.corpus_score import corpus_score
from beam_bleu.transforms.score.differences import (
    Difference,
    clusters,
    holm,
    mean_difference,
    paired_difference,
)
from beam_bleu.transforms.score.metric_kind import MetricKind, Signatures
from beam_bleu.transforms.score.resampled_scores import resampled_scores
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.score.suspicious_input import suspicious_slices
from beam_bleu.transforms.score.uncertainty import CONFIDENCE, FEWEST_UNITS, interval, too_few
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import require_all_scored
from beam_bleu.transforms.totals.group_totals import CorpusSums, GroupTotals, MetricTotals
from beam_bleu.transforms.totals.rejected import condition_warnings, rejected_warnings
from beam_bleu.transforms.totals.replicates.generator import GENERATOR

Slice = Mapping[str, str | None]
"""The labels of a slice and their values."""


@dataclasses.dataclass(frozen=True)
class SliceScore:
    """The score of a system's segments in a slice.

    Attributes:
      system: the system.
      group: the slice.
      text: how the texts became tokens.
      sums: the sums.
      score: the score.
    """

    system: str
    group: Slice
    text: TextName
    sums: CorpusSums
    score: Score


@dataclasses.dataclass(frozen=True)
class _Compared:
    """The difference of a system and its baseline, before p-values are adjusted."""

    system: str
    baseline: str
    group: Group
    difference: Difference


def scored(
    totals: Totals,
    scorings: ScoringsOfMetrics,
    slicing: Slicing = NO_SLICES,
    evidence: Evidence = USUAL_EVIDENCE,
    distributions: Sequence[Mapping[str, Any]] | None = None,
) -> Result:
    """The result of a finished job.

    Args:
      totals: everything that was added up.
      scorings: for each metric the scorings of the corpus and of its segments.
      slicing: the slices that are scored, too.
      evidence: what is found out about the scores.
      distributions: those of the scores of segments; None if they are not asked for.

    Raises:
      InputError: the baseline is not one of the systems; or something is asked for that needs a
        common score, and the tasks of the input have none.
      JobError: not every segment of every system was scored exactly once, by each definition; or
        replicates are missing.
    """
    judging = next((name for name in scorings if row_of(name).counts_texts), None)
    metrics = [
        MetricResult(totals, scorings[name], slicing, evidence, judge_input=name == judging)
        for name in scorings
    ]
    for metric in metrics:
        metric.check()
    first = metrics[0]
    return Result(
        metrics=tuple(metric.names for metric in metrics),
        segments=totals.segments,
        scores=(
            *(row for metric in metrics for row in metric.score_rows),
            *(row for metric in metrics for row in metric.averages),
            *(row for metric in metrics for row in metric.preset_rows),
        ),
        counters=_counters(totals, scorings),
        warnings=(
            *condition_warnings(totals.tally),
            *rejected_warnings(totals.tally, totals.rejected),
            *sentences(totals.notices),
            *_joined_warnings(metrics),
            *_warning_about_resampling(totals.systems, first.totals.corpus.units, evidence),
        ),
        languages=[language for metric in metrics for language in metric.languages],
        tasks=[
            {"slice": {str(first.scorings.unpooled): task}}
            for task in first.tasks
            if first.scorings.languages is None
        ],
        presets=tuple(preset for metric in metrics for preset in metric.presets),
        segment_scores=_segment_scores(metrics, sum(totals.scored.values())),
        distributions=distributions,
        coverage=None if totals.coverage is None else dataclasses.asdict(totals.coverage),
        uncertainty={
            "unit": evidence.unit,
            "label": evidence.documents,
            "units": first.totals.corpus.units,
            "confidence": CONFIDENCE,
        }
        if evidence.uncertainty
        else None,
        comparisons=(
            *(row for metric in metrics for row in metric.comparisons),
            *(row for metric in metrics for row in metric.average_comparisons),
        ),
        families=[family for metric in metrics for family in metric.families],
        clusters=[
            {"metric": metric.word, "systems": systems}
            for metric in metrics
            for systems in metric.clusters
        ]
        if evidence.uncertainty
        and evidence.compare_all
        and len(totals.systems) > 1
        and any(metric.scores for metric in metrics)
        else None,
        resampling=_resampling(metrics, evidence),
        partitions=(evidence.partition,),
    )


@dataclasses.dataclass(frozen=True)
class MetricResult:
    """What a result says about one metric.

    Attributes:
      job: everything that was added up.
      scorings: the scorings of the corpus and of its segments, by this metric.
      slicing: the slices that are scored, too.
      evidence: what is found out about the scores.
      judge_input: whether to warn about suspicious input; False if another metric does.
    """

    job: Totals
    scorings: Scorings
    slicing: Slicing
    evidence: Evidence
    judge_input: bool

    @property
    def word(self) -> str:
        """The metric, as commands write it."""
        return self.scorings.name

    @property
    def totals(self) -> MetricTotals:
        """What was added up with the job's own way to make tokens."""
        return self.job.metrics[self.scorings.name][self.scorings.text]

    def check(self) -> None:
        """Checks that there is a result.

        Raises:
          InputError, JobError: as `scored` says.
        """
        for text in self.scorings.counters:
            require_all_scored(
                self.job.scored,
                self.job.metrics[self.scorings.name][text].corpus.segments,
                "" if text == self.scorings.text else text.label,
            )
        if self.tasks:
            _require_no_common_score(self.tasks, self.scorings, self.evidence)
            if self.scorings.languages is not None:
                _require_one_task_of_each_language(self.scorings, self._slices)

    @functools.cached_property
    def _slices(self) -> list[Slice]:
        slices = self.totals.slices
        keys = () if slices is None else slices.keys
        return [self.slicing.values(key) for key in keys if key is not None]

    @functools.cached_property
    def tasks(self) -> list[str]:
        """The tasks, if there are several that have no common score; otherwise none."""
        label = self.scorings.unpooled
        if label is None:
            return []
        tasks = dict.fromkeys(str(group[label]) for group in self._slices if label in group)
        return list(tasks) if len(tasks) > 1 else []

    @functools.cached_property
    def _text(self) -> TextName | None:
        """How the texts of all slices became tokens; None if that differs by language."""
        if self.scorings.languages is None:
            return self.scorings.text
        texts = {self.scorings.text_of(group) for group in self._slices}
        return texts.pop() if len(texts) == 1 else None

    @functools.cached_property
    def _averaged(self) -> str | None:
        """The label of the languages or tasks of which there is a macro average; None for none."""
        return self.scorings.languages or (self.scorings.unpooled if self.tasks else None)

    def _sums(self, text: TextName) -> dict[str, CorpusSums]:
        """The sums of the whole corpus with one way to make tokens, by system."""
        corpus = self.job.metrics[self.scorings.name][text].corpus
        return {system: corpus.sums(system) for system in self.job.systems}

    @functools.cached_property
    def _own(self) -> dict[str, CorpusSums]:
        return self._sums(self.scorings.text)

    @functools.cached_property
    def scores(self) -> dict[str, Score]:
        """The scores of the whole corpus, by system; none if its parts have no common score."""
        if self._text is None or self.tasks:
            return {}
        return self._scores_of(
            self._own, self._text, self.scorings.corpus, judge_input=self.judge_input
        )

    def _scores_of(
        self,
        sums: Mapping[str, CorpusSums],
        text: TextName,
        metric: Metric,
        *,
        judge_input: bool,
        without_reason: Collection[str] = (),
    ) -> dict[str, Score]:
        """The scores of the whole corpus. Those of some systems do not say why they have no
        standard error.
        """
        return {
            system: corpus_score(
                self.scorings.kind,
                of_system,
                text,
                metric,
                judge_input=judge_input,
                explain_error=system not in without_reason,
            )
            for system, of_system in sums.items()
        }

    @functools.cached_property
    def sliced(self) -> list[SliceScore]:
        """The scores of the slices: slice by slice, and system by system in each one."""
        slices = self.totals.slices
        return [] if slices is None else list(self._scores_of_slices(slices))

    def _scores_of_slices(self, slices: GroupTotals) -> Iterator[SliceScore]:
        # Those of languages or tasks judge the input if no score of the whole corpus can.
        parts = [self.scorings.languages or self.scorings.unpooled]
        judge_parts = self.judge_input and not self.scores
        for key in slices.keys:
            assert key is not None
            group = self.slicing.values(key)
            text = self.scorings.text_of(group)
            judge_input = judge_parts and list(group) == parts
            for system in self.job.systems:
                sums = slices.sums(system, key)
                if sums.segments:
                    score = corpus_score(
                        self.scorings.kind,
                        sums,
                        text,
                        self.scorings.corpus,
                        judge_input=judge_input,
                        explain_error=False,  # one warning is about all slices
                    )
                    yield SliceScore(system, group, text, sums, score)

    @functools.cached_property
    def parts(self) -> list[list[SliceScore]]:
        """The scores of each language or task, one for each system that has segments in it."""
        label = self._averaged
        if label is None:
            return []
        scores = (score for score in self.sliced if list(score.group) == [label])
        return [list(part) for _, part in itertools.groupby(scores, key=lambda score: score.group)]

    def _row(self, system: str, group: Group, score: Score, preset: str | None = None) -> ScoreRow:
        return ScoreRow(
            self.scorings.name,
            system,
            group,
            preset,
            score.segments,
            score.score,
            score.standard_error,
            score.interval,
            {name: getattr(score, name) for name in self.scorings.kind.fields},
        )

    @property
    def score_rows(self) -> Iterator[ScoreRow]:
        """The scores of the whole corpus and of the slices."""
        for system, score in self.scores.items():
            yield self._row(system, None, score)
        for slice_score in self.sliced:
            yield self._row(slice_score.system, slice_score.group, slice_score.score)

    @property
    def averages(self) -> Iterator[ScoreRow]:
        """The mean of each system's scores of languages or tasks.

        A system that does not have segments in all of them has no mean, because it could not be
        compared with those of other systems. Different languages have different segments, so the
        variances of their scores add up, as if languages were independent. The mean has a standard
        error if all scores have one.
        """
        number = len(self.parts)
        for system in self.job.systems if number else ():
            own = [score.score for part in self.parts for score in part if score.system == system]
            mean = error = None
            if len(own) == number:
                mean = math.fsum(score.score for score in own) / number
                errors = [score.standard_error for score in own if score.standard_error is not None]
                if len(errors) == number:
                    error = math.sqrt(math.fsum(value * value for value in errors)) / number
            ends = None if mean is None or error is None else interval(mean, error)
            yield ScoreRow(
                self.scorings.name, system, MACRO_AVERAGE, None, len(own), mean, error, ends, {}
            )

    @functools.cached_property
    def _preset_scores(self) -> dict[str, dict[str, Score]]:
        # Their reasons are there already: a preset with the same tokens has the same units.
        without = {name for name, score in self.scores.items() if score.standard_error is None}
        return {
            name: self._scores_of(
                self._sums(preset.text),
                preset.text,
                preset.metric,
                judge_input=False,
                without_reason=without,
            )
            for name, preset in self.scorings.presets.items()
        }

    @property
    def preset_rows(self) -> Iterator[ScoreRow]:
        """The scores of the whole corpus by each preset."""
        for name, scores in self._preset_scores.items():
            for system, score in scores.items():
                yield self._row(system, None, score, name)

    @property
    def presets(self) -> Iterator[PresetNames]:
        """The definitions of the presets."""
        for name, preset in self.scorings.presets.items():
            sums = self._sums(preset.text).values()
            signatures = shared_signatures(preset.text, self.scorings.kind, preset.metric, sums)
            yield PresetNames(
                self.scorings.name,
                name,
                signatures.own,
                signatures.sacrebleu,
                tuple(_warnings_of(self._preset_scores[name])),
                self.evidence.uncertainty and preset.text == self.scorings.text,
            )

    @property
    def names(self) -> MetricNames:
        """The definition of the metric."""
        signatures = self._signatures(self.scorings.corpus)
        return MetricNames(self.scorings.name, self.scorings.shown, **signatures)

    def _signatures(self, metric: Metric) -> dict[str, str | None]:
        """Those of a definition for the whole corpus; None if languages have different ones."""
        if self._text is None:
            return {"signature": None, "sacrebleu_signature": None}
        sums = self._own.values()
        return _named(shared_signatures(self._text, self.scorings.kind, metric, sums))

    def _of_languages(self, metric: Metric) -> Iterator[tuple[SliceScore, dict[str, str | None]]]:
        """A score of each language, and the signatures of a definition for it."""
        for part in self.parts if self.scorings.languages is not None else ():
            sums = [score.sums for score in part]
            signatures = shared_signatures(part[0].text, self.scorings.kind, metric, sums)
            yield part[0], _named(signatures)

    @property
    def languages(self) -> list[dict[str, Any]]:
        """The languages with their tokenizers and signatures."""
        return [
            {
                "metric": self.word,
                "slice": score.group,
                "tokenize": score.text.tokenize,
                **signatures,
            }
            for score, signatures in self._of_languages(self.scorings.corpus)
        ]

    @property
    def definition_of_segments(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """How single segments are scored: in all languages, and in each one."""
        metric = self.scorings.segments
        assert metric is not None
        whole = {"metric": self.word, **self._signatures(metric)}
        return whole, [
            {"metric": self.word, "slice": score.group, **signatures}
            for score, signatures in self._of_languages(metric)
        ]

    @functools.cached_property
    def _compared(self) -> list[_Compared]:
        """The differences on the whole corpus, then slice by slice those with the baseline.

        A slice in which no unit has all systems is left out.
        """
        if not self.evidence.uncertainty:
            return []
        systems = self.job.systems
        baseline = self.evidence.baseline_of(systems)
        pairs = self.evidence.compared(systems) if self.scores else []
        compared = list(self._differences(self.totals.corpus, None, pairs))
        against_baseline = [(system, baseline) for system in systems if system != baseline]
        slices = self.totals.slices
        for key in () if slices is None or not against_baseline else slices.keys:
            assert slices is not None
            compared += self._differences(slices, key, against_baseline)
        return compared

    def _differences(
        self, totals: GroupTotals, key: Any, pairs: Iterable[tuple[str, str]]
    ) -> Iterator[_Compared]:
        group = None if key is None else self.slicing.values(key)
        for system, baseline in pairs:
            sums = totals.of_pair(system, baseline, key)
            if sums.units:
                difference = paired_difference(sums, self.scorings.corpus)
                yield _Compared(system, baseline, group, difference)

    @functools.cached_property
    def comparisons(self) -> list[ComparisonRow]:
        """The comparisons on the whole corpus, and on each slice."""
        whole = [compared for compared in self._compared if compared.group is None]
        slices = [compared for compared in self._compared if compared.group is not None]
        return [*self._adjusted("corpus", whole), *self._adjusted("slices", slices)]

    @functools.cached_property
    def average_comparisons(self) -> list[ComparisonRow]:
        """The comparisons of the means over all languages, or over all tasks.

        A system that does not have segments of all of them is left out, because it has no mean.
        """
        by_system: dict[str, list[_Compared]] = {system: [] for system in self.job.systems}
        for compared in self._compared if self.parts else ():
            if compared.group is not None and list(compared.group) == [self._averaged]:
                by_system[compared.system].append(compared)
        means = [
            _Compared(
                system,
                own[0].baseline,
                MACRO_AVERAGE,
                mean_difference([compared.difference for compared in own]),
            )
            for system, own in by_system.items()
            if own and len(own) == len(self.parts)
        ]
        return self._adjusted("macro_average", means)

    def _adjusted(self, family: FamilyName, compared: Sequence[_Compared]) -> list[ComparisonRow]:
        """The comparisons of a family, with their p-values adjusted."""
        p_values = holm([each.difference.p_value for each in compared])
        return [
            ComparisonRow(
                self.scorings.name,
                each.system,
                each.baseline,
                each.group,
                family,
                each.difference.segments,
                each.difference.units,
                each.difference.difference,
                each.difference.standard_error,
                each.difference.interval,
                each.difference.p_value,
                p_value_holm,
                each.difference.detectable,
            )
            for each, p_value_holm in zip(compared, p_values, strict=True)
        ]

    @property
    def families(self) -> Iterator[dict[str, Any]]:
        """The families of comparisons: which p-values are adjusted together."""
        rows = [*self.average_comparisons, *self.comparisons]
        for name, place in FAMILIES.items():
            family = [row for row in rows if row.family == name]
            if family:
                yield {
                    "metric": self.word,
                    "family": name,
                    "description": f"{_systems_of(family)}, {place}",
                    "comparisons": sum(row.p_value is not None for row in family),
                }

    @property
    def clusters(self) -> list[list[str]]:
        """The systems in clusters, best first, without those that have no standard error."""
        rows = [row for row in self.comparisons if row.family == "corpus"]
        # Nothing is known about the others. They would take the lines away from all systems.
        known = {
            system: self.scores[system].score
            for system in dict.fromkeys(name for row in rows for name in (row.baseline, row.system))
            if self.scores[system].standard_error is not None
        }
        p_values = {(row.system, row.baseline): row.p_value_holm for row in rows}
        lower_is_better = row_of(self.scorings.name).lower_is_better
        return clusters(known, p_values, lower_is_better=lower_is_better)

    @property
    def resampling(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """What random replicates of the whole corpus say: of the scores, and of differences.

        Raises:
          InputError: the baseline is not one of the systems.
          JobError: the replicates are missing, or are of other systems.
        """
        corpus, systems, asked = self.totals.corpus, self.job.systems, self.evidence.resampling
        assert asked is not None
        if self.totals.replicates is None or corpus.systems != tuple(sorted(systems)):
            raise JobError(
                "the last step did not get the replicates of all systems",
                "the runner lost data: do not use it for this job",
            )
        resampled = resampled_scores(
            asked.method,
            dict(zip(corpus.systems, self.totals.replicates, strict=True)),
            {system: corpus.sums(system).columns for system in corpus.systems},
            self.scorings.corpus,
            corpus.units,
            self.evidence.compared(systems),
        )
        scores = sorted(resampled.scores, key=lambda score: systems.index(score.system))
        return (
            [{"metric": self.word, **dataclasses.asdict(score)} for score in scores],
            [{"metric": self.word, **dataclasses.asdict(each)} for each in resampled.differences],
        )

    @property
    def warnings(self) -> Iterator[str]:
        """What a reader of the scores must know."""
        yield from _warnings_of(self.scores)
        if self.judge_input and self.scores:
            yield from self._suspicious_slices()
        yield from self._warnings_about_parts()
        if self.evidence.uncertainty:
            yield from self._slices_without_errors()
            if self.evidence.compare_all and len(self.scores) > 1:
                yield from self._systems_without_cluster()

    def _suspicious_slices(self) -> Iterator[str]:
        sums: dict[str, dict[str, CorpusSums]] = {system: {} for system in self.job.systems}
        for score in self.sliced:
            labels = (
                f"{name}={'null' if value is None else value}"
                for name, value in score.group.items()
            )
            sums[score.system][f"the slice {', '.join(labels)}"] = score.sums
        assert self._text is not None
        for system, of_slices in sums.items():
            for warning in suspicious_slices(self._own[system], of_slices, self._text):
                yield f"{system}: {warning}"

    def _warnings_about_parts(self) -> Iterator[str]:
        """Which systems lack a language or task, and the warnings about each of these."""
        for system in self.job.systems:
            missing = [
                _name_of(part[0])
                for part in self.parts
                if all(score.system != system for score in part)
            ]
            if missing:
                yield (
                    f"{system}: there is no macro average, because it has no segment in "
                    f"{joined(missing)}"
                )
        for part in self.parts:
            for score in part:
                for warning in score.score.warnings:
                    yield f"{score.system}, {_name_of(score)}: {warning}"

    def _slices_without_errors(self) -> Iterator[str]:
        """One sentence about all scores of slices that have no standard error."""
        missing = [each.score for each in self.sliced if each.score.standard_error is None]
        if missing:
            is_one = len(missing) == 1
            has, their = ("has", "its slice has") if is_one else ("have", "their slices have")
            # A slice has no more documents than segments.
            are_all_small = all(score.segments < FEWEST_UNITS for score in missing)
            other = "" if are_all_small else f", or {self.scorings.kind.has_no_error}"
            yield (
                f"slices: {len(missing)} of {len(self.sliced)} scores {has} no standard error, "
                f"because {their} fewer than {FEWEST_UNITS} {self.evidence.unit}s{other}"
            )

    def _systems_without_cluster(self) -> Iterator[str]:
        without = [name for name, score in self.scores.items() if score.standard_error is None]
        if len(without) == len(self.scores):
            yield "clusters: there are none, because no system has a standard error"
        elif without:
            has = "it has" if len(without) == 1 else "they have"
            yield f"clusters: without {', '.join(without)}, because {has} no standard error"


def shared_signatures(
    text: TextName, kind: MetricKind, metric: Metric, sums: Iterable[CorpusSums]
) -> Signatures:
    """The signatures of the scores of several systems.

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
    return kind.signatures(text, metric, smallest, largest)


def _named(signatures: Signatures) -> dict[str, str | None]:
    return {"signature": signatures.own, "sacrebleu_signature": signatures.sacrebleu}


def _name_of(score: SliceScore) -> str:
    """The language or task of its slice."""
    (name,) = score.group.values()
    assert name is not None  # counting has refused segments without a language
    return name


def _warnings_of(scores: Mapping[str, Score]) -> list[str]:
    """The warnings about scores. Each one begins with the system's name."""
    return [
        f"{system}: {warning}" for system, score in scores.items() for warning in score.warnings
    ]


def _joined_warnings(metrics: Sequence[MetricResult]) -> Iterator[str]:
    """The warnings about all metrics. One that several metrics have names all of them."""
    names: dict[str, list[str]] = {}
    for metric in metrics:
        for warning in dict.fromkeys(metric.warnings):
            names.setdefault(warning, []).append(metric.scorings.shown)
    for warning, having in names.items():
        yield f"{', '.join(having)}: {warning}" if len(metrics) > 1 else warning


def _warning_about_resampling(
    systems: Sequence[str], units: int, evidence: Evidence
) -> Iterator[str]:
    """One sentence about a bootstrap of too few units, if it is one."""
    asked = evidence.resampling
    if asked is None or asked.method != "bootstrap" or units >= FEWEST_UNITS:
        return
    reason = f"because {too_few(units, evidence.unit)}"
    if len(systems) == 1:
        yield f"--resample bootstrap: no interval, {reason}"
    else:
        yield (
            f"--resample bootstrap: no intervals and no p-values, {reason}; use --resample "
            "randomization, which is also valid for few"
        )


def _systems_of(rows: Sequence[ComparisonRow]) -> str:
    """Which systems are compared, in words."""
    baselines = {row.baseline for row in rows}
    if len(baselines) > 1:
        return f"each pair of {len(baselines | {row.system for row in rows})} systems"
    number = len({row.system for row in rows})
    return f"{number} system{'s' * (number > 1)} against {baselines.pop()}"


def _segment_scores(metrics: Sequence[MetricResult], rows: int) -> dict[str, Any] | None:
    """How the scores of segments are made; None if they are not asked for.

    Args:
      metrics: the metrics.
      rows: how many rows there are for each metric.
    """
    if metrics[0].scorings.segments is None:
        return None
    definitions = [metric.definition_of_segments for metric in metrics]
    languages = [language for _, of_languages in definitions for language in of_languages]
    return {
        "metrics": [whole for whole, _ in definitions],
        "rows": rows * len(metrics),
        **({"languages": languages} if languages else {}),
    }


def _resampling(metrics: Sequence[MetricResult], evidence: Evidence) -> dict[str, Any] | None:
    asked = evidence.resampling
    if asked is None:
        return None
    of_metrics = [metric.resampling for metric in metrics]
    return {
        "method": asked.method,
        "resamples": asked.number,
        "seed": asked.seed,
        "unit": evidence.unit,
        "label": evidence.documents,
        "generator": GENERATOR,
        "scores": [score for scores, _ in of_metrics for score in scores],
        "comparisons": [each for _, differences in of_metrics for each in differences],
    }


def _counters(totals: Totals, scorings: ScoringsOfMetrics) -> dict[str, Any]:
    """The counters of texts, if there are any, and of segments that are read, but not scored."""
    counters: dict[str, Any] = {"segments": totals.segments}
    counting = counts_empty_candidates(scorings)
    if counting is not None:  # only empty_candidates depends on the metric
        metric = scorings[counting]
        corpus = totals.metrics[metric.name][metric.text].corpus
        own = [corpus.sums(system) for system in totals.systems]
        lengths = [metric.corpus.lengths(sums.columns) for sums in own]
        empty = [of_system.empty_candidates for of_system in lengths if of_system]
        counters["empty_candidates"] = sum(empty)
        # Systems can have different segments (--coverage each).
        references = max(sums.reference_bytes for sums in own)
        counters["bytes"] = sum(sums.candidate_bytes for sums in own) + references
    if totals.is_tallied:
        left_out = totals.tally.left_out.items()
        counters |= {"read": totals.tally.read, FILTERED: 0, REJECTED: 0}
        counters |= {reason.replace("-", "_"): number for reason, number in left_out}
        counters["rejected_records"] = [
            {"reason": reason, "records": number}
            for reason, number in totals.rejected.reasons.items()
        ]
    return counters


def _require_no_common_score(tasks: Sequence[str], scorings: Scorings, evidence: Evidence) -> None:
    """Checks that nothing is asked for that only a common score of all tasks could give.

    Raises:
      InputError: something is.
    """
    needed = {
        "--compare_presets": bool(scorings.presets),
        "--resample": evidence.resampling is not None,
    }
    for flag, is_needed in needed.items():
        if is_needed:
            raise InputError(
                f"{flag} needs a score of the whole corpus, but the input has {len(tasks)} "
                f"tasks, which have no common score: {joined(tasks)}",
                "name the file of one task; or add --pool_tasks to score all tasks together",
            )


def _require_one_task_of_each_language(scorings: Scorings, slices: Iterable[Slice]) -> None:
    """Checks that no language has the segments of several tasks, which have no common score.

    Raises:
      InputError: a language has segments of several tasks.
    """
    tasks: dict[str | None, str] = {}
    for labels in slices:
        if {*labels} == {scorings.languages, scorings.unpooled}:
            language, task = labels[str(scorings.languages)], str(labels[str(scorings.unpooled)])
            other = tasks.setdefault(language, task)
            if other != task:
                raise InputError(
                    f"the language {language} has segments of the tasks {other} and {task}, which "
                    "have no common score",
                    "leave out --language_column, or name the files of one of these tasks; or add "
                    "--pool_tasks to score all tasks of a language together",
                )
