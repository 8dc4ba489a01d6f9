"""A definition of BLEU: every choice that changes a number."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.metrics.bleu.reference_lengths import ReferenceLengthName
from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.bleu.smoothing import SmoothMethodName
from beam_bleu.transforms.text.text import Lowercase, NormalizationName, SentencePieceModel, Text
from beam_bleu.transforms.text.tokenizers import TokenizerName


@dataclasses.dataclass(frozen=True)
class BleuConfig:
    """A definition of BLEU; the default is sacreBLEU's.

    `docs/definitions.md` has the formula and the source of each choice.
    `beam_bleu.transforms.metrics.bleu.presets` has the definitions of other tools by name.

    Attributes:
      tokenize: how texts are split into tokens: "13a" (the rules of mteval-v13a,
        which WMT uses), "intl" (the rules of mteval-v14 for Unicode punctuation),
        "zh" (each Chinese character, and 13a for the rest), "char" (each
        character), "none" (split at white space only), "ascii-space" (split at
        ASCII white space only, as Perl does), "ja-mecab" or "ko-mecab" (as
        sacreBLEU, with the same dictionaries) or "spm" (the pieces of `spm_model`).
      lowercase: whether texts are lower-cased first, as `str.lower` does; "ascii"
        for A-Z only.
      smooth_method: what happens with an order without matches: "exp" (the k-th
        such order gets 1/2^k matches, as in mteval-v13a),
        "floor" (it gets `smooth_value` matches), "add-k" (`smooth_value` is added
        to the matches and totals of every order above 1), "none", "add-k-all"
        (it is added for every order), "epsilon" (its precision is
        `smooth_value`), "mteval" (as "exp", but also if nothing matches, and
        the precision of an order without n-grams is 1, as in the Perl script),
        "leave-out" (its logarithm is left out of the sum, as in old versions of
        NLTK) or "nltk-method0" to "nltk-method7" (the methods of NLTK's
        SmoothingFunction; 5, 6 and 7 are for single segments only).
      smooth_value: the value of the methods that take one; None for their default.
      max_ngram_order: the largest n-gram order N, 1..16.
      effective_order: whether orders longer than every candidate are left out.
      normalize: the Unicode normalization of all texts, before all other steps:
        "nfc" or "nfkc"; None if texts are not normalized.
      reference_length: which length counts if a segment has several references:
        the one "closest" to the candidate's (if two are equally close, the
        shorter one), "closest_first" (if two are equally close, the first one),
        the "shortest", the "longest" or the "average" one.
      weights: the weights of the orders' logarithms, N numbers. Their sum need not
        be 1. An order with weight 0 is ignored. None for 1/N each.
      spm_model: the model for the tokenizer "spm".

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    tokenize: TokenizerName = Text.tokenize
    lowercase: Lowercase = Text.lowercase
    smooth_method: SmoothMethodName = Scoring.smooth_method
    smooth_value: float | None = Scoring.smooth_value
    max_ngram_order: int = Scoring.max_ngram_order
    effective_order: bool = Scoring.effective_order
    normalize: NormalizationName | None = Text.normalize
    reference_length: ReferenceLengthName = Scoring.reference_length
    weights: tuple[float, ...] | None = Scoring.weights
    spm_model: SentencePieceModel | None = Text.spm_model

    def __post_init__(self) -> None:
        # Text and Scoring check their fields.
        _ = self.text, self.scoring

    @property
    def text(self) -> Text:
        """The part that turns texts into tokens."""
        return Text(self.tokenize, self.lowercase, self.normalize, self.spm_model)

    @property
    def scoring(self) -> Scoring:
        """The part that turns sums into a score."""
        return Scoring(
            self.smooth_method,
            self.smooth_value,
            self.max_ngram_order,
            self.effective_order,
            self.reference_length,
            self.weights,
        )
