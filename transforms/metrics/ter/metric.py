"""TER: its definition, and the formula from integers to a score.

Snover et al. 2006 (https://aclanthology.org/2006.amta-papers.25), section 2: TER is the number of
edits, by the reference with the fewest, divided by the mean number of words of the references. The
operations are those of `TER._compute_score_from_stats` in sacreBLEU 2.6.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import (
    EMPTY,
    PARTS_OF_A_TOKEN,
    SEGMENTS,
    Basis,
    Lengths,
    Metric,
    Scores,
    normalization,
)
from beam_bleu.transforms.native.arrays import EXACT_AS_FLOAT, Integers
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.text import NormalizationName, Text, TextName
from beam_bleu.transforms.text.tokenizers import Tokenizer, chosen

# The mean number of words of the references, rounded down, and the rest in `PARTS_OF_A_TOKEN`.
CANDIDATE_LENGTH, EDITS, REFERENCE_LENGTH, REFERENCE_PARTS = range(2, 6)


def reference_parts(columns: Sequence[Any] | NDArray[Any]) -> Any:
    return columns[REFERENCE_LENGTH] * PARTS_OF_A_TOKEN + columns[REFERENCE_PARTS]


@dataclasses.dataclass(frozen=True, repr=False)
class TerScore(Score):
    """TER and its parts. `Score` explains the other attributes.

    Attributes:
      score: TER, 0 or more, not rounded. Lower is better.
      edits: the edits of all segments, each by the reference with the fewest.
      ref_length: the mean number of words of each segment's references, added up. It is rounded
        only here, so it can differ from sacreBLEU's sum of rounded means in the last digits.
    """

    edits: int
    ref_length: float

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        length = score["ref_length"]
        shown = str(int(length)) if length == int(length) else f"{length:.1f}"
        return {"edits": str(score["edits"]), "ref_words": shown}


@dataclasses.dataclass(frozen=True)
class TerConfig(Metric):
    """A definition of TER; the default is sacreBLEU's.

    Attributes:
      normalized: whether entities are replaced, and punctuation marks and the English 's become
        words.
      no_punct: whether punctuation marks are removed.
      asian_support: whether the other choices are also for Asian characters: if normalized, each
        Chinese character and each Asian punctuation mark becomes a word; if `no_punct`, these marks
        are removed.
      case_sensitive: whether upper and lower case differ. Otherwise texts are lower-cased, as
        `str.lower` does.
      normalize: "nfc" or "nfkc", before all other steps and again after lower-casing, or None.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    score_type = TerScore
    is_in_sacrebleu = True
    name = "TER"
    basis = Basis(
        ("segments", "empty_candidates", "candidate_length", "edits", "ref_words", "ref_parts"),
        shared=(SEGMENTS, REFERENCE_LENGTH, REFERENCE_PARTS),
    )

    normalized: bool = choice(
        False,
        "replace entities, and make words of punctuation marks and of the English 's",
        name="ter_normalized",
        of_text=True,
    )
    no_punct: bool = choice(False, "remove punctuation marks", name="ter_no_punct", of_text=True)
    asian_support: bool = choice(
        False,
        "with --ter_normalized, make a word of each Chinese character and Asian punctuation "
        "mark; with --ter_no_punct, remove these marks",
        name="ter_asian_support",
        of_text=True,
    )
    case_sensitive: bool = choice(
        False,
        "do not lower-case the text before it is scored",
        name="ter_case_sensitive",
        of_text=True,
    )
    normalize: NormalizationName | None = normalization()

    @property
    def text(self) -> Text:
        choices = chosen(norm=self.normalized, no_punct=self.no_punct, asian=self.asian_support)
        tokenizer = Tokenizer("tercom", choices=choices)
        return Text(tokenizer.name, not self.case_sensitive, self.normalize)

    def value(self, sums: Sequence[Number]) -> Number:
        edits, parts = sums[EDITS], reference_parts(sums)
        if parts > 0:
            return 100 * (edits / (parts / PARTS_OF_A_TOKEN))
        return 100.0 if edits > 0 else 0.0

    def values(self, sums: Integers) -> Scores:
        words, parts = sums.max(axis=0, initial=0).tolist()[REFERENCE_LENGTH:]
        if words * PARTS_OF_A_TOKEN + parts > EXACT_AS_FLOAT:
            return super().values(sums)  # exact integers
        edits, lengths = sums[:, EDITS], reference_parts(sums.T) / PARTS_OF_A_TOKEN
        without_words = np.where(edits > 0, 1.0, 0.0)
        scores: Scores = 100 * np.divide(edits, lengths, out=without_words, where=lengths > 0)
        return scores

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        if not sums[EDITS]:
            return "no candidate needs an edit"
        return "" if reference_parts(sums) else "no reference has a word"

    def lengths(self, columns: Sequence[int]) -> Lengths:
        references = Fraction(reference_parts(columns), PARTS_OF_A_TOKEN)
        return Lengths("word", columns[CANDIDATE_LENGTH], references, columns[EMPTY])

    def signed(self, text: TextName) -> Mapping[str, str]:
        choices = text.tokenizer.choices
        return {
            "tok": "tercom",
            "norm": "yes" if "norm" in choices else "no",
            "punct": "no" if "no-punct" in choices else "yes",
            "asian": "yes" if "asian" in choices else "no",
        }

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        return {"edits": columns[EDITS], "ref_length": reference_parts(columns) / PARTS_OF_A_TOKEN}
