"""chrF: its definition, and how sums become a score.

Popović 2015 (https://aclanthology.org/W15-3049), section 2: chrF = (1 + beta^2) P R / (beta^2 P +
R), with the means P of the precisions and R of the recalls of all orders. As in sacreBLEU, an order
that the candidates or the references are too short for does not count. With `eps_smoothing` chrF is
the mean of the F-scores of all orders, as in Popović's own program.

The columns of each order are the n-grams of the candidate, those of its best reference, and how
many of them match; first the orders of characters, and then those of words.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.definition.choices import require_integer
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis, Metric, Scores, normalization
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import callable_by_compiled, compiled
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.text import NormalizationName, Text, TextName

FIRST_NGRAMS = 2  # the first of three columns for each order
_OF_CANDIDATES, _OF_REFERENCES, _MATCHES = (slice(FIRST_NGRAMS + i, None, 3) for i in range(3))
LARGEST_CHAR_ORDER = LARGEST_WORD_ORDER = 16
LARGEST_BETA = 1000
_EPSILON = 1e-16  # stands for a score of 0, and for a division by 0, with `eps_smoothing`


@dataclasses.dataclass(frozen=True, repr=False)
class ChrfScore(Score):
    """chrF and its parts. `Score` explains the other attributes.

    Attributes:
      score: chrF, 0..100, not rounded.
      hyp_ngrams: n-grams in the candidates: those of characters for each order from 1 on, and then
        those of words.
      ref_ngrams: those in the references, for each segment in the one with the best score.
      matches: those that both have.
    """

    hyp_ngrams: tuple[int, ...]
    ref_ngrams: tuple[int, ...]
    matches: tuple[int, ...]

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
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
      normalize: "nfc" or "nfkc", before all other steps and again after lower-casing, or None.
      word_order: the largest order of n-grams of words, 0..16; 0 for none, 2 for chrF++.
      whitespace: whether white space counts as characters.
      lowercase: whether all texts are lower-cased, like `str.lower`.
      eps_smoothing: whether all orders count, and the score is the mean of their F-scores.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    highest = 100
    is_in_sacrebleu = True
    score_type = ChrfScore
    LENGTHS = ("character", FIRST_NGRAMS, FIRST_NGRAMS + 1)

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
        return Text("char", self.lowercase, normalize=self.normalize)

    @property
    def name(self) -> str:
        """The name for readers, with beta and a plus sign for each order of words: "chrF2++"."""
        return f"chrF{self.beta}{'+' * self.word_order}"

    @property
    def orders(self) -> int:
        return self.char_order + self.word_order

    @property
    def basis(self) -> Basis:
        ngrams = (
            f"{name}_{n}" for n in range(1, self.orders + 1) for name in ("hyp", "ref", "match")
        )
        return Basis(("segments", "empty_candidates", *ngrams))

    def value(self, sums: Sequence[Number]) -> Number:
        if sums[SEGMENTS] == 0:
            return 0.0
        ngrams = sums[_OF_CANDIDATES], sums[_OF_REFERENCES]
        return f_score(*ngrams, sums[_MATCHES], self.beta, self.eps_smoothing)

    def values(self, sums: Integers) -> Scores:
        scores = np.empty(len(sums))
        of_row = np.empty((3, self.orders), np.int64)
        score_rows(np.ascontiguousarray(sums), self.beta, self.eps_smoothing, scores, of_row)
        return scores

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        return "" if any(sums[_MATCHES]) else "no character of a candidate is in its references"

    def why_zero(self, columns: Sequence[int], parts: Mapping[str, Any]) -> str:
        if parts["score"]:
            return ""
        if not columns[FIRST_NGRAMS]:
            return "the score is 0: no candidate has a character that can match"
        return (
            "the score is 0: no character of a candidate is in its references; "
            "check that they are of the same segments"
        )

    def signed(self, text: TextName) -> Mapping[str, str]:
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
        ngrams = {"hyp_ngrams": _OF_CANDIDATES, "ref_ngrams": _OF_REFERENCES}
        return {
            name: tuple(columns[orders]) for name, orders in {**ngrams, "matches": _MATCHES}.items()
        }


def f_score(
    hyp_ngrams: Sequence[Number],
    ref_ngrams: Sequence[Number],
    matches: Sequence[Number],
    beta: int,
    eps_smoothing: bool,
) -> Number:
    factor = beta * beta
    orders = len(matches)
    score = precisions = recalls = 0.0
    counted = 0
    for n in range(orders):
        hyp, ref, match = hyp_ngrams[n], ref_ngrams[n], matches[n]
        if eps_smoothing:
            precision = match / hyp if hyp > 0 else _EPSILON
            recall = match / ref if ref > 0 else _EPSILON
            denominator = factor * precision + recall
            if denominator > 0:
                score += (1 + factor) * precision * recall / denominator
            else:
                score += _EPSILON
        elif hyp > 0 and ref > 0:
            precisions += match / hyp
            recalls += match / ref
            counted += 1
    if eps_smoothing:
        return 100 * score / orders
    if counted == 0 or precisions + recalls == 0:
        return 0.0
    precisions /= counted
    recalls /= counted
    score = (1 + factor) * precisions * recalls
    score /= factor * precisions + recalls
    return 100 * score


callable_by_compiled(f_score)  # it uses only loops and numbers


@compiled
def score_rows(columns, beta, eps_smoothing, scores, of_row):
    # Each row is copied to the same arrays, because a view of an array takes longer.
    hyp_ngrams, ref_ngrams, matches = of_row[0], of_row[1], of_row[2]
    for row in range(len(columns)):
        for n in range(len(matches)):
            first = FIRST_NGRAMS + 3 * n
            hyp_ngrams[n] = columns[row, first]
            ref_ngrams[n] = columns[row, first + 1]
            matches[n] = columns[row, first + 2]
        scores[row] = 0.0
        if columns[row, SEGMENTS] != 0:
            scores[row] = f_score(hyp_ngrams, ref_ngrams, matches, beta, eps_smoothing)
