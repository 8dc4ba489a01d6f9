"""The definition of BLEU in use: every choice that changes a number."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.definition.cases import Lowercase
from beam_bleu.transforms.definition.normalizations import NormalizationName
from beam_bleu.transforms.definition.reference_lengths import ReferenceLengthName
from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.definition.sentencepiece_model import SentencePieceModel
from beam_bleu.transforms.definition.smoothing import SmoothMethodName
from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.definition.tokenizers import TokenizerName


@dataclasses.dataclass(frozen=True)
class BleuConfig:
    """A definition of BLEU; the default is sacreBLEU's.

    `docs/definitions.md` has the formula and the source of each choice, and
    `beam_bleu.transforms.definition.presets` the definitions of other tools by name.

    Attributes:
      tokenize: "13a" (mteval-v13a, WMT's), "intl" (mteval-v14, Unicode's
        punctuation), "zh" (each Chinese character, and 13a), "char" (each
        character), "none" (split at white space only), "ascii-space" (at ASCII
        white space only, as Perl does), "ja-mecab" or "ko-mecab" (sacreBLEU's,
        with its dictionaries) or "spm" (`spm_model`'s pieces).
      lowercase: whether texts are lower-cased first, as `str.lower` does; "ascii"
        for A-Z only.
      smooth_method: what becomes of an order without matches: "exp" (halved
        again at each such order, as mteval-v13a), "floor" (`smooth_value`
        matches), "add-k" (`smooth_value` added to matches and totals of every
        order above 1), "none", "add-k-all" (added to those of every order),
        "epsilon" (precision `smooth_value`), "mteval" ("exp" as the Perl script
        has it: also where nothing matches, and with precision 1 where there is no
        n-gram), "leave-out" (its logarithm is left out of the sum, as NLTK once
        did) or "nltk-method0" to "nltk-method7" (those of NLTK's
        SmoothingFunction; 5, 6 and 7 for single segments only).
      smooth_value: the value of the methods that take one; None for their default.
      max_ngram_order: the largest n-gram order N, 1..16.
      effective_order: whether orders longer than every candidate are left out.
      normalize: "nfc" or "nfkc", the Unicode normalization of all texts before
        anything else is done with them; None for none.
      reference_length: which length a segment's references count with: that of
        the reference "closest" in length to the candidate (of two the shorter)
        or "closest_first" (of two the first), the "shortest", the "longest" or
        the "average" one.
      weights: the weights of the orders' logarithms, N numbers that need not sum
        to 1, of which an order of weight 0 is ignored; None for 1/N each.
      spm_model: the model of the tokenizer "spm".

    Raises:
      ValueError: a field has a value that means nothing; it is shown with the choices.
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
        # These two check their fields.
        _ = self.text, self.scoring

    @property
    def text(self) -> Text:
        """What makes tokens of a text."""
        return Text(self.tokenize, self.lowercase, self.normalize, self.spm_model)

    @property
    def scoring(self) -> Scoring:
        """What makes a number of sums."""
        return Scoring(
            self.smooth_method,
            self.smooth_value,
            self.max_ngram_order,
            self.effective_order,
            self.reference_length,
            self.weights,
        )
