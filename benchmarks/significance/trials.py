"""Runs trials: draws test sets, and lets each method judge two systems that in truth are equal."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.known_metrics import Definition
from beam_bleu.transforms.score.differences import ComparedSystems
from beam_bleu.transforms.score.resampled_scores import (
    ResampledDifference,
    ResampledScore,
    resampled_scores,
)
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.statistics.signs import no_signs
from beam_bleu.transforms.totals.batch_adder import totals_of_rows
from beam_bleu.transforms.totals.replicates import ReplicateAdder
from benchmarks.significance.population import Integers, Population

LEVELS = (0.01, 0.05, 0.10)
_SYSTEMS = ("one", "other")


@dataclasses.dataclass
class Outcome:
    """What a method said in all trials. Mutable.

    Attributes:
      p_values: the p-value of each trial; empty if the method gives none.
      covered: for each trial, whether the 95 % interval of a score contained the true score.
    """

    p_values: list[float] = dataclasses.field(default_factory=list)
    covered: list[bool] = dataclasses.field(default_factory=list)

    def add(
        self, p_value: float | None, interval: tuple[float, float] | None = None, truth: float = 0
    ) -> None:
        """Adds what the method said in a trial; None if it said nothing."""
        if p_value is not None:
            self.p_values.append(p_value)
        if interval is not None:
            self.covered.append(interval[0] <= truth <= interval[1])

    def alarms(self, level: float) -> float | None:
        """The share of trials with a significant difference, at this level."""
        return float(np.mean(np.array(self.p_values) <= level)) if self.p_values else None

    @property
    def coverage(self) -> float | None:
        """The share of intervals that contained the true score."""
        return float(np.mean(self.covered)) if self.covered else None


def judged(
    population: Population, documents: int, trials: int, resamples: int
) -> dict[str, Outcome]:
    """What each method says about `trials` test sets with this number of documents each.

    All methods know the documents. If some documents have several segments, there is one more
    outcome, for the standard error by segment, which ignores that they belong together.
    """
    truth, definition = population.true_score, population.definition
    names = ["standard error", "bootstrap", "sacreBLEU's bootstrap", "randomization"]
    if population.documents < population.counts.shape[1]:
        names.insert(1, "standard error, of segments")
    outcomes = {name: Outcome() for name in names}
    for trial in range(trials):
        units, segments = population.draw(documents, np.random.default_rng([documents, trial]))
        for name, counts in zip(names[: len(names) - 3], (units, segments), strict=False):
            compared = _compared(counts, definition)
            p_value, interval = compared.comparisons[0].p_value, compared.scores["one"].interval
            outcomes[name].add(p_value if interval else None, interval, truth)
        (scores, difference), (_, swapped) = (
            _resampled(units, definition, Resampling(method, resamples, trial))
            for method in ("bootstrap", "randomization")
        )
        outcomes["bootstrap"].add(difference.p_value, scores[_SYSTEMS[0]].interval, truth)
        outcomes["sacreBLEU's bootstrap"].add(difference.p_sacrebleu)
        outcomes["randomization"].add(swapped.p_value)
    return outcomes


def _statistics(units: Integers) -> BatchStatistics:
    """A batch whose segments are the units of a test set."""
    systems, count = units.shape[:2]
    ones = np.ones((systems, count), np.int64)
    signs, numbers = no_signs(systems, 1, count), np.arange(count)
    return BatchStatistics((units,), ones[0], ones, ones[0], signs, _SYSTEMS, numbers)


def _compared(units: Integers, definition: Definition) -> ComparedSystems:
    bases, statistics = [definition.metric.basis], _statistics(units)
    totals = totals_of_rows(statistics, bases, pairs=[_SYSTEMS], with_products=True)
    return definition.compared(totals.metrics[0], _SYSTEMS, [_SYSTEMS], all_pairs=False)


def _resampled(
    units: Integers, definition: Definition, resampling: Resampling
) -> tuple[dict[str, ResampledScore], ResampledDifference]:
    metric = definition.metric
    adder = ReplicateAdder(resampling, [], metric.basis)
    adder.add(_statistics(units))
    sums = dict(zip(_SYSTEMS, units.sum(axis=1).tolist(), strict=True))
    replicates = dict(zip(_SYSTEMS, adder.sums(), strict=True))
    scores, differences = resampled_scores(
        resampling.method, replicates, sums, metric, units.shape[1], [_SYSTEMS]
    )
    return scores, differences[_SYSTEMS]
