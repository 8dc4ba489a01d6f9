"""chrF as a `Metric`: its definition, and how sums become a score."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction

from beam_bleu.transforms.metrics.chrf.columns import (
    EMPTY,
    FIRST_NGRAMS,
    ChrfColumns,
    width,
)
from beam_bleu.transforms.metrics.chrf.formula import f_score
from beam_bleu.transforms.metrics.chrf.row_scores import row_scores
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Lengths, Metric, Scores
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.text.text import NormalizationName, Text

LARGEST_CHAR_ORDER = LARGEST_WORD_ORDER = 16
LARGEST_BETA = 1000
"""Long before it, the score is the recall in all digits that anybody shows."""


@dataclasses.dataclass(frozen=True)
class Chrf(Metric):
    """How sums become chrF; the default is sacreBLEU's chrF2. See `Metric`.

    `ChrfConfig` explains the attributes. All of them are here, because the choice of the best
    reference depends on them: sums with other values are other sums.

    Raises:
      ValueError: a field has an impossible value.
    """

    char_order: int = 6
    beta: int = 2
    word_order: int = 0
    whitespace: bool = False
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (
            ("char_order", 1, LARGEST_CHAR_ORDER),
            ("beta", 1, LARGEST_BETA),
            ("word_order", 0, LARGEST_WORD_ORDER),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"{name} must be {least} to {most}, an int, got {value!r}")
        for name in ("whitespace", "eps_smoothing"):
            if type(getattr(self, name)) is not bool:
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")

    @property
    def name(self) -> str:
        """The name for readers, with beta and a plus sign for each order of words: "chrF2++"."""
        return f"chrF{self.beta}{'+' * self.word_order}"

    @property
    def orders(self) -> int:
        """The number of orders of characters and words."""
        return self.char_order + self.word_order

    def value(self, sums: Sequence[Number]) -> Number:
        """chrF, 0..100."""
        self._require_width(len(sums))
        if sums[SEGMENTS] == 0:
            return 0.0
        chrf = ChrfColumns(sums)
        return f_score(
            chrf.hyp_ngrams, chrf.ref_ngrams, chrf.matches, self.beta, self.eps_smoothing
        )

    def values(self, sums: Integers) -> Scores:
        """The chrF of each row."""
        self._require_width(sums.shape[1])
        return row_scores(sums, self.beta, self.eps_smoothing)

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Without a match there is nothing that changes smoothly."""
        matches = any(ChrfColumns(sums).matches)
        return "" if matches else "no character of a candidate is in its references"

    def used(self, width: int) -> Sequence[int]:
        """The n-grams and matches."""
        return range(FIRST_NGRAMS, width)

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many characters the texts of a corpus have."""
        chrf = ChrfColumns(columns)
        references = Fraction(chrf.ref_ngrams[0])
        return Lengths("character", chrf.hyp_ngrams[0], references, columns[EMPTY])

    def _require_width(self, columns: int) -> None:
        if columns != width(self.orders):
            of_words = f" and {self.word_order} of words" if self.word_order else ""
            raise ValueError(
                f"{self.name} of order {self.char_order}{of_words} needs {width(self.orders)} "
                f"columns, got {columns}"
            )


@dataclasses.dataclass(frozen=True)
class ChrfConfig:
    """A definition of chrF; the default is sacreBLEU's, chrF2.

    Attributes:
      char_order: the largest order of n-grams of characters, 1..16.
      beta: how many times as important as precision recall is, 1..1000.
      normalize: the Unicode normalization of all texts, before all other steps and again after
        lower-casing: "nfc" or "nfkc"; None if texts are not normalized.
      word_order: the largest order of n-grams of words, 0..16; 0 for none, 2 for chrF++.
      whitespace: whether white space counts as characters.
      lowercase: whether all texts are lower-cased, like `str.lower`.
      eps_smoothing: whether all orders count, and the score is the mean of their F-scores.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import ChrfConfig, CorpusChrf
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusChrf.Globally(ChrfConfig(word_order=2))
      ...         | beam.Map(print)
      ...     )
      chrF2++ 87.2  ratio 1.133  hyp_chars 17  ref_chars 15  segments 1  warnings 1
    """

    char_order: int = Chrf.char_order
    beta: int = Chrf.beta
    normalize: NormalizationName | None = Text.normalize
    word_order: int = Chrf.word_order
    whitespace: bool = Chrf.whitespace
    lowercase: bool = False
    eps_smoothing: bool = Chrf.eps_smoothing

    def __post_init__(self) -> None:
        if type(self.lowercase) is not bool:
            raise ValueError(f"lowercase must be True or False, got {self.lowercase!r}")
        # Text and Chrf check the other fields.
        _ = self.text, self.metric

    @property
    def text(self) -> Text:
        """The part that turns texts into characters, which are tokens here."""
        return Text("char", self.lowercase, normalize=self.normalize)

    @property
    def metric(self) -> Chrf:
        """The part that turns sums into a score."""
        return Chrf(
            self.char_order, self.beta, self.word_order, self.whitespace, self.eps_smoothing
        )
