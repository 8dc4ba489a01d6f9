"""A definition of chrF: every choice that changes a number."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.metrics.chrf.metric import Chrf
from beam_bleu.transforms.text.text import NormalizationName, Text


@dataclasses.dataclass(frozen=True)
class ChrfConfig:
    """A definition of chrF; the default is sacreBLEU's, chrF2.

    Attributes:
      char_order: the largest order of n-grams of characters, 1..16.
      beta: how many times as important as precision recall is, 1 or more.
      normalize: the Unicode normalization of all texts, before all other steps:
        "nfc" or "nfkc"; None if texts are not normalized.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    char_order: int = Chrf.char_order
    beta: int = Chrf.beta
    normalize: NormalizationName | None = Text.normalize

    def __post_init__(self) -> None:
        # Text and Chrf check their fields.
        _ = self.text, self.metric

    @property
    def text(self) -> Text:
        """The part that turns texts into characters, which are tokens here."""
        return Text("char", normalize=self.normalize)

    @property
    def metric(self) -> Chrf:
        """The part that turns sums into a score."""
        return Chrf(self.char_order, self.beta)
