"""The scorings of a job: of the corpus, by presets to compare, and of single segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from beam_bleu.transforms.definition.presets import PresetName
from beam_bleu.transforms.definition.scoring import Scoring, counted_order
from beam_bleu.transforms.definition.text import TextName


@dataclasses.dataclass(frozen=True)
class Scorings:
    """Scorings of the same tokens.

    Attributes:
      text: how texts become tokens.
      corpus: the scoring of the corpus.
      presets: other scorings of the corpus to compare with it, by name.
      segments: the scoring of single segments; None if their scores are not asked for.
    """

    text: TextName
    corpus: Scoring
    presets: Mapping[PresetName, Scoring] = dataclasses.field(default_factory=dict)
    segments: Scoring | None = None

    @property
    def counted_order(self) -> int:
        """The largest n-gram order that must be counted."""
        of_segments = [] if self.segments is None else [self.segments]
        return counted_order([self.corpus, *self.presets.values(), *of_segments])
