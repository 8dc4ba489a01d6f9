"""chrF: its definition, and how sums become a score."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from beam_bleu.transforms.definition.choices import require_integer
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.chrf.formula import (
    ChrfColumns,
    f_score,
    score_rows,
)
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import (
    EMPTY,
    SEGMENTS,
    Basis,
    Lengths,
    Metric,
    Scores,
    normalization,
)
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.shown_score import Score, own_fields
from beam_bleu.transforms.text.text import (
    NormalizationName,
    Text,
    TextName,
)

LARGEST_CHAR_ORDER = LARGEST_WORD_ORDER = 16
LARGEST_BETA = 1000
"""Long before it, the score is the recall in all digits that anybody shows."""


@dataclasses.dataclass(frozen=True, repr=False)
class ChrfScore(Score):
    """chrF and its parts. `Score` explains the other attributes.

    Attributes:
      score: chrF, 0..100, not rounded.
      hyp_ngrams: n-grams in the candidates: those of characters for each order from 1 on, and then
        those of words.
      ref_ngrams: those in the references, for each segment in the one with the best score.
      matches: those that both have.

    Examples:
      >>> from beam_bleu import score
      >>> texts, references = ["the cat sat on the mat"], [["A cat sat on the mat"]]
      >>> print(score(texts, references, metrics=["chrf"])["chrf"])
      chrF2 89.0  ratio 1.133  hyp_chars 17  ref_chars 15  segments 1  warnings 1
    """

    hyp_ngrams: tuple[int, ...]
    ref_ngrams: tuple[int, ...]
    matches: tuple[int, ...]

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        """The lengths in characters."""
        hyp, ref = score["hyp_ngrams"][0], score["ref_ngrams"][0]
        ratio = f"{hyp / ref:.3f}" if ref else "0.000"
        return {"ratio": ratio, "hyp_chars": str(hyp), "ref_chars": str(ref)}


@dataclasses.dataclass(frozen=True)
class ChrfConfig(Metric):
    """A definition of chrF; the default is sacreBLEU's, chrF2.

    Of several references of a segment, the best by this definition counts.

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
      >>> from beam_bleu import ChrfConfig, score
      >>> texts, references = ["the cat sat on the mat"], [["A cat sat on the mat"]]
      >>> print(score(texts, references, metrics=[ChrfConfig(word_order=2)])["chrf"])
      chrF2++ 87.2  ratio 1.133  hyp_chars 17  ref_chars 15  segments 1  warnings 1
    """

    highest = 100
    is_in_sacrebleu = True
    score_type = ChrfScore

    char_order: int = choice(
        6,
        f"the largest order of n-grams of characters, 1 to {LARGEST_CHAR_ORDER}",
        "N",
        "-cc",
        name="chrf_char_order",
        convert=int,
    )
    beta: int = choice(
        2,
        f"how many times as important as precision recall is, 1 to {LARGEST_BETA}",
        "N",
        name="chrf_beta",
        convert=int,
        changes_sums=False,
    )
    normalize: NormalizationName | None = normalization()
    word_order: int = choice(
        0,
        f"the largest order of n-grams of words, 0 to {LARGEST_WORD_ORDER}; 2 for chrF++",
        "N",
        "-cw",
        name="chrf_word_order",
        convert=int,
    )
    whitespace: bool = choice(False, "count white space as characters, too", name="chrf_whitespace")
    lowercase: bool = choice(
        False, "lower-case the text before chrF is computed", name="chrf_lowercase", of_text=True
    )
    eps_smoothing: bool = choice(
        False,
        "count all orders, and take the mean of their F-scores, as Popović's program, NLTK "
        "and Moses do",
        name="chrf_eps_smoothing",
        changes_sums=False,
    )

    def __post_init__(self) -> None:
        require_integer("char_order", self.char_order, 1, LARGEST_CHAR_ORDER)
        require_integer("beta", self.beta, 1, LARGEST_BETA)
        require_integer("word_order", self.word_order, 0, LARGEST_WORD_ORDER)
        super().__post_init__()

    @property
    def text(self) -> Text:
        """The part that turns texts into characters, which are tokens here."""
        return Text("char", self.lowercase, normalize=self.normalize)

    @property
    def name(self) -> str:
        """The name for readers, with beta and a plus sign for each order of words: "chrF2++"."""
        return f"chrF{self.beta}{'+' * self.word_order}"

    @property
    def orders(self) -> int:
        """The number of orders of characters and words."""
        return self.char_order + self.word_order

    @property
    def basis(self) -> Basis:
        """The columns of all orders: 1 to N, first those of characters, and then those of words."""
        ngrams = (
            f"{name}_{n}" for n in range(1, self.orders + 1) for name in ("hyp", "ref", "match")
        )
        return Basis(("segments", "empty_candidates", *ngrams))

    def value(self, sums: Sequence[Number]) -> Number:
        """chrF, 0..100."""
        if sums[SEGMENTS] == 0:
            return 0.0
        chrf = ChrfColumns(sums)
        return f_score(
            chrf.hyp_ngrams, chrf.ref_ngrams, chrf.matches, self.beta, self.eps_smoothing
        )

    def values(self, sums: Integers) -> Scores:
        """The chrF of each row."""
        scores = np.empty(len(sums))
        of_row = np.empty((3, self.orders), np.int64)
        score_rows(np.ascontiguousarray(sums), self.beta, self.eps_smoothing, scores, of_row)
        return scores

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Without a match there is nothing that changes smoothly."""
        matches = any(ChrfColumns(sums).matches)
        return "" if matches else "no character of a candidate is in its references"

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many characters the texts of a corpus have."""
        chrf = ChrfColumns(columns)
        references = Fraction(chrf.ref_ngrams[0])
        return Lengths("character", chrf.hyp_ngrams[0], references, columns[EMPTY])

    def why_zero(self, columns: Sequence[int], parts: Mapping[str, Any]) -> str:
        """The reason for a score of 0, or ""."""
        if parts["score"]:
            return ""
        if not self.lengths(columns).candidates:
            return "the score is 0: no candidate has a character that can match"
        return (
            "the score is 0: no character of a candidate is in its references; "
            "check that they are of the same segments"
        )

    def signed(self, text: TextName) -> Mapping[str, str]:
        """The fields of sacreBLEU.

        `eff` says whether orders that are longer than the texts are left out. `nc` and `nw` are the
        orders of characters and of words, and `space` says whether white space counts.
        """
        return {
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": str(self.char_order),
            "nw": str(self.word_order),
            "space": "yes" if self.whitespace else "no",
        }

    def signed_beyond(self, text: TextName) -> Mapping[str, str]:
        """`beta` if it is not 2 (in sacreBLEU the name of the score has it), and `norm`."""
        beta = {} if self.beta == ChrfConfig.beta else {"beta": str(self.beta)}
        return beta if text.normalize is None else {**beta, "norm": text.normalize}

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        """Each part has a number for each order."""
        chrf = ChrfColumns(columns)
        return {name: tuple(getattr(chrf, name)) for name in own_fields(ChrfScore)}
