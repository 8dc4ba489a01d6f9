"""The definition of BLEU in use: every choice that changes a number."""

from __future__ import annotations

import dataclasses

TOKENIZERS = ("13a", "none", "intl", "zh", "char")
SMOOTH_METHODS = ("exp", "floor", "add-k", "none")
DEFAULT_SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0}
"""The methods that take a value, and sacreBLEU's default for each (Chen & Cherry 2014)."""

LARGEST_NGRAM_ORDER = 16
LARGEST_SMOOTH_VALUE = 1_000_000


@dataclasses.dataclass(frozen=True)
class BleuConfig:
    """A definition of BLEU; the default is sacreBLEU's.

    Attributes:
      tokenize: "13a" (mteval-v13a, WMT's) or "none" (split at white space only).
      lowercase: whether texts are lower-cased first, as `str.lower` does.
      smooth_method: what becomes of an order without matches: "exp" (halved
        again at each such order, as mteval-v13a), "floor" (`smooth_value`
        matches), "add-k" (`smooth_value` added to matches and totals of every
        order above 1) or "none".
      smooth_value: the value of "floor" (default 0.1) or "add-k" (default 1).
      max_ngram_order: the largest n-gram order N, 1..16.
      effective_order: whether orders longer than every candidate are left out.

    Raises:
      ValueError: a field has a value that means nothing; it is shown with the choices.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    smooth_method: str = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool = False

    def __post_init__(self) -> None:
        _require_choice("tokenize", self.tokenize, TOKENIZERS)
        _require_choice("smooth_method", self.smooth_method, SMOOTH_METHODS)
        _require_bool("lowercase", self.lowercase)
        _require_bool("effective_order", self.effective_order)
        order = self.max_ngram_order
        if not _is_a(int, order) or not 1 <= order <= LARGEST_NGRAM_ORDER:
            raise ValueError(f"max_ngram_order must be 1 to {LARGEST_NGRAM_ORDER}, got {order!r}")
        if self.smooth_value is None:
            return
        if self.smooth_method not in DEFAULT_SMOOTH_VALUES:
            raise ValueError(
                f"smooth_value {self.smooth_value} means nothing to smooth_method "
                f"{self.smooth_method!r}: it goes with {' or '.join(DEFAULT_SMOOTH_VALUES)}"
            )
        value = self.smooth_value
        if not _is_a((int, float), value) or not 0 <= value <= LARGEST_SMOOTH_VALUE:
            raise ValueError(f"smooth_value must be 0 to {LARGEST_SMOOTH_VALUE}, got {value!r}")


def _is_a(kind: type | tuple[type, ...], value: object) -> bool:
    """Whether a value is a number of a kind; to Python a bool is an int."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _require_bool(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def _require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
