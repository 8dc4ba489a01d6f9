"""What a result says about one metric: rows of its scores and differences, from its sums."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.result.comparing import adjusted
from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    MACRO_AVERAGE,
    ComparisonRow,
    Group,
    MetricNames,
    PresetNames,
    ScoreRow,
    family_of,
)
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.errors import InputError, JobError, joined
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.corpus_score import corpus_numbers
from beam_bleu.transforms.score.differences import (
    Difference,
    clusters,
    mean_difference,
    paired_difference,
)
from beam_bleu.transforms.score.metric_kind import MetricKind, Signatures
from beam_bleu.transforms.score.resampled_scores import resampled_scores
from beam_bleu.transforms.score.suspicious_input import suspicious_slices
from beam_bleu.transforms.score.uncertainty import FEWEST_UNITS, interval
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import require_all_scored
from beam_bleu.transforms.totals.group_totals import CorpusSums, GroupKey, GroupTotals, MetricTotals

Slice = Mapping[str, str | None]
"""The labels of a slice and their values."""


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
                _require_one_task_of_each_language(self.scorings, self._slices.values())

    @functools.cached_property
    def _slices(self) -> dict[SliceKey, Slice]:
        keys = () if self.totals.slices is None else self.totals.slices.keys
        return {key: self.slicing.values(key) for key in keys if key is not None}

    @functools.cached_property
    def tasks(self) -> list[str]:
        """The tasks, if there are several that have no common score; otherwise none."""
        label = self.scorings.unpooled
        if label is None:
            return []
        tasks = dict.fromkeys(
            str(group[label]) for group in self._slices.values() if label in group
        )
        return list(tasks) if len(tasks) > 1 else []

    @functools.cached_property
    def _text(self) -> TextName | None:
        """How the texts of all slices became tokens; None if that differs by language."""
        if self.scorings.languages is None:
            return self.scorings.text
        texts = {self.scorings.text_of(group) for group in self._slices.values()}
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
    def scores(self) -> dict[str, ScoreRow]:
        """The scores of the whole corpus, by system; none if its parts have no common score."""
        if self._text is None or self.tasks:
            return {}
        return {
            system: self._scored(sums, system, text=self._text, judge_input=self.judge_input)
            for system, sums in self._own.items()
        }

    @functools.cached_property
    def sliced(self) -> dict[SliceKey, list[ScoreRow]]:
        """The scores of each slice, one for each system that has segments in it."""
        # Those of languages or tasks judge the input if no score of the whole corpus can.
        parts = [self.scorings.languages or self.scorings.unpooled]
        judge_parts = self.judge_input and not self.scores
        return {
            key: [
                self._scored(
                    sums,
                    system,
                    group,
                    text=self.scorings.text_of(group),
                    judge_input=judge_parts and list(group) == parts,
                    explain_error=False,  # one warning is about all slices
                )
                for system, sums in self._sums_of_slice(key)
            ]
            for key, group in self._slices.items()
        }

    def _sums_of_slice(self, key: SliceKey) -> Iterator[tuple[str, CorpusSums]]:
        assert self.totals.slices is not None
        for system in self.job.systems:
            sums = self.totals.slices.sums(system, key)
            if sums.segments:
                yield system, sums

    @functools.cached_property
    def parts(self) -> dict[SliceKey, list[ScoreRow]]:
        """The scores of each language or task of which there is a macro average."""
        label = [self._averaged]
        return {key: scores for key, scores in self.sliced.items() if [*self._slices[key]] == label}

    @functools.cached_property
    def _of_presets(self) -> dict[str, list[ScoreRow]]:
        """The scores of the whole corpus by each preset."""
        # It is said already: a preset with the same tokens has the same units.
        unknown = {row.system for row in self.scores.values() if row.standard_error is None}
        return {
            name: [
                self._scored(
                    sums,
                    system,
                    preset=name,
                    text=definition.text,
                    metric=definition.metric,
                    explain_error=system not in unknown,
                )
                for system, sums in self._sums(definition.text).items()
            ]
            for name, definition in self.scorings.presets.items()
        }

    @functools.cached_property
    def _fields(self) -> tuple[str, ...]:
        """The fields of its scores: there can be a score for each of 100,000 slices."""
        return self.scorings.kind.fields

    def _scored(
        self,
        sums: CorpusSums,
        system: str,
        group: Slice | None = None,
        preset: str | None = None,
        *,
        text: TextName,
        metric: Metric | None = None,
        judge_input: bool = False,
        explain_error: bool = True,
    ) -> ScoreRow:
        numbers = corpus_numbers(
            self.scorings.kind,
            sums,
            text,
            metric or self.scorings.corpus,
            judge_input=judge_input,
            explain_error=explain_error,
        )
        return ScoreRow(
            self.scorings.name,
            system,
            group,
            preset,
            sums.segments,
            numbers.parts["score"],
            numbers.uncertainty.standard_error,
            numbers.uncertainty.interval,
            {name: numbers.parts[name] for name in self._fields},
            numbers.warnings,
        )

    @property
    def rows(self) -> Iterator[ScoreRow]:
        """The scores of the whole corpus and of the slices."""
        yield from self.scores.values()
        for rows in self.sliced.values():
            yield from rows

    @property
    def preset_rows(self) -> Iterator[ScoreRow]:
        """The scores of the whole corpus by each preset."""
        for rows in self._of_presets.values():
            yield from rows

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
            own = [row for part in self.parts.values() for row in part if row.system == system]
            mean = error = None
            if len(own) == number:
                mean = math.fsum(row.score or 0.0 for row in own) / number
                errors = [row.standard_error for row in own if row.standard_error is not None]
                if len(errors) == number:
                    error = math.sqrt(math.fsum(value * value for value in errors)) / number
            ends = None if mean is None or error is None else interval(mean, error)
            yield ScoreRow(
                self.scorings.name, system, MACRO_AVERAGE, None, len(own), mean, error, ends, {}
            )

    @property
    def presets(self) -> Iterator[PresetNames]:
        """The definitions of the presets."""
        for name, preset in self.scorings.presets.items():
            yield PresetNames(
                self.word,
                name,
                **self._signatures(preset.text, preset.metric, self._sums(preset.text).values()),
                warnings=tuple(_warnings_of(self._of_presets[name])),
                has_errors=self.evidence.uncertainty and preset.text == self.scorings.text,
            )

    @property
    def names(self) -> MetricNames:
        """The definition of the metric."""
        return MetricNames(self.word, self.scorings.shown, **self._of_corpus(self.scorings.corpus))

    def _signatures(
        self, text: TextName | None, metric: Metric, sums: Iterable[CorpusSums]
    ) -> dict[str, Any]:
        """Those of a definition as entries have them; None if languages have different ones."""
        if text is None:
            return {"signature": None, "sacrebleu_signature": None}
        signatures = shared_signatures(text, self.scorings.kind, metric, sums)
        return {"signature": signatures.own, "sacrebleu_signature": signatures.sacrebleu}

    def _of_corpus(self, metric: Metric) -> dict[str, Any]:
        """The signatures of a definition for the whole corpus."""
        return self._signatures(self._text, metric, self._own.values())

    def _of_languages(self, metric: Metric) -> Iterator[dict[str, Any]]:
        """Each language, and the signatures of a definition for it."""
        for key in self.parts if self.scorings.languages is not None else ():
            group, sums = self._slices[key], [sums for _, sums in self._sums_of_slice(key)]
            signatures = self._signatures(self.scorings.text_of(group), metric, sums)
            yield {"metric": self.word, "slice": group, **signatures}

    @property
    def languages(self) -> Iterator[dict[str, Any]]:
        """The languages with their tokenizers and signatures."""
        for language in self._of_languages(self.scorings.corpus):
            tokenize = self.scorings.text_of(language["slice"]).tokenize
            yield {
                **{name: language.pop(name) for name in ("metric", "slice")},
                "tokenize": tokenize,
                **language,
            }

    def definition_of_segments(self, metric: Metric) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """How a definition scores single segments: in all languages, and in each one."""
        return {"metric": self.word, **self._of_corpus(metric)}, [*self._of_languages(metric)]

    @functools.cached_property
    def _compared(self) -> list[tuple[ComparisonRow, Difference]]:
        """The differences on the whole corpus, then slice by slice those with the baseline.

        A slice in which no unit has all systems is left out.
        """
        if not self.evidence.uncertainty:
            return []
        systems = self.job.systems
        baseline = self.evidence.baseline_of(systems)
        pairs = self.evidence.compared(systems) if self.scores else []
        compared = [*self._differences(self.totals.corpus, None, pairs)]
        against_baseline = [(system, baseline) for system in systems if system != baseline]
        for key in self._slices if against_baseline else ():
            compared += self._differences(self.totals.slices, key, against_baseline)
        return compared

    def _differences(
        self, totals: GroupTotals | None, key: GroupKey, pairs: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[ComparisonRow, Difference]]:
        assert totals is not None
        group = None if key is None else self._slices[key]
        for system, baseline in pairs:
            sums = totals.of_pair(system, baseline, key)
            if sums.units:
                difference = paired_difference(sums, self.scorings.corpus)
                yield self._comparison(system, baseline, group, difference), difference

    def _comparison(
        self, system: str, baseline: str, group: Group, difference: Difference
    ) -> ComparisonRow:
        numbers = vars(difference) | {"metric": self.word, "system": system, "baseline": baseline}
        del numbers["reason"]
        return ComparisonRow(**numbers, group=group, p_value_holm=None, family=family_of(group))

    @functools.cached_property
    def comparisons(self) -> list[ComparisonRow]:
        """The comparisons on the whole corpus, and on each slice."""
        return adjusted([row for row, _ in self._compared])

    @functools.cached_property
    def average_comparisons(self) -> list[ComparisonRow]:
        """The comparisons of the means over all languages, or over all tasks.

        A system that does not have segments of all of them is left out, because it has no mean.
        """
        if not self.parts:
            return []
        by_system: dict[str, list[Difference]] = {system: [] for system in self.job.systems}
        for row, difference in self._compared:
            if isinstance(row.group, Mapping) and list(row.group) == [self._averaged]:
                by_system[row.system].append(difference)
        baseline = self.evidence.baseline_of(self.job.systems)
        return adjusted(
            [
                self._comparison(system, baseline, MACRO_AVERAGE, mean_difference(own))
                for system, own in by_system.items()
                if own and len(own) == len(self.parts)
            ]
        )

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
            system: self.scores[system].score or 0.0
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
        yield from _warnings_of(self.scores.values())
        if self.judge_input and self.scores:
            yield from self._suspicious_slices()
        yield from self._warnings_about_parts()
        if self.evidence.uncertainty:
            yield from self._slices_without_errors()
            if self.evidence.compare_all and len(self.scores) > 1:
                yield from self._systems_without_cluster()

    def _suspicious_slices(self) -> Iterator[str]:
        slices = self.totals.slices
        if slices is None or self._text is None:
            return
        for system, whole in self._own.items():
            if any(whole.signs.scripts):
                sums = {
                    _shown(group): slices.sums(system, key) for key, group in self._slices.items()
                }
                for warning in suspicious_slices(whole, sums, self._text):
                    yield f"{system}: {warning}"

    def _warnings_about_parts(self) -> Iterator[str]:
        """Which systems lack a language or task, and the warnings about each of these."""
        names = {key: str(*self._slices[key].values()) for key in self.parts}
        for system in self.job.systems:
            missing = [
                names[key]
                for key, rows in self.parts.items()
                if all(row.system != system for row in rows)
            ]
            if missing:
                yield (
                    f"{system}: there is no macro average, because it has no segment in "
                    f"{joined(missing)}"
                )
        for key, rows in self.parts.items():
            for row in rows:
                yield from (f"{row.system}, {names[key]}: {warning}" for warning in row.warnings)

    def _slices_without_errors(self) -> Iterator[str]:
        """One sentence about all scores of slices that have no standard error."""
        rows = [row for rows in self.sliced.values() for row in rows]
        missing = [row for row in rows if row.standard_error is None]
        if missing:
            is_one = len(missing) == 1
            has, their = ("has", "its slice has") if is_one else ("have", "their slices have")
            # A slice has no more documents than segments.
            are_all_small = all(row.segments < FEWEST_UNITS for row in missing)
            other = "" if are_all_small else ", or a count on which the score depends is 0"
            yield (
                f"slices: {len(missing)} of {len(rows)} scores {has} no standard error, "
                f"because {their} fewer than {FEWEST_UNITS} {self.evidence.unit}s{other}"
            )

    def _systems_without_cluster(self) -> Iterator[str]:
        without = [row.system for row in self.scores.values() if row.standard_error is None]
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


def _shown(group: Slice) -> str:
    labels = (f"{name}={'null' if value is None else value}" for name, value in group.items())
    return f"the slice {', '.join(labels)}"


def _warnings_of(rows: Iterable[ScoreRow]) -> list[str]:
    """The warnings about scores. Each one begins with the system's name."""
    return [f"{row.system}: {warning}" for row in rows for warning in row.warnings]


def _systems_of(rows: Sequence[ComparisonRow]) -> str:
    """Which systems are compared, in words."""
    baselines = {row.baseline for row in rows}
    if len(baselines) > 1:
        return f"each pair of {len(baselines | {row.system for row in rows})} systems"
    number = len({row.system for row in rows})
    return f"{number} system{'s' * (number > 1)} against {baselines.pop()}"


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
