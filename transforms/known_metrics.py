"""The table of all metrics: each one is a row here, and a class in `metrics`."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from beam_bleu.transforms.definition.choices import table

if TYPE_CHECKING:
    from beam_bleu.transforms.metrics.metric import Config, Metric
    from beam_bleu.transforms.score.differences import ComparedSystems
    from beam_bleu.transforms.score.score import Score
    from beam_bleu.transforms.text.text import TextName
    from beam_bleu.transforms.totals.group_totals import GroupTotals

MetricName = str  # of a row of `METRICS`

METRICS_FOLDER = "beam_bleu.transforms.metrics."

MetricWord = str
"""A metric, as commands and results write it: its name, or "mean:comet" if it has a parameter."""


@dataclasses.dataclass(frozen=True)
class MetricRow:
    """A row of `METRICS`. The parameter is the field of its config whose value is in its word,
    after a colon, so that a run can have the metric several times. A metric that does not count
    texts is made of numbers.
    """

    name: MetricName
    home: str
    description: str
    lower_is_better: bool = False
    parameter: str = ""
    counts_texts: bool = True
    can_be_negative: bool = False

    @property
    def word(self) -> MetricWord:
        return f"{self.name}:{self.parameter.upper()}" if self.parameter else self.name


METRICS: Mapping[MetricName, MetricRow] = table(
    MetricRow("bleu", "bleu.metric.BleuConfig", "BLEU"),
    MetricRow(
        "chrf",
        "chrf.metric.ChrfConfig",
        "chrF2, the F-score of n-grams of up to 6 characters; or chrF++, with words",
    ),
    MetricRow(
        "ter",
        "ter.metric.TerConfig",
        "TER, the edits and shifts of words for each word of the references",
        True,
    ),
    MetricRow("rouge1", "rouge.metric.Rouge1Config", "ROUGE-1, the mean F-score of words"),
    MetricRow("rouge2", "rouge.metric.Rouge2Config", "ROUGE-2, that of pairs of words"),
    MetricRow(
        "rougeL",
        "rouge.metric.RougeLConfig",
        "ROUGE-L, that of the longest common subsequence of words",
    ),
    MetricRow(
        "rougeLsum",
        "rouge.metric.RougeLsumConfig",
        "ROUGE-Lsum, the same for summaries with a sentence in each line",
    ),
    MetricRow(
        "wer", "error_rates.metric.WerConfig", "WER, the error rate of words, as for speech", True
    ),
    MetricRow("cer", "error_rates.metric.CerConfig", "CER, the error rate of characters", True),
    MetricRow(
        "exact_match", "squad.ExactMatchConfig", "SQuAD's exact match, the share of right answers"
    ),
    MetricRow(
        "token_f1", "squad.TokenF1Config", "SQuAD's F1, the mean F-score of the words of answers"
    ),
    MetricRow(
        "perplexity",
        "numbers.PerplexityConfig",
        "perplexity, from log-probabilities in records",
        True,
        counts_texts=False,
    ),
    MetricRow(
        "mean",
        "numbers.MeanConfig",
        "the mean of a column of numbers, such as the scores of COMET",
        parameter="column",
        counts_texts=False,
        can_be_negative=True,
    ),
    MetricRow(
        "mean_error",
        "numbers.MeanErrorConfig",
        "the same if lower is better, as for MetricX",
        True,
        parameter="column",
        counts_texts=False,
        can_be_negative=True,
    ),
)
"""All metrics, in the order in which they are shown. The first one is the default."""

METRICS_OF_TEXTS = tuple(name for name, row in METRICS.items() if row.counts_texts)
METRIC_WORDS = tuple(row.word for row in METRICS.values())
DEFAULT_METRIC = next(iter(METRICS))


def is_metric(word: str) -> bool:
    name, colon, parameter = word.partition(":")
    row = METRICS.get(name)
    return row is not None and bool(parameter if row.parameter else not colon)


def row_of(word: MetricWord) -> MetricRow:
    if not is_metric(word):
        raise ValueError(f"a metric must be one of {', '.join(METRIC_WORDS)}, got {word!r}")
    return METRICS[word.partition(":")[0]]


def parameter_of(word: MetricWord) -> dict[str, str]:
    row = row_of(word)
    return {row.parameter: word.partition(":")[2]} if row.parameter else {}


_NAMES = {METRICS_FOLDER + row.home: name for name, row in METRICS.items()}


def word_of(config: object) -> MetricWord:
    """The word of the metric that a config defines; a ValueError if it defines none."""
    kind = type(config)
    name = _NAMES.get(f"{kind.__module__}.{kind.__name__}")
    if name is None:
        types = ", ".join(home.rpartition(".")[2] for home in _NAMES)
        raise ValueError(f"config must be one of {types}, got {config!r}")
    parameter = METRICS[name].parameter
    return f"{name}:{getattr(config, parameter)}" if parameter else name


def counts_empty_candidates(metrics: Collection[MetricWord]) -> MetricWord | None:
    """The metric that says how many candidates are empty, whatever the order of the metrics: a
    candidate of spaces has no token, but can have characters.
    """
    return next((name for name in METRICS_OF_TEXTS if name in metrics), None)


@functools.lru_cache(maxsize=256)  # words of means have no bound
def config_type(word: MetricWord) -> type[Config]:
    """The type of the definitions of a metric, by its word or the name of one with a parameter."""
    row = METRICS[word] if word in METRICS else row_of(word)
    module, _, name = row.home.rpartition(".")
    return cast("type[Config]", getattr(importlib.import_module(METRICS_FOLDER + module), name))


def metric_type(word: MetricWord) -> type[Metric]:
    from beam_bleu.transforms.metrics.metric import Metric

    definition = config_type(word)
    return definition if issubclass(definition, Metric) else definition.METRIC


@dataclasses.dataclass(frozen=True)
class Definition:
    """A metric with one definition of it. Its text has only the name of a model, not the bytes."""

    name: MetricWord
    text: TextName
    metric: Metric

    def score(self, totals: GroupTotals, system: str | None = None) -> Score:
        from beam_bleu.transforms.score.estimates import Estimates, corpus_score

        return corpus_score(Estimates(totals, self.metric), self.text, system)

    def compared(
        self,
        totals: GroupTotals,
        systems: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        *,
        all_pairs: bool,
    ) -> ComparedSystems:
        """The scores and comparisons of systems, in this order; with clusters of all pairs."""
        from beam_bleu.transforms.score import differences
        from beam_bleu.transforms.score.estimates import Estimates, corpus_score

        estimates = Estimates(totals, self.metric)
        scores = {system: corpus_score(estimates, self.text, system) for system in systems}
        by_pair = {pair: estimates.difference(*pair) for pair in pairs}
        there = {pair: one for pair, one in by_pair.items() if one is not None}
        adjusted = differences.holm([one.p_value for one in there.values()])
        p_values = dict(zip(there, adjusted, strict=True))
        comparisons = tuple(
            differences.SystemComparison(
                **vars(one), system=pair[0], baseline=pair[1], p_value_holm=p_values[pair]
            )
            for pair, one in there.items()
        )
        if not all_pairs:
            return differences.ComparedSystems(scores, comparisons)
        known = {name: own.score for name, own in scores.items() if own.standard_error is not None}
        lower_is_better = row_of(self.name).lower_is_better
        groups = differences.clusters(known, p_values, lower_is_better=lower_is_better)
        return differences.ComparedSystems(scores, comparisons, tuple(map(tuple, groups)))
