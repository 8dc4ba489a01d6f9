"""Makes the rows of one metric from its sums: scores, means, comparisons, clusters, warnings."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    Labels,
    PresetScores,
    ScoreRow,
    Slice,
    adjusted,
)
from beam_bleu.pipeline.scoring.job import Evidence, Scorings
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import InputError, joined, lost_data
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.differences import (
    FEWEST_UNITS,
    Difference,
    clusters,
    interval,
    judged,
)
from beam_bleu.transforms.score.estimates import Estimates, score_parts
from beam_bleu.transforms.score.resampled_scores import resampled_scores
from beam_bleu.transforms.score.score import own_fields
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import require_all_scored
from beam_bleu.transforms.totals.group_totals import CorpusSums, GroupKey, MetricTotals

Row = TypeVar("Row", ScoreRow, ComparisonRow)


class _Place(NamedTuple):
    """A slice that is scored, or the whole corpus, which has no labels."""

    key: GroupKey
    labels: Labels
    text: TextName
    estimates: Estimates


@dataclasses.dataclass(frozen=True)
class MetricRows:
    """The rows and warnings of one metric. Only one metric of a run judges the input."""

    totals: Totals
    scorings: Scorings
    slicing: Slicing
    evidence: Evidence
    judge_input: bool

    @property
    def word(self) -> MetricWord:
        return self.scorings.name

    @property
    def own(self) -> MetricTotals:
        return self.totals.metrics[self.word][self.scorings.text]

    def check(self) -> None:
        for text in self.scorings.counted:
            require_all_scored(
                self.totals.scored,
                self.totals.metrics[self.word][text].corpus.segments,
                "" if text == self.scorings.text else text.label,
            )
        if self.scorings.by_task:
            self._require_metrics_of_tasks()
        if self.tasks:
            self._require_separate_tasks()

    @functools.cached_property
    def _slices(self) -> list[_Place]:
        return [place for place in self._all_slices if self.scorings.is_of(place.labels)]

    @functools.cached_property
    def _all_slices(self) -> list[_Place]:
        if self.own.slices is None:
            return []
        estimates = Estimates(self.own.slices, self.scorings.corpus)
        slices = {key: self.slicing.values(key) for key in self.own.slices.keys if key is not None}
        text_of = self.scorings.text_of
        return [_Place(key, labels, text_of(labels), estimates) for key, labels in slices.items()]

    @functools.cached_property
    def tasks(self) -> list[str]:
        """The tasks, if there are several, which have no common score."""
        return self._all_tasks if len(self._all_tasks) > 1 else []

    @functools.cached_property
    def _all_tasks(self) -> list[str]:
        tasks = dict.fromkeys(
            str(value)
            for place in self._all_slices
            for label, value in place.labels.items()
            if label == self.scorings.unpooled
        )
        return [*tasks]

    def _require_metrics_of_tasks(self) -> None:
        patterns = {task: self.scorings.pattern_of(task) for task in self._all_tasks}
        if without := [task for task, pattern in patterns.items() if pattern is None]:
            raise InputError(
                f"--metrics_by: no pattern matches {joined(without)}",
                "add PATTERN=METRIC for it; or, as the last one, *=METRIC for all other tasks",
            )
        if unused := [own for own in self.scorings.by_task if own not in patterns.values()]:
            raise InputError(
                f"--metrics_by {unused[0]}=...: no task gets its metrics from this pattern; the "
                f"tasks with scored segments are {joined([*patterns])}, and of several patterns "
                "the first one counts",
                "correct the pattern, or --where if it leaves out all records of a task; or leave "
                "the pattern out",
            )

    def _require_separate_tasks(self) -> None:
        remedy = "name the file of one task; or add --pool_tasks to score all tasks together"
        flag = "--compare_presets" if self.scorings.presets else "--resample"
        if self.scorings.presets or self.evidence.resampling is not None:
            raise InputError(
                f"{flag} needs a score of the whole corpus, but the input has {len(self.tasks)} "
                f"tasks, which have no common score: {joined(self.tasks)}",
                remedy,
            )
        labels = self.scorings.languages, self.scorings.unpooled
        both = [place.labels for place in self._slices if {*place.labels} == {*labels}]
        tasks: dict[str | None, str | None] = {}
        for language, task in ((own[str(labels[0])], own[str(labels[1])]) for own in both):
            if tasks.setdefault(language, task) != task:
                raise InputError(
                    f"the language {language} has segments of the tasks {tasks[language]} and "
                    f"{task}, which have no common score",
                    remedy,
                )

    @functools.cached_property
    def _whole(self) -> _Place | None:
        """The whole corpus; None if its languages have different tokenizers."""
        texts = {self.scorings.text}
        if self.scorings.languages is not None:
            texts = {place.text for place in self._slices}
        if len(texts) != 1:
            return None
        estimates = Estimates(self.own.corpus, self.scorings.corpus)
        return _Place(None, {}, texts.pop(), estimates)

    @functools.cached_property
    def _parts(self) -> list[_Place]:
        return [place for place in self._slices if self._is_part(place.labels)]

    def _is_part(self, labels: Labels) -> bool:
        label = self.scorings.languages or (self.scorings.unpooled if self.tasks else None)
        return [*labels] == [label]

    @functools.cached_property
    def scores(self) -> list[ScoreRow]:
        """The scores of the whole corpus; none if its languages or tasks have no common score."""
        if self._whole is None or self.tasks:
            return []
        return self._rows(self._whole, judge_input=self.judge_input)

    @functools.cached_property
    def sliced(self) -> list[ScoreRow]:
        # If the whole corpus has no score, the scores of languages or tasks judge the input.
        judging = self._parts if self.judge_input and not self.scores else ()
        keys = {place.key for place in judging}
        return [
            row
            for place in self._slices
            # A single warning (`_slices_without_errors`) explains the errors that slices lack.
            for row in self._rows(
                place, judge_input=place.key in keys, unexplained=self.totals.systems
            )
        ]

    def sums_of(self, metrics: Sequence[Scorings]) -> list[CorpusSums]:
        """The sums of all systems; with metrics by task, only in the tasks of these metrics."""
        keys: list[GroupKey] = [None]
        totals = self.own.corpus
        if self.scorings.by_task and self.own.slices is not None:
            totals, label = self.own.slices, [self.scorings.unpooled]
            tasks = [place for place in self._all_slices if [*place.labels] == label]
            keys = [place.key for place in tasks if any(own.is_of(place.labels) for own in metrics)]
        return [totals.sums(system, key) for key in keys for system in self.totals.systems]

    @property
    def presets(self) -> Iterator[PresetScores]:
        # Explained already, because a preset with the same tokens has the same units.
        unknown = {row.system for row in self.scores if row.standard_error is None}
        for name, preset in self.scorings.presets.items():
            corpus = self.totals.metrics[self.word][preset.text].corpus
            place = _Place(None, {}, preset.text, Estimates(corpus, preset.metric))
            rows = self._rows(place, unexplained=unknown)
            yield PresetScores(
                self.word,
                name,
                **self._signatures(place, preset.metric),
                scores=tuple(rows),
                warnings=tuple(_warnings_of(rows)),
                has_errors=self.evidence.uncertainty and preset.text == self.scorings.text,
            )

    def _rows(
        self, place: _Place, *, judge_input: bool = False, unexplained: Collection[str] = ()
    ) -> list[ScoreRow]:
        """The scores of a place, for each system that has segments in it.

        For the systems in `unexplained`, no warning says why a standard error is missing.
        """
        rows, estimates = [], place.estimates
        fields = own_fields(estimates.metric.score_type)
        for system in self.totals.systems:
            sums = estimates.totals.sums(system, place.key)
            if not sums.segments and place.key is not None:
                continue
            error, reason = estimates.standard_error(system, place.key)
            parts, warnings = score_parts(
                estimates.metric,
                sums,
                place.text,
                "" if system in unexplained else reason,
                judge_input=judge_input,
            )
            score, own = parts["score"], {name: parts[name] for name in fields}
            about = (self.word, system, place.labels or None, sums.segments)
            ends, exact = interval(score, error), estimates.wilson_interval(system, place.key)
            rows.append(ScoreRow(*about, score, error, ends, own, warnings, exact))
        return rows

    def _rows_of_parts(self, rows: Iterable[Row]) -> dict[str, list[Row]]:
        rows_of_systems: dict[str, list[Row]] = {system: [] for system in self.totals.systems}
        for row in rows:
            if self._is_part(row.labels):
                rows_of_systems[row.system].append(row)
        return rows_of_systems

    @property
    def averages(self) -> Iterator[ScoreRow]:
        """The means over languages or tasks; a system that lacks one of them has the score None."""
        for system, own in self._rows_of_parts(self.sliced).items() if self._parts else ():
            mean = error = None
            if len(own) == len(self._parts):
                mean, error = _mean([(row.score or 0.0, row.standard_error) for row in own])
            ends = None if mean is None else interval(mean, error)
            yield ScoreRow(self.word, system, MACRO_AVERAGE, len(own), mean, error, ends, {})

    def _signatures(self, place: _Place | None, metric: Metric) -> dict[str, Any]:
        """The signatures of a definition; None if languages have different ones.

        They show the fewest and the most references of all systems, so their order does not matter.
        """
        if place is None:
            return {"signature": None, "sacrebleu_signature": None}
        totals = place.estimates.totals
        if place.key is None:
            sums = self.sums_of([self.scorings])
        else:
            sums = [totals.sums(system, place.key) for system in self.totals.systems]
        used = [own for own in sums if own.segments]
        fewest = min((own.min_reference_count for own in used), default=0)
        most = max((own.max_reference_count for own in used), default=0)
        signature, of_sacrebleu = metric.signatures(place.text, fewest, most)
        return {"signature": signature, "sacrebleu_signature": of_sacrebleu}

    def of_corpus(self, metric: Metric) -> dict[str, Any]:
        return {"metric": self.word, **self._signatures(self._whole, metric)}

    def languages(self, metric: Metric, *, tokenizers: bool) -> Iterator[dict[str, Any]]:
        for place in self._parts if self.scorings.languages is not None else ():
            yield {
                "metric": self.word,
                "slice": place.labels,
                **({"tokenize": place.text.tokenize} if tokenizers else {}),
                **self._signatures(place, metric),
            }

    @functools.cached_property
    def comparisons(self) -> list[ComparisonRow]:
        """The differences on the whole corpus, then, slice by slice, those from the baseline."""
        if not self.evidence.uncertainty:
            return []
        systems = self.totals.systems
        baseline = self.evidence.baseline_of(systems)
        with_baseline = [(system, baseline) for system in systems if system != baseline]
        parts = [(place, with_baseline) for place in self._slices]
        if self.scores and self._whole is not None:
            parts = [(self._whole, self.evidence.compared(systems)), *parts]
        compared = []
        for place, pairs in parts:
            for system, other in pairs:
                difference = place.estimates.difference(system, other, place.key)
                if difference is not None:
                    compared.append(self._compared(system, other, place.labels or None, difference))
        return adjusted(compared)

    def _compared(
        self, system: str, baseline: str, of_slice: Slice, difference: Difference
    ) -> ComparisonRow:
        return ComparisonRow(
            metric=self.word, system=system, baseline=baseline, slice=of_slice, **vars(difference)
        )

    @functools.cached_property
    def average_comparisons(self) -> list[ComparisonRow]:
        """The comparisons of means over languages or tasks, for systems that have such means."""
        compared = []
        for system, rows in self._rows_of_parts(self.comparisons).items():
            if rows and len(rows) == len(self._parts):
                units, segments = sum(row.units for row in rows), sum(row.segments for row in rows)
                mean, error = _mean([(row.difference, row.standard_error) for row in rows])
                if error is None:
                    reason = next(row.reason for row in rows if row.standard_error is None)
                    difference = Difference(units, segments, mean, reason=reason)
                else:
                    difference = judged(units, segments, mean, error)
                compared.append(self._compared(system, rows[0].baseline, MACRO_AVERAGE, difference))
        return adjusted(compared)

    @property
    def clusters(self) -> list[list[str]]:
        """The systems in clusters, best first, without those that have no standard error."""
        rows = [row for row in self.comparisons if row.family == "corpus"]
        compared = {name for row in rows for name in (row.baseline, row.system)}
        # Nothing is known about the others, which would remove the borders between all clusters.
        known = {
            row.system: row.score or 0.0
            for row in self.scores
            if row.system in compared and row.standard_error is not None
        }
        p_values = {(row.system, row.baseline): row.p_value_holm for row in rows}
        return clusters(known, p_values, lower_is_better=row_of(self.word).lower_is_better)

    @property
    def resampling(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """What replicates of the whole corpus say about the scores, and about the differences."""
        corpus, systems, resampling = self.own.corpus, self.totals.systems, self.evidence.resampling
        assert resampling is not None
        if self.own.replicates is None or corpus.systems != tuple(sorted(systems)):
            raise lost_data("the last step did not get the replicates of all systems")
        scores, differences = resampled_scores(
            resampling.method,
            dict(zip(corpus.systems, self.own.replicates, strict=True)),
            {system: corpus.sums(system).columns for system in corpus.systems},
            self.scorings.corpus,
            corpus.units,
            self.evidence.compared(systems),
        )
        of_systems = [
            {"metric": self.word, "system": system, **vars(scores[system])}
            for system in systems
            if system in scores
        ]
        of_pairs = [
            {"metric": self.word, "system": system, "baseline": baseline, **vars(difference)}
            for (system, baseline), difference in differences.items()
        ]
        return of_systems, of_pairs

    @property
    def warnings(self) -> Iterator[str]:
        yield from _warnings_of(self.scores)
        for system, own in self._rows_of_parts(self.sliced).items():
            slices = [row.labels for row in own]
            if missing := [place for place in self._parts if place.labels not in slices]:
                names = joined([str(*place.labels.values()) for place in missing])
                yield f"{system}: there is no macro average, because it has no segment in {names}"
        for row in self.sliced:
            if self._is_part(row.labels):
                name = str(*row.labels.values())
                yield from (f"{row.system}, {name}: {warning}" for warning in row.warnings)
        if self.evidence.uncertainty:
            yield from self._slices_without_errors()
            if self.evidence.compare_all and len(self.totals.systems) > 1:
                yield from self._systems_without_cluster()

    def _systems_without_cluster(self) -> Iterator[str]:
        without = [row.system for row in self.scores if row.standard_error is None]
        if not self.scores:
            yield (
                f"there are no clusters, because {'tasks' if self.tasks else 'languages'} have no "
                "common score; in each of them, systems are compared only with "
                f"{self.evidence.baseline_of(self.totals.systems)}"
            )
        elif len(without) == len(self.scores):
            yield "clusters: there are none, because no system has a standard error"
        elif without:
            has = "it has" if len(without) == 1 else "they have"
            yield f"clusters: without {', '.join(without)}, because {has} no standard error"

    def _slices_without_errors(self) -> Iterator[str]:
        if missing := [row for row in self.sliced if row.standard_error is None]:
            has, their = "have", "their slices have"
            if len(missing) == 1:
                has, their = "has", "its slice has"
            # Segments will do, because a slice has no more documents than segments.
            are_all_small = all(row.segments < FEWEST_UNITS for row in missing)
            other = "" if are_all_small else ", or a count on which the score depends is 0"
            yield (
                f"slices: {len(missing)} of {len(self.sliced)} scores {has} no standard error, "
                f"because {their} fewer than {FEWEST_UNITS} {self.evidence.unit}s{other}"
            )


def _mean(numbers: Sequence[tuple[float, float | None]]) -> tuple[float, float | None]:
    """The mean of scores or differences, and its standard error if all of them have one.

    Their segments differ, so they are treated as independent: their variances add up.
    """
    mean = math.fsum(number for number, _ in numbers) / len(numbers)
    errors = [error for _, error in numbers if error is not None]
    if len(errors) < len(numbers):
        return mean, None
    return mean, math.sqrt(math.fsum(error * error for error in errors)) / len(numbers)


def _warnings_of(rows: Iterable[ScoreRow]) -> list[str]:
    return [f"{row.system}: {warning}" for row in rows for warning in row.warnings]
