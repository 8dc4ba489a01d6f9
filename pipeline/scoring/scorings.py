"""The scorings of a job: of the corpus, by presets to compare, and of single segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import PresetName
from beam_bleu.transforms.metrics.bleu.scoring import Scoring, counted_order
from beam_bleu.transforms.text.languages import tokenizer_of
from beam_bleu.transforms.text.text import TextName


@dataclasses.dataclass(frozen=True)
class Scorings:
    """How a corpus and its segments are scored.

    Attributes:
      text: how texts become tokens, for the scores of the corpus and of segments.
      corpus: the scoring of the corpus.
      presets: other definitions of the corpus's score to compare with it, by name. They can
        have other tokens.
      segments: the scoring of single segments; None if their scores are not asked for.
      languages: the label with each segment's language, which chooses the tokenizer; None if all
        segments have that of `text`.
      unpooled: the label with each segment's task. If it has several values, the whole corpus has
        no score. None if all segments have a common score.
    """

    text: TextName
    corpus: Scoring
    presets: Mapping[PresetName, BleuConfig] = dataclasses.field(default_factory=dict)
    segments: Scoring | None = None
    languages: str | None = None
    unpooled: str | None = None

    def text_of(self, of_slice: Mapping[str, str | None]) -> TextName:
        """How the texts of a slice became tokens.

        Args:
          of_slice: the labels of the slice and their values. With `languages`, each slice has
            this label, and each segment has a language.
        """
        if self.languages is None:
            return self.text
        language = of_slice[self.languages]
        assert language is not None
        return dataclasses.replace(self.text, tokenize=tokenizer_of(language))

    @property
    def counted_orders(self) -> Mapping[TextName, int]:
        """The largest n-gram order that must be counted, for each way to make tokens.

        The first way is `text`, the others follow in the order of the presets.
        """
        needed = {self.text: [self.corpus]}
        if self.segments is not None:
            needed[self.text].append(self.segments)
        for config in self.presets.values():
            needed.setdefault(config.text.name, []).append(config.scoring)
        return {text: counted_order(scorings) for text, scorings in needed.items()}
