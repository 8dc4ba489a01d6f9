"""The definition of BLEU in use: every choice that changes a number."""

from __future__ import annotations

import dataclasses
import hashlib

KERNEL_TOKENIZERS = ("13a", "intl", "zh", "char", "none", "ascii-space")
"""Those that the compiled kernel has."""

LIBRARY_TOKENIZERS = ("ja-mecab", "ko-mecab", "spm")
"""Those of other libraries, called for each text (extras `ja`, `ko` and `spm`)."""

TOKENIZERS = (*KERNEL_TOKENIZERS, *LIBRARY_TOKENIZERS)

NORMALIZATIONS = ("nfc", "nfkc")

REFERENCE_LENGTHS = ("closest", "closest_first", "shortest", "longest", "average")

SACREBLEU_SMOOTH_METHODS = ("exp", "floor", "add-k", "none")
SMOOTH_METHODS = (
    *SACREBLEU_SMOOTH_METHODS,
    *("add-k-all", "epsilon", "mteval"),
    "leave-out",
    *(f"nltk-method{number}" for number in range(8)),
)
SEGMENT_SMOOTH_METHODS = ("nltk-method5", "nltk-method6", "nltk-method7")
"""The methods that smooth the precisions of one segment, and mean nothing to sums."""

CORPUS_SMOOTH_METHODS = tuple(each for each in SMOOTH_METHODS if each not in SEGMENT_SMOOTH_METHODS)

DEFAULT_SMOOTH_VALUES = {
    "floor": 0.1,
    "add-k": 1.0,
    "add-k-all": 1.0,
    "epsilon": 1e-100,
    "nltk-method1": 0.1,
    "nltk-method4": 5.0,
    "nltk-method6": 5.0,
    "nltk-method7": 5.0,
}
"""The methods that take a value, and what it is by default in the tool they come from.

sacreBLEU's and NLTK's are those of Chen & Cherry 2014; NLTK calls its values
epsilon (method 1), k (4 and 7) and alpha (6).
"""

_DIVIDED_BY_VALUE = ("nltk-method4", "nltk-method6", "nltk-method7")
"""The methods that divide by their value."""

_SMALLEST_DIVISOR = 1e-6

_WITHOUT_EFFECTIVE_ORDER = tuple(
    each for each in SMOOTH_METHODS if each == "leave-out" or each.startswith("nltk-")
)

LARGEST_NGRAM_ORDER = 16
LARGEST_SMOOTH_VALUE = 1_000_000
_LARGEST_SUM_OF_WEIGHTS = LARGEST_NGRAM_ORDER
"""Far more could be beyond the largest float."""

_ORDER_BEYOND = 5
"""The order that NLTK's methods 5 and 7 count in any case."""


@dataclasses.dataclass(frozen=True)
class SentencePieceModel:
    """A model of SentencePiece, as it travels with a job.

    Attributes:
      digest: the first 16 hexadecimal digits of its SHA-256.
      data: the bytes of its file; None where only its name is needed.

    Raises:
      ValueError: the digest is another one.
    """

    digest: str
    data: bytes | None = dataclasses.field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.data is not None and self.digest != _digest(self.data):
            raise ValueError(
                f"the digest of a SentencePieceModel must be that of its data, "
                f"{_digest(self.data)}, got {self.digest!r}: make it by SentencePieceModel.of"
            )

    @classmethod
    def of(cls, data: bytes) -> SentencePieceModel:
        """The model in a file of these bytes.

        Raises:
          ValueError: they are not bytes.
        """
        if not isinstance(data, bytes):
            raise ValueError(
                f"data must be the bytes of a model's file, got {data!r}, "
                f"of type {type(data).__name__}"
            )
        return cls(_digest(data), data)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


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
      smooth_value: the value of the methods in `DEFAULT_SMOOTH_VALUES`.
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

    tokenize: str = "13a"
    lowercase: bool | str = False
    smooth_method: str = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool = False
    normalize: str | None = None
    reference_length: str = "closest"
    weights: tuple[float, ...] | None = None
    spm_model: SentencePieceModel | None = None

    def __post_init__(self) -> None:
        _require_choice("tokenize", self.tokenize, TOKENIZERS)
        _require_choice("smooth_method", self.smooth_method, SMOOTH_METHODS)
        _require_choice("reference_length", self.reference_length, REFERENCE_LENGTHS)
        if self.normalize is not None:
            _require_choice("normalize", self.normalize, NORMALIZATIONS)
        if self.lowercase != "ascii":
            _require_bool("lowercase", self.lowercase, "True, False or 'ascii'")
        _require_bool("effective_order", self.effective_order)
        order = self.max_ngram_order
        if not _is_a(int, order) or not 1 <= order <= LARGEST_NGRAM_ORDER:
            raise ValueError(
                f"max_ngram_order must be 1 to {LARGEST_NGRAM_ORDER}, an int, got {order!r}"
            )
        if self.smooth_method == "nltk-method6" and order < 3:
            raise ValueError(f"nltk-method6 needs a max_ngram_order of 3 or more, got {order}")
        if self.effective_order and self.smooth_method in _WITHOUT_EFFECTIVE_ORDER:
            raise ValueError(
                f"effective_order means nothing to smooth_method {self.smooth_method!r}, "
                "which has its own way with orders that are too long"
            )
        self._check_smooth_value()
        self._check_weights()
        if (self.tokenize == "spm") != (self.spm_model is not None):
            raise ValueError(
                f"tokenize 'spm' and spm_model go together, got tokenize {self.tokenize!r} "
                f"{'without' if self.spm_model is None else 'with'} spm_model"
            )
        if self.spm_model is not None and not isinstance(self.spm_model, SentencePieceModel):
            raise ValueError(
                f"spm_model must be a SentencePieceModel, got a {type(self.spm_model).__name__}"
            )

    @property
    def effective_smooth_value(self) -> float:
        """The value of the smoothing method; 0.0 if it takes none."""
        if self.smooth_value is not None:
            return self.smooth_value
        return DEFAULT_SMOOTH_VALUES.get(self.smooth_method, 0.0)

    @property
    def counting_order(self) -> int:
        """The largest n-gram order that must be counted."""
        if self.smooth_method in ("nltk-method5", "nltk-method7"):
            return max(self.max_ngram_order, _ORDER_BEYOND)
        return self.max_ngram_order

    def for_scoring(self) -> BleuConfig:
        """The same definition without the bytes of its model, which only tokenizing needs."""
        if self.spm_model is None:
            return self
        return dataclasses.replace(self, spm_model=SentencePieceModel(self.spm_model.digest, None))

    def for_segments(
        self, smooth_method: str | None = None, smooth_value: float | None = None
    ) -> BleuConfig:
        """The definition of the scores of single segments: in effective order.

        NLTK's methods have none.

        Args:
          smooth_method: its smoothing; None for the same.
          smooth_value: the value of its smoothing; None for the same, or for the
            default of another method.

        Raises:
          ValueError: the smoothing means nothing, or not with the other choices.
        """
        smooth_method = smooth_method or self.smooth_method
        if smooth_value is None and smooth_method == self.smooth_method:
            smooth_value = self.smooth_value
        return dataclasses.replace(
            self,
            effective_order=smooth_method not in _WITHOUT_EFFECTIVE_ORDER,
            smooth_method=smooth_method,
            smooth_value=smooth_value,
        )

    def require_corpus(self) -> None:
        """Checks that this is a definition for sums over a corpus.

        Raises:
          ValueError: its smoothing is for single segments.
        """
        if self.smooth_method in SEGMENT_SMOOTH_METHODS:
            others = ", ".join(CORPUS_SMOOTH_METHODS)
            raise ValueError(
                f"smooth_method {self.smooth_method!r} is for segment scores only: of a corpus "
                f"NLTK takes the last segment's text for it; use one of {others}"
            )

    def _check_smooth_value(self) -> None:
        value = self.smooth_value
        if value is None:
            return
        if self.smooth_method not in DEFAULT_SMOOTH_VALUES:
            raise ValueError(
                f"smooth_value {value} means nothing to smooth_method "
                f"{self.smooth_method!r}: it goes with {', '.join(DEFAULT_SMOOTH_VALUES)}"
            )
        if not _is_a((int, float), value) or not 0 <= value <= LARGEST_SMOOTH_VALUE:
            raise ValueError(f"smooth_value must be 0 to {LARGEST_SMOOTH_VALUE}, got {value!r}")
        if self.smooth_method in _DIVIDED_BY_VALUE and value < _SMALLEST_DIVISOR:
            raise ValueError(
                f"smooth_value must be {_SMALLEST_DIVISOR} or more for smooth_method "
                f"{self.smooth_method!r}, got {value!r}"
            )

    def _check_weights(self) -> None:
        weights = self.weights
        if weights is None:
            return
        if not isinstance(weights, tuple) or not all(
            _is_a((int, float), weight) and weight >= 0 for weight in weights
        ):
            raise ValueError(f"weights must be numbers, 0 or more, in a tuple, got {weights!r}")
        if not sum(weights) <= _LARGEST_SUM_OF_WEIGHTS:
            raise ValueError(
                f"weights must sum to {_LARGEST_SUM_OF_WEIGHTS} at most, got {weights!r}"
            )
        if len(weights) != self.max_ngram_order:
            raise ValueError(
                f"weights must be max_ngram_order = {self.max_ngram_order} numbers, got {weights!r}"
            )
        if not any(weights):
            raise ValueError(f"one of the weights must be above 0, got {weights!r}")


def _is_a(kind: type | tuple[type, ...], value: object) -> bool:
    """Whether a value is a number of a kind; to Python a bool is an int."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _require_bool(name: str, value: object, choices: str = "True or False") -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be {choices}, got {value!r}")


def _require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
