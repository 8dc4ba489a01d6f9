"""The metrics of ROUGE as a `Metric` each: their definitions, and the formula.

The score of a corpus is the mean of the F-scores of its segments, in percent. rouge_score itself
scores segments; its `BootstrapAggregator` estimates their mean.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Lengths, Metric, require_width
from beam_bleu.transforms.metrics.rouge.columns import (
    CANDIDATE_LENGTH,
    EMPTY,
    F_HIGH,
    F_LOW,
    HITS,
    REFERENCE_LENGTH,
    WIDTH,
)
from beam_bleu.transforms.metrics.rouge.count_rows import PAIRS, SUBSEQUENCE, UNION, WORDS
from beam_bleu.transforms.native.fixed_point import fixed_point_mean
from beam_bleu.transforms.text.rouge import IS_STEMMED
from beam_bleu.transforms.text.text import NormalizationName, Text


def mean(sums: Sequence[Number], high: int) -> Number:
    """The mean of a value of all segments, 0..100; 0 without a segment.

    Args:
      sums: W columns, added up over segments.
      high: the first of the two columns of the value.
    """
    if not sums[SEGMENTS] > 0:
        return 0.0
    # Percent before the division, so that there is one rounding.
    return fixed_point_mean(100 * sums[high], 100 * sums[high + 1], sums[SEGMENTS])


@dataclasses.dataclass(frozen=True)
class Rouge(Metric):
    """How sums become a score: there is nothing to choose. See `Metric`.

    Attributes:
      name: its name for readers.
      HIT: what is hit, as count_rows.py numbers it.
      WIDTH: the number of its columns.
    """

    name: ClassVar[str]
    HIT: ClassVar[int]
    WIDTH: ClassVar[int] = WIDTH

    def value(self, sums: Sequence[Number]) -> Number:
        """The mean F-score, 0..100; 0 without a segment."""
        require_width(self.name, len(sums), self.WIDTH)
        return mean(sums, F_HIGH)

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """A candidate must have an F-score above 0."""
        return "" if sums[HITS] else "no candidate has a match in its references"

    def used(self, width: int) -> Sequence[int]:
        """The segments and their F-scores."""
        return SEGMENTS, F_HIGH, F_LOW

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many words the texts of a corpus have."""
        references = Fraction(columns[REFERENCE_LENGTH])
        return Lengths("word", columns[CANDIDATE_LENGTH], references, columns[EMPTY])


@dataclasses.dataclass(frozen=True)
class Rouge1(Rouge):
    """Words in common."""

    name = "ROUGE-1"
    HIT = WORDS


@dataclasses.dataclass(frozen=True)
class Rouge2(Rouge):
    """Pairs of neighbouring words in common."""

    name = "ROUGE-2"
    HIT = PAIRS


@dataclasses.dataclass(frozen=True)
class RougeL(Rouge):
    """The longest common subsequence of words."""

    name = "ROUGE-L"
    HIT = SUBSEQUENCE


@dataclasses.dataclass(frozen=True)
class RougeLsum(Rouge):
    """The union of the longest common subsequences of sentences, which newlines separate."""

    name = "ROUGE-Lsum"
    HIT = UNION
    WIDTH = WIDTH + 1


@dataclasses.dataclass(frozen=True)
class _Config:
    """What the definitions of all metrics of ROUGE have in common."""

    _METRIC: ClassVar[type[Rouge]]

    stemmer: bool = False
    normalize: NormalizationName | None = Text.normalize

    def __post_init__(self) -> None:
        require_flag("stemmer", self.stemmer)
        _ = self.text  # Text checks the other field

    @property
    def text(self) -> Text:
        """The part that turns texts into words."""
        name = next(name for name, is_stemmed in IS_STEMMED.items() if is_stemmed == self.stemmer)
        return Text(name, normalize=self.normalize)

    @property
    def metric(self) -> Rouge:
        """The part that turns sums into a score."""
        return self._METRIC()


@dataclasses.dataclass(frozen=True)
class Rouge1Config(_Config):
    """A definition of ROUGE-1; the default is that of rouge_score.

    Attributes:
      stemmer: whether words of more than 3 characters are stemmed by Porter's stemmer, as NLTK has
        it.
      normalize: the Unicode normalization of all texts, before all other steps:
        "nfc" or "nfkc"; None if texts are not normalized.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, Rouge1Config
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("two cats sat", ["the cat sat"])])
      ...         | CorpusScore.Globally(Rouge1Config(stemmer=True))
      ...         | beam.Map(print)
      ...     )
      ROUGE-1 66.7  precision 66.7  recall 66.7  hits 2  hyp 3  ref 3  segments 1  warnings 1
    """

    _METRIC = Rouge1


@dataclasses.dataclass(frozen=True)
class Rouge2Config(_Config):
    """A definition of ROUGE-2; see `Rouge1Config`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, Rouge2Config
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(Rouge2Config())
      ...         | beam.Map(print)
      ...     )
      ROUGE-2 80.0  precision 80.0  recall 80.0  hits 4  hyp 6  ref 6  segments 1  warnings 1
    """

    _METRIC = Rouge2


@dataclasses.dataclass(frozen=True)
class RougeLConfig(_Config):
    """A definition of ROUGE-L; see `Rouge1Config`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, RougeLConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(RougeLConfig())
      ...         | beam.Map(print)
      ...     )
      ROUGE-L 83.3  precision 83.3  recall 83.3  hits 5  hyp 6  ref 6  segments 1  warnings 1
    """

    _METRIC = RougeL


@dataclasses.dataclass(frozen=True)
class RougeLsumConfig(_Config):
    r"""A definition of ROUGE-Lsum; see `Rouge1Config`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, RougeLsumConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("A cat.\nIt sat.", ["It sat.\nThe cat."])])
      ...         | CorpusScore.Globally(RougeLsumConfig())
      ...         | beam.Map(print)
      ...     )
      ROUGE-Lsum 75.0  precision 75.0  recall 75.0  hits 3  hyp 4  ref 4  segments 1  warnings 1
    """

    _METRIC = RougeLsum
