"""WER and CER as `Metric`s: their definitions, and the formula from integers to a score.

The rates of words and of characters are the edits divided by the length of the reference (Morris et
al. 2004, https://doi.org/10.21437/Interspeech.2004-668, section 2), with the least edits of
Levenshtein 1966. jiwer 4 computes both so (`process_words`), and the results are the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.error_rates.columns import (
    DELETIONS,
    EMPTY,
    INSERTIONS,
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
    WIDTH,
    candidate_length,
    edits_of,
)
from beam_bleu.transforms.metrics.metric import Lengths, Metric, Scores, require_width
from beam_bleu.transforms.native.arrays import EXACT_AS_FLOAT, Integers
from beam_bleu.transforms.text.jiwer import JiwerSymbols, SymbolName
from beam_bleu.transforms.text.text import NormalizationName, Text


@dataclasses.dataclass(frozen=True)
class ErrorRate(Metric):
    """How sums become an error rate: there is nothing to choose. See `Metric`."""

    name: ClassVar[str]
    SYMBOL: ClassVar[SymbolName]

    def value(self, sums: Sequence[Number]) -> Number:
        """The rate in percent, 0 or more.

        If all references are empty, each edit counts as 100 %, as in jiwer.
        """
        require_width(self.name, len(sums), WIDTH)
        length = sums[REFERENCE_LENGTH]
        return 100 * (edits_of(sums) / (length if length > 0 else 1))

    def values(self, sums: Integers) -> Scores:
        """The rate of each row."""
        require_width(self.name, sums.shape[1], WIDTH)
        if sums.max(initial=0) * 3 > EXACT_AS_FLOAT:
            return np.array([self.value(row) for row in sums.tolist()])  # exact integers
        scores: Scores = 100 * (edits_of(sums.T) / np.maximum(sums[:, REFERENCE_LENGTH], 1))
        return scores

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """There must be edits, and symbols in the references."""
        if not edits_of(sums):
            return "no candidate needs an edit"
        return "" if sums[REFERENCE_LENGTH] else f"no reference has a {self.SYMBOL}"

    def used(self, width: int) -> Sequence[int]:
        """The edits and the length of the references."""
        return SUBSTITUTIONS, DELETIONS, INSERTIONS, REFERENCE_LENGTH

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many words or characters the texts of a corpus have."""
        references = Fraction(columns[REFERENCE_LENGTH])
        return Lengths(self.SYMBOL, candidate_length(columns), references, columns[EMPTY])


@dataclasses.dataclass(frozen=True)
class Wer(ErrorRate):
    """The error rate of words."""

    name = "WER"
    SYMBOL = "word"


@dataclasses.dataclass(frozen=True)
class Cer(ErrorRate):
    """The error rate of characters."""

    name = "CER"
    SYMBOL = "character"


@dataclasses.dataclass(frozen=True)
class _Config:
    """What the definitions of WER and CER have in common."""

    _SYMBOL: ClassVar[SymbolName]

    lowercase: bool = False
    no_punct: bool = False
    normalize: NormalizationName | None = Text.normalize

    def __post_init__(self) -> None:
        require_flag("lowercase", self.lowercase)
        _ = self.text  # JiwerSymbols and Text check the other fields

    @property
    def text(self) -> Text:
        """The part that turns texts into words or characters."""
        symbols = JiwerSymbols(self._SYMBOL, self.no_punct)
        return Text(symbols.name, self.lowercase, self.normalize)


@dataclasses.dataclass(frozen=True)
class WerConfig(_Config):
    """A definition of WER; the default is jiwer's.

    Attributes:
      lowercase: whether all texts are lower-cased, like `str.lower`.
      no_punct: whether punctuation marks are removed: the code points of Unicode's category P.
      normalize: the Unicode normalization of all texts, before all other steps and again after
        lower-casing: "nfc" or "nfkc"; None if texts are not normalized.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusScore, WerConfig
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(WerConfig(lowercase=True))
      ...         | beam.Map(print)
      ...     )
      WER 16.7  sub 1  del 0  ins 0  ref 6  segments 1  warnings 1
    """

    _SYMBOL = "word"

    @property
    def metric(self) -> Wer:
        """The part that turns sums into a score."""
        return Wer()


@dataclasses.dataclass(frozen=True)
class CerConfig(_Config):
    """A definition of CER; the default is jiwer's. The attributes are those of `WerConfig`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CerConfig, CorpusScore
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(CerConfig(lowercase=True))
      ...         | beam.Map(print)
      ...     )
      CER 15.0  sub 1  del 0  ins 2  ref 20  segments 1  warnings 1
    """

    _SYMBOL = "character"

    @property
    def metric(self) -> Cer:
        """The part that turns sums into a score."""
        return Cer()
