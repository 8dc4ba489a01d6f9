"""Exact match and token F1 as a `Metric` each: their definitions, and the formulas.

Rajpurkar et al. 2016 (https://aclanthology.org/D16-1264), section 6.1: the means over all
questions, in percent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Lengths, Metric, require_width
from beam_bleu.transforms.metrics.squad.columns import (
    CANDIDATE_LENGTH,
    EMPTY,
    EXACT,
    F1_HIGH,
    F1_LOW,
    REFERENCE_LENGTH,
    exact_match_basis,
    token_f1_basis,
)
from beam_bleu.transforms.native.fixed_point import fixed_point_mean
from beam_bleu.transforms.text.text import NormalizationName, Text
from beam_bleu.transforms.text.tokenizers import SquadName


@dataclasses.dataclass(frozen=True)
class ExactMatch(Metric):
    """How sums become exact match: there is nothing to choose. See `Metric`."""

    name = "exact match"
    WIDTH = exact_match_basis().width

    def value(self, sums: Sequence[Number]) -> Number:
        """Exact match, 0..100; 0 without a segment."""
        require_width(self.name, len(sums), self.WIDTH)
        return 100 * sums[EXACT] / sums[SEGMENTS] if sums[SEGMENTS] > 0 else 0.0

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """A candidate must be right."""
        return "" if sums[EXACT] else "no candidate equals a reference"

    def used(self, width: int) -> Sequence[int]:
        """The segments and those with an exact match."""
        return SEGMENTS, EXACT

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many candidates have a word. The columns do not tell how many words there are."""
        with_words = columns[SEGMENTS] - columns[EMPTY]
        return Lengths("word", with_words, Fraction(0), columns[EMPTY])


@dataclasses.dataclass(frozen=True)
class TokenF1(Metric):
    """How sums become token F1: there is nothing to choose. See `Metric`."""

    name = "token F1"
    WIDTH = token_f1_basis().width

    def value(self, sums: Sequence[Number]) -> Number:
        """Token F1, 0..100; 0 without a segment."""
        require_width(self.name, len(sums), self.WIDTH)
        if not sums[SEGMENTS] > 0:
            return 0.0
        # Percent before the division, so that there is one rounding, as for exact match.
        return fixed_point_mean(100 * sums[F1_HIGH], 100 * sums[F1_LOW], sums[SEGMENTS])

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """A candidate must have an F1 above 0."""
        has_words = sums[F1_HIGH] or sums[F1_LOW]
        return "" if has_words else "no word of a candidate is in its references"

    def used(self, width: int) -> Sequence[int]:
        """The segments and their F1."""
        return SEGMENTS, F1_HIGH, F1_LOW

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many words the texts of a corpus have."""
        references = Fraction(columns[REFERENCE_LENGTH])
        return Lengths("word", columns[CANDIDATE_LENGTH], references, columns[EMPTY])


@dataclasses.dataclass(frozen=True)
class _Config:
    """What the definitions of exact match and token F1 have in common."""

    _TOKENIZER: ClassVar[SquadName]

    normalize: NormalizationName | None = Text.normalize

    def __post_init__(self) -> None:
        _ = self.text  # Text checks the field

    @property
    def text(self) -> Text:
        """The part that turns texts into words."""
        return Text(self._TOKENIZER, lowercase=True, normalize=self.normalize)


@dataclasses.dataclass(frozen=True)
class ExactMatchConfig(_Config):
    """A definition of exact match; the default is SQuAD's.

    Attributes:
      normalize: the Unicode normalization of all texts, before all other steps and again after
        lower-casing: "nfc" or "nfkc"; None if texts are not normalized.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, ExactMatchConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the Cat!", ["A dog", "a cat"])])
      ...         | CorpusScore.Globally(ExactMatchConfig())
      ...         | beam.Map(print)
      ...     )
      exact match 100.0  exact_matches 1  segments 1  warnings 1
    """

    _TOKENIZER = "squad-whole"

    @property
    def metric(self) -> ExactMatch:
        """The part that turns sums into a score."""
        return ExactMatch()


@dataclasses.dataclass(frozen=True)
class TokenF1Config(_Config):
    """A definition of token F1; the default is SQuAD's. See `ExactMatchConfig`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, TokenF1Config
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the big cat", ["A dog", "a cat"])])
      ...         | CorpusScore.Globally(TokenF1Config())
      ...         | beam.Map(print)
      ...     )
      token F1 66.7  common_words 1  hyp_words 2  ref_words 1  segments 1  warnings 1
    """

    _TOKENIZER = "squad"

    @property
    def metric(self) -> TokenF1:
        """The part that turns sums into a score."""
        return TokenF1()
