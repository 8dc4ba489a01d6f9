"""Trials: test sets are drawn, and each method judges two systems that do not differ in truth."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.differences import interval
from beam_bleu.transforms.score.estimates import Estimates
from beam_bleu.transforms.score.resampled_scores import Resampled, resampled_scores
from beam_bleu.transforms.totals.replicates.replicate_adder import ReplicateAdder
from benchmarks.significance.population import SYSTEMS, Drawn, Population, draw, totals_of

LEVELS = (0.01, 0.05, 0.10)
_DOCUMENTS = "document"


@dataclasses.dataclass
class Outcome:
    """What a method said in all trials. Mutable.

    Attributes:
      p_values: one for each trial; empty if the method gives none.
      covered: for each trial whether the 95 % interval of a score had the population's score.
    """

    p_values: list[float] = dataclasses.field(default_factory=list)
    covered: list[bool] = dataclasses.field(default_factory=list)

    def alarms(self, level: float) -> float | None:
        """The share of trials that found a difference, at a level."""
        return float(np.mean(np.array(self.p_values) <= level)) if self.p_values else None

    @property
    def coverage(self) -> float | None:
        """The share of intervals that had the population's score."""
        return float(np.mean(self.covered)) if self.covered else None


def judged(
    population: Population, documents: int, trials: int, resamples: int
) -> dict[str, Outcome]:
    """What each method says about `trials` test sets of so many documents each.

    Each method is told the documents. If some have several segments, there is one more outcome:
    that of the standard error of segments, which ignores that they belong together.
    """
    truth, metric = _true_score(population), population.metric
    has_documents = population.documents < population.counts.shape[1]
    found: dict[str, Outcome] = {}
    for trial in range(trials):
        drawn = draw(population, documents, np.random.default_rng([documents, trial]))
        columns = drawn.columns()
        _analytic(found.setdefault("standard error", Outcome()), columns, metric, truth)
        if has_documents:
            alone = dataclasses.replace(drawn, bounds=np.arange(drawn.counts.shape[1] + 1))
            ignored = found.setdefault("standard error, of segments", Outcome())
            _analytic(ignored, alone.columns(), metric, truth)
        bootstrap, randomization = (
            _resampled(drawn, columns, population, resampling)
            for resampling in (
                Resampling("bootstrap", resamples, trial),
                Resampling("randomization", resamples, trial),
            )
        )
        (difference,), (swapped,) = bootstrap.differences, randomization.differences
        for method, p_value in (
            ("bootstrap", difference.p_value),
            ("sacreBLEU's bootstrap", difference.p_sacrebleu),
            ("randomization", swapped.p_value),
        ):
            outcome = found.setdefault(method, Outcome())
            if p_value is not None:
                outcome.p_values.append(p_value)
        interval = bootstrap.scores[0].interval
        if interval is not None:
            found["bootstrap"].covered.append(interval[0] <= truth <= interval[1])
    return found


def _true_score(population: Population) -> float:
    """The score of either system in a test set without end: each has half of both outputs."""
    return float(population.metric.value(_integers(population.columns().sum(axis=(0, 2)))))


def _analytic(
    outcome: Outcome, columns: npt.NDArray[np.int64], metric: Metric, truth: float
) -> None:
    estimates = Estimates(totals_of(columns), metric)
    difference, (error, _) = estimates.difference(*SYSTEMS), estimates.error(SYSTEMS[0])
    if difference is not None and difference.p_value is not None and error is not None:
        low, high = interval(float(metric.value(_integers(columns[0].sum(axis=1)))), error)
        outcome.p_values.append(difference.p_value)
        outcome.covered.append(low <= truth <= high)


def _resampled(
    drawn: Drawn,
    columns: npt.NDArray[np.int64],
    population: Population,
    resampling: Resampling,
) -> Resampled:
    adder = ReplicateAdder(resampling, [_DOCUMENTS], population.basis, _DOCUMENTS)
    adder.add(drawn.statistics())
    sums = dict(zip(SYSTEMS, map(_integers, columns.sum(axis=2)), strict=True))
    replicates = dict(zip(SYSTEMS, adder.sums(), strict=True))
    return resampled_scores(
        resampling.method, replicates, sums, population.metric, columns.shape[2], [SYSTEMS]
    )


def _integers(values: npt.NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(values.tolist())


@dataclasses.dataclass(frozen=True)
class Corner:
    """The standard error near the corner of the brevity penalty.

    Attributes:
      ratio: c/r of the population.
      segments: the number of segments of each test set.
      spread: the standard deviation of the scores of all test sets.
      standard_error: the mean of their standard errors.
      coverage: the share of 95 % intervals that had the population's score.
    """

    ratio: float
    segments: int
    spread: float
    standard_error: float
    coverage: float


def at_ratio(population: Population, ratio: float, segments: int, trials: int) -> Corner:
    """Draws test sets from a population with this ratio of lengths."""
    truth, metric = _true_score(population), population.metric
    scores, errors, covered = [], [], []
    for trial in range(trials):
        drawn = draw(population, segments, np.random.default_rng([segments, trial]))
        columns = drawn.columns()[:1]
        score = float(metric.value(_integers(columns[0].sum(axis=1))))
        error, _ = Estimates(totals_of(columns), metric).error(SYSTEMS[0])
        if error is not None:
            low, high = interval(score, error)
            scores.append(score)
            errors.append(error)
            covered.append(low <= truth <= high)
    return Corner(
        ratio,
        segments,
        float(np.std(scores, ddof=1)),
        float(np.mean(errors)),
        float(np.mean(covered)),
    )
