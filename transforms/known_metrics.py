"""All metrics. A metric is a row here, and has a folder in `metrics`, alone or with its family."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from beam_bleu.transforms.definition.choices import require_choice, table

if TYPE_CHECKING:
    from beam_bleu.transforms.definition.choices import MetricFlag
    from beam_bleu.transforms.metrics.metric import Metric
    from beam_bleu.transforms.score.metric_kind import MetricKind, Score
    from beam_bleu.transforms.statistics.counting import Counter
    from beam_bleu.transforms.text.text import TextName
    from beam_bleu.transforms.totals.corpus_sums import CorpusSums

MetricName = Literal["bleu", "chrf", "ter", "wer", "cer", "exact_match", "token_f1"]


@dataclasses.dataclass(frozen=True)
class MetricRow:
    """A row of `METRICS`.

    Attributes:
      name: its name.
      description: what it is, for --help.
      lower_is_better: whether a lower score is better.
      family: the folder that it shares with metrics of its kind; "" if it has one of its own name.
      highest: the largest possible score; None if there is none.
      without_highest: how a field of the signature begins if it is of a definition without a
        largest possible score, although others have one.
    """

    name: MetricName
    description: str
    lower_is_better: bool = False
    family: str = ""
    highest: float | None = None
    without_highest: tuple[str, ...] = ()

    def highest_of(self, signature: str) -> float | None:
        """The largest possible score of a definition; None if there is none.

        Args:
          signature: that of the definition.
        """
        has_none = any(field.startswith(self.without_highest) for field in signature.split("|"))
        return None if has_none else self.highest


METRICS: Mapping[MetricName, MetricRow] = table(
    MetricRow(
        "bleu",
        "BLEU",
        highest=100,
        # The values of these methods take the place of a precision, and nothing limits them.
        without_highest=("smooth:floor[", "smooth:epsilon[", "smooth:nltk-method1["),
    ),
    MetricRow(
        "chrf",
        "chrF2, the F-score of n-grams of up to 6 characters; or chrF++, with words",
        highest=100,
    ),
    MetricRow("ter", "TER, the edits and shifts of words for each word of the references", True),
    MetricRow("wer", "WER, the error rate of words, as for speech", True, "error_rates"),
    MetricRow("cer", "CER, the error rate of characters", True, "error_rates"),
    MetricRow(
        "exact_match",
        "SQuAD's exact match, the share of right answers",
        family="squad",
        highest=100,
    ),
    MetricRow(
        "token_f1",
        "SQuAD's F1, the mean F-score of the words of answers",
        family="squad",
        highest=100,
    ),
)
"""All metrics, in the order in which they are shown. The first one is the default."""

DEFAULT_METRIC = next(iter(METRICS))


def counts_empty_candidates(metrics: Collection[MetricName]) -> MetricName:
    """Which metric of a run says how many candidates are empty: the first one of the table.

    What is empty can differ: a candidate of spaces has no token, but can have characters. So the
    number must not depend on the order in which the metrics are asked for.
    """
    return next(name for name in METRICS if name in metrics)


class Presentation(Protocol):
    """The module `presentation` of a folder: what tables and reports show of its scores.

    Attributes:
      COUNTS: the fields of its scores with counts. If they are equal, so is the score.
    """

    COUNTS: tuple[str, ...]

    def cells(self, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        """What a table shows beside the score: texts by the names of their columns."""


def kind_of(name: str) -> MetricKind:
    """A metric by its name. It loads the kernel.

    Raises:
      ValueError: there is no such metric.
    """
    kinds: Mapping[str, MetricKind] = _module(name, "kind").KINDS
    return kinds[name]


def presentation_of(name: str) -> Presentation:
    """What tables and reports show of a metric. It does not load the kernel.

    Raises:
      ValueError: there is no such metric.
    """
    return cast(Presentation, _module(name, "presentation"))


def flags_of(name: str) -> Sequence[MetricFlag]:
    """The flags that define a metric. They do not load the kernel.

    Raises:
      ValueError: there is no such metric.
    """
    return cast("Sequence[MetricFlag]", _module(name, "flags").FLAGS)


def _module(name: str, module: str) -> Any:
    require_choice("metric", name, METRICS)
    folder = METRICS[cast(MetricName, name)].family or name
    return importlib.import_module(f"beam_bleu.transforms.metrics.{folder}.{module}")


@dataclasses.dataclass(frozen=True)
class Definition:
    """A metric with one definition of it.

    Attributes:
      name: the metric.
      text: how texts become tokens. The bytes of a model are sent only with the step that counts.
      metric: how sums become a score.
    """

    name: MetricName
    text: TextName
    metric: Metric

    @property
    def kind(self) -> MetricKind:
        """The metric, for any definition."""
        return kind_of(self.name)

    @property
    def counter(self) -> Counter:
        """What counts the columns of the metric."""
        return self.kind.counter([self.metric])

    def score(self, sums: CorpusSums) -> Score:
        """The score of sums, with its uncertainty if the sums have products."""
        return self.kind.score(sums, self.text, self.metric)
