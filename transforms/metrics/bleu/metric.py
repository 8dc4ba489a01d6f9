"""BLEU: its definition, and how sums become a score by the functions of formula.py."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

from beam_bleu.transforms.definition.choices import require_choice, require_integer
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.bleu.columns import (
    AVERAGE,
    REFERENCE_LENGTHS,
    SHORTEST,
    BleuColumns,
    ReferenceLengthName,
    bleu_basis,
    order_of,
)
from beam_bleu.transforms.metrics.bleu.formula import (
    CORPUS_SMOOTH_METHODS,
    SMOOTH_METHODS,
    SMOOTH_VALUES,
    SmoothMethodName,
    brevity_penalty,
    method_number,
    score_rows,
    smooth,
    weighted_score,
)
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import (
    PARTS_OF_A_TOKEN,
    Basis,
    Lengths,
    Metric,
    Scores,
    normalization,
)
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.library_tokenizers import downloaded_model
from beam_bleu.transforms.text.text import (
    CASES,
    Lowercase,
    NormalizationName,
    SentencePieceModel,
    Text,
    TextName,
)
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, TokenizerName

LARGEST_NGRAM_ORDER = 16
LARGEST_SMOOTH_VALUE = 1_000_000
_SMALLEST_DIVISOR = 1e-6
_ALMOST_0 = 1e-9
"""A score up to this one is almost 0: a tiny number has replaced a precision of 0."""


@dataclasses.dataclass(frozen=True, repr=False)
class BleuScore(Score):
    """BLEU and its parts. `Score` explains the other attributes.

    Attributes:
      score: BLEU, 0..100, not rounded (100.00000000000004 can occur, as in sacreBLEU).
      precisions: the (smoothed) n-gram precisions, 0..100; precisions[n - 1] is of order n.
      matches: clipped n-gram matches before smoothing; matches[n - 1] is of order n.
      totals: n-grams in the candidates before smoothing; totals[n - 1] is of order n.
      bp: the brevity penalty, 0..1.
      ratio: sys_len / ref_len, 0.0 if ref_len is 0.
      sys_len: tokens in the candidates.
      ref_len: tokens in the references, by the rule of the definition; a float if it is the
        average.
    """

    precisions: tuple[float, ...]
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    bp: float
    ratio: float
    sys_len: int
    ref_len: int | float

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        ref_len = score["ref_len"]
        precisions = [f"{precision:.{decimals}f}" for precision in score["precisions"]]
        return {
            "precisions": "/".join(precisions),
            "BP": f"{score['bp']:.3f}",
            "ratio": f"{score['ratio']:.3f}",
            "hyp_len": str(score["sys_len"]),
            "ref_len": str(ref_len) if isinstance(ref_len, int) else f"{ref_len:.1f}",
        }


@dataclasses.dataclass(frozen=True)
class BleuConfig(Metric):
    """A definition of BLEU; the default is sacreBLEU's.

    `docs/metrics.md` has the formula, all choices and their sources.
    `preset` gives the definitions of other tools by name.

    Attributes:
      tokenize: how texts are split into tokens, a name of `TOKENIZERS`: by default "13a",
        the rules of mteval-v13a, which WMT uses.
      lowercase: whether texts are lower-cased first, as `str.lower` does; "ascii" for A-Z only.
      smooth_method: what happens with an order without matches, a name of `SMOOTH_METHODS`:
        by default "exp", with which the k-th such order gets 1/2^k matches.
      smooth_value: the value of the methods that take one; None for their default.
      max_ngram_order: the largest n-gram order N, 1..16.
      effective_order: whether orders longer than every candidate are left out.
      normalize: "nfc" or "nfkc", before all other steps and again after lower-casing, or None.
      reference_length: which length counts if a segment has several references, a name of
        `REFERENCE_LENGTHS`: by default the one "closest" to the candidate's (or the shorter one).
      weights: the weights of the orders' logarithms, N numbers. Their sum need not be 1. An order
        with weight 0 is ignored. None for 1/N each.
      spm_model: the model for the tokenizer "spm"; for "flores200" and the like, by default the one
        that sacreBLEU has downloaded.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
      InputError: sacreBLEU has not downloaded the model.
    """

    score_type = BleuScore
    name = "BLEU"
    is_tokenized = True
    picks_reference = False

    tokenize: TokenizerName = choice(
        Text.tokenize,
        f"how text is split into tokens: {', '.join(TOKENIZERS)}",
        "NAME",
        "-tok",
        choices=tuple(TOKENIZERS),
        of_text=True,
    )
    lowercase: Lowercase = choice(
        Text.lowercase,
        switches=[
            {"name": case.flag, "help": case.description, "short": case.short, "value": value}
            for value, case in CASES.items()
        ],
        of_text=True,
    )
    smooth_method: SmoothMethodName = choice(
        "exp",
        f"how orders without matches are smoothed: {', '.join(CORPUS_SMOOTH_METHODS)}",
        "NAME",
        "-s",
        choices=CORPUS_SMOOTH_METHODS,
        changes_sums=False,
    )
    smooth_value: float | None = choice(
        None,
        "the value of the smoothing method",
        "VALUE",
        "-sv",
        convert=float,
        shown_default="default: "
        + ", ".join(f"{name} {value}" for name, value in SMOOTH_VALUES.items()),
        changes_sums=False,
    )
    max_ngram_order: int = choice(
        4,
        f"1 to {LARGEST_NGRAM_ORDER}, or the number of --weights",
        "N",
        convert=int,
        changes_sums=False,
    )
    effective_order: bool = choice(
        False,
        switches=[
            {"help": "leave out orders longer than every candidate"},
            {
                "name": "no_effective_order",
                "help": "keep orders longer than every candidate, even if the preset leaves them "
                "out",
                "value": False,
            },
        ],
        changes_sums=False,
    )
    normalize: NormalizationName | None = normalization()
    reference_length: ReferenceLengthName = choice(
        "closest",
        f"which length counts if a segment has several references: {', '.join(REFERENCE_LENGTHS)}",
        "RULE",
        choices=tuple(REFERENCE_LENGTHS),
        changes_sums=False,
    )
    weights: tuple[float, ...] | None = choice(
        None,
        "the weight of each order; an order with weight 0 is ignored",
        "W,W,...",
        convert=lambda text: tuple(map(float, text.split(","))),
        shown_default="default 1/N each",
        changes_sums=False,
    )
    spm_model: SentencePieceModel | None = choice(
        None,
        "the SentencePiece model for --tokenize spm, or in place of the one that sacreBLEU has "
        "downloaded",
        "FILE",
        of_text=True,
    )

    def __post_init__(self) -> None:
        require_choice("tokenize", self.tokenize, TOKENIZERS)
        if self.spm_model is None:  # found here, because workers may not have it
            object.__setattr__(self, "spm_model", downloaded_model(self.tokenize))
        super().__post_init__()
        require_choice("smooth_method", self.smooth_method, SMOOTH_METHODS)
        require_choice("reference_length", self.reference_length, REFERENCE_LENGTHS)
        order, method = self.max_ngram_order, SMOOTH_METHODS[self.smooth_method]
        require_integer("max_ngram_order", order, 1, LARGEST_NGRAM_ORDER)
        if order < method.smallest_order:
            raise ValueError(
                f"{self.smooth_method} needs a max_ngram_order of {method.smallest_order} "
                f"or more, got {order}"
            )
        if self.effective_order and not method.takes_effective_order:
            raise ValueError(
                f"effective_order cannot be used with smooth_method {self.smooth_method!r}: "
                "this method has its own rule for orders longer than the candidates"
            )
        if self.smooth_value is not None:
            self._require_smooth_value(self.smooth_value)
        if self.weights is not None:
            self._require_weights(self.weights)

    def _require_smooth_value(self, value: object) -> None:
        method = SMOOTH_METHODS[self.smooth_method]
        if method.value is None:
            raise ValueError(
                f"smooth_value {value} cannot be used with smooth_method "
                f"{self.smooth_method!r}; it is for {', '.join(SMOOTH_VALUES)}"
            )
        least = _SMALLEST_DIVISOR if method.divides_by_value else 0
        if not _is_number(value) or not least <= value <= LARGEST_SMOOTH_VALUE:
            raise ValueError(
                f"smooth_value must be {least} to {LARGEST_SMOOTH_VALUE} for smooth_method "
                f"{self.smooth_method!r}, got {value!r}"
            )

    def _require_weights(self, weights: Any) -> None:
        # With much larger weights, a score could be larger than the largest float.
        order, most = self.max_ngram_order, LARGEST_NGRAM_ORDER
        are_numbers = (
            isinstance(weights, tuple)
            and len(weights) == order
            and all(_is_number(weight) and weight >= 0 for weight in weights)
        )
        # Not `sum`, which compensates for rounding since Python 3.12: 6.2 + 7.4 + 0.3 + 2.1.
        if not are_numbers or not 0 < max(weights) <= most or math.fsum(weights) > most:
            raise ValueError(
                f"weights must be a tuple of max_ngram_order = {order} numbers, 0 or more, that "
                f"sum to {most} at most, and not to 0, got {weights!r}"
            )

    @property
    def text(self) -> Text:
        return Text(self.tokenize, self.lowercase, self.normalize, self.spm_model)

    @property
    def counted_order(self) -> int:
        return max(self.max_ngram_order, SMOOTH_METHODS[self.smooth_method].counted_order)

    @property
    def basis(self) -> Basis:
        return bleu_basis(self.counted_order)

    def reference_lengths(self, counts: Integers) -> Integers:
        above: Integers = counts[0, :, AVERAGE]
        shortest: Integers = counts[0, :, SHORTEST]
        return shortest + above // PARTS_OF_A_TOKEN if above.any() else shortest.copy()

    @property
    def effective_smooth_value(self) -> float:
        if self.smooth_value is not None:
            return self.smooth_value
        return SMOOTH_METHODS[self.smooth_method].value or 0.0

    def changed(self, **changes: Any) -> BleuConfig:
        if isinstance(changes.get("weights"), tuple):
            changes.setdefault("max_ngram_order", len(changes["weights"]))
        if changes.get("smooth_method", self.smooth_method) != self.smooth_method:
            changes.setdefault("smooth_value", None)
        return super().changed(**changes)

    def for_segments(self, **changes: Any) -> BleuConfig:
        """The definition of single segments: with effective order, if the smoothing allows it."""
        method = changes.get("smooth_method", self.smooth_method)
        require_choice("smooth_method", method, SMOOTH_METHODS)
        has_effective_order = SMOOTH_METHODS[method].takes_effective_order
        return self.changed(**{"effective_order": has_effective_order, **changes})

    def require_corpus(self) -> None:
        if SMOOTH_METHODS[self.smooth_method].segments_only:
            raise ValueError(
                f"smooth_method {self.smooth_method!r} is for segment scores only: for a corpus, "
                "NLTK computes it from the text of the last segment; use one of "
                f"{', '.join(CORPUS_SMOOTH_METHODS)}"
            )

    @property
    def highest(self) -> float | None:
        """100; None if the value of the smoothing, which has no limit, replaces a precision."""
        return 100 if SMOOTH_METHODS[self.smooth_method].has_highest else None

    def value(self, sums: Sequence[Number]) -> Number:
        return self._scored(BleuColumns(sums))[0]

    def _scored(self, bleu: BleuColumns) -> tuple[Number, Sequence[Number], Number]:
        precisions, orders = self._smoothed(bleu)
        bp = brevity_penalty(bleu.candidate_length, *bleu.reference_length(self.reference_length))
        method, weights = method_number(self.smooth_method), self.weights or ()
        return weighted_score(method, weights, precisions, orders, bp), precisions, bp

    def _smoothed(self, bleu: BleuColumns) -> tuple[Sequence[Number], int]:
        """The precisions, and the number of orders that count; 0 if nothing matches."""
        self.require_corpus()
        self._require_order(bleu.max_order)
        precisions: list[Number] = [0.0] * self.max_ngram_order
        orders = smooth(
            method_number(self.smooth_method),
            self.effective_smooth_value,
            self.effective_order,
            self.weights or (),
            bleu.matches,
            bleu.totals,
            bleu.short_candidates,
            bleu.candidate_length,
            precisions,
        )
        return precisions, orders

    def _require_order(self, order: int) -> None:
        if order < self.counted_order:
            raise ValueError(
                f"sums of order {order} cannot be scored by a definition that needs order "
                f"{self.counted_order}"
            )

    def values(self, sums: Integers) -> Scores:
        self.require_corpus()
        return self.segment_scores(sums)

    def segment_scores(self, rows: Integers) -> Scores:
        """Equal to sacreBLEU's `sentence_score`, or 100 times NLTK's `sentence_bleu`."""
        order = order_of(rows.shape[1])
        self._require_order(order)
        scores, length = np.empty(len(rows)), REFERENCE_LENGTHS[self.reference_length]
        score_rows(
            method_number(self.smooth_method),
            float(self.effective_smooth_value),
            self.effective_order,
            np.array(self.weights or (), np.float64),
            np.ascontiguousarray(rows),
            np.array(length.columns, np.int64),
            length.divisor,
            scores,
            np.empty(self.max_ngram_order, np.float64),
            np.empty((3, order), np.int64),
        )
        return scores

    def _missing_order(self, bleu: BleuColumns) -> int:
        """The first order with a weight that has no match; 0 if there is none."""
        weights = self.weights or (1.0,) * self.max_ngram_order
        orders = (order for order, weight in enumerate(weights, 1) if weight)
        return next((order for order in orders if not bleu.matches[order - 1]), 0)

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Every order that counts must have a match. Otherwise smoothing decides the score."""
        bleu = BleuColumns(sums)
        _, orders = self._smoothed(bleu)
        if not bleu.candidate_length:
            return "no candidate has a token"
        missing = self._missing_order(bleu)
        if not missing or missing > orders > 0:
            return ""
        if not orders and self.effective_order and not bleu.totals[missing - 1]:
            return "no candidate is as long as the n-grams that have a weight"
        return f"no {missing}-gram of a candidate is in its references"

    def lengths(self, columns: Sequence[int]) -> Lengths:
        bleu = BleuColumns(columns)
        references = Fraction(*bleu.reference_length(self.reference_length))
        return Lengths("token", bleu.candidate_length, references, bleu.short_candidates[0])

    def parts(self, columns: Sequence[int]) -> Mapping[str, Any]:
        bleu = BleuColumns(columns)
        score, precisions, bp = self._scored(bleu)
        ref_len, divisor = bleu.reference_length(self.reference_length)
        return {
            "score": score,
            "precisions": tuple(precisions),
            "bp": bp,
            "ratio": bleu.candidate_length * divisor / ref_len if ref_len else 0.0,
            **self.segment_parts(columns),
        }

    def why_zero(self, columns: Sequence[int], parts: Mapping[str, Any]) -> str:
        score, bleu = parts["score"], BleuColumns(columns)
        if score > _ALMOST_0:
            return ""
        is_zero = f"the score is {'almost ' if score else ''}0"
        if not bleu.candidate_length:
            return f"{is_zero}: no candidate has a token"
        if not any(bleu.matches):
            return (
                f"{is_zero}: no n-gram of a candidate is in its references; "
                "check that they are of the same segments"
            )
        order = self._missing_order(bleu)
        if not order:
            return (
                f"{is_zero}: the candidates are many times shorter than the references, or the "
                "weights are large"
            )
        if not bleu.totals[order - 1]:
            return (
                f"{is_zero}: no candidate has {order} tokens; for short answers use exact_match, "
                "for a corpus so short effective_order or a smaller max_ngram_order"
            )
        return (
            f"{is_zero}: no {order}-gram of a candidate is in its references; for a corpus "
            "so short or so far from them use another smooth_method or a smaller max_ngram_order"
        )

    def signed(self, text: TextName) -> Mapping[str, str]:
        value = self.effective_smooth_value + 0.0  # turns -0.0 into 0.0
        # sacreBLEU rounds to two digits. If that changes the value, all digits are written.
        rounded = f"{value:.2f}"
        return self._signed(text, rounded if float(rounded) == value else repr(value))

    def _signed(self, text: TextName, value: str) -> dict[str, str]:
        tokenizer, method = text.tokenizer, self.smooth_method
        takes_value = SMOOTH_METHODS[method].value is not None
        return {
            "eff": "yes" if self.effective_order else "no",
            "tok": tokenizer.signed(text.model),
            "smooth": f"{method}[{value}]" if takes_value else method,
        }

    def signed_beyond(self, text: TextName) -> Mapping[str, str]:
        fields: dict[str, str] = {}
        if text.normalize is not None:
            fields["norm"] = text.normalize
        if not REFERENCE_LENGTHS[self.reference_length].in_sacrebleu:
            fields["reflen"] = self.reference_length
        if self.max_ngram_order != BleuConfig.max_ngram_order:
            fields["order"] = str(self.max_ngram_order)
        if self.weights is not None:
            fields["weights"] = ",".join(f"{float(weight)!r}" for weight in self.weights)
        return fields

    def sacrebleu_signed(self, text: TextName) -> Mapping[str, str] | None:
        has_it = (
            text.tokenizer.sacrebleu is not None
            and CASES[text.lowercase].in_sacrebleu
            and SMOOTH_METHODS[self.smooth_method].sacrebleu is not None
            and not self.signed_beyond(text).keys() - {"order"}
        )
        # sacreBLEU does not show which model it has downloaded.
        known = dataclasses.replace(text, model="")
        return self._signed(known, f"{self.effective_smooth_value:.2f}") if has_it else None

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        bleu, orders = BleuColumns(columns), self.max_ngram_order
        ref_len, divisor = bleu.reference_length(self.reference_length)
        return {
            "sys_len": bleu.candidate_length,
            "ref_len": ref_len if divisor == 1 else ref_len / divisor,
            "matches": tuple(bleu.matches[:orders]),
            "totals": bleu.totals[:orders],
        }


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
