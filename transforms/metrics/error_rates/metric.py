"""WER and CER: their definitions, and the formula from integers to a score.

Both rates are the edits divided by the length of the reference, in words or in characters (Morris
et al. 2004, https://doi.org/10.21437/Interspeech.2004-668, section 2). The edits are the fewest
possible (Levenshtein 1966), as in `process_words` of jiwer 4. MER, WIL and WIP are from the same
paper.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import EMPTY, Basis, Lengths, Metric, Scores, normalization
from beam_bleu.transforms.native.arrays import EXACT_AS_FLOAT, Integers
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.text import CASES, NormalizationName, Text, TextName
from beam_bleu.transforms.text.tokenizers import (
    NORMALIZERS,
    NormalizerName,
    Tokenizer,
    chosen,
)

# The kinds of edits; and the words or characters of the reference with the fewest edits.
SUBSTITUTIONS, DELETIONS, INSERTIONS, REFERENCE_LENGTH = range(2, 6)


def edits_of(columns: Sequence[Any] | NDArray[Any]) -> Any:
    return columns[SUBSTITUTIONS] + columns[DELETIONS] + columns[INSERTIONS]


@dataclasses.dataclass(frozen=True, repr=False)
class ErrorRateScore(Score):
    """An error rate and its parts, which count words for WER and characters for CER. See `Score`.

    Attributes:
      score: the rate in percent, 0 or more, not rounded. Lower is better.
      edits: the substitutions, deletions and insertions.
      substitutions: the words or characters of references that candidates replace by others.
      deletions: those of references that the candidates lack.
      insertions: those of candidates that the references lack.
      ref_length: those of the references. Of several references, the one with the fewest edits
        counts; if these are equal, the longest, and then the first. A float, as for TER.
      mer: the match error rate in percent: the edits, for each pair of an alignment.
      wil: the word information lost in percent, 100 - wip.
      wip: the word information preserved in percent: the share of the reference that matches, times
        that of the candidate.
    """

    edits: int
    substitutions: int
    deletions: int
    insertions: int
    ref_length: float
    mer: float
    wil: float
    wip: float

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        return {
            "sub": str(score["substitutions"]),
            "del": str(score["deletions"]),
            "ins": str(score["insertions"]),
            "ref": str(int(score["ref_length"])),
        }


@dataclasses.dataclass(frozen=True)
class ErrorRate(Metric):
    score_type = ErrorRateScore
    basis = Basis(
        (
            *("segments", "empty_candidates", "substitutions", "deletions", "insertions"),
            "ref_length",
        )
    )

    COUNTS = (
        ("substitutions", SUBSTITUTIONS),
        ("deletions", DELETIONS),
        ("insertions", INSERTIONS),
    )
    finds_confusions = True
    name: ClassVar[str]
    SYMBOL: ClassVar[Literal["word", "character"]]

    lowercase: bool = choice(
        False,
        "lower-case the text before WER and CER are computed",
        name="wer_lowercase",
        of_text=True,
    )
    no_punct: bool = choice(
        False,
        "remove punctuation marks before WER and CER are computed",
        name="wer_no_punct",
        of_text=True,
    )
    normalize: NormalizationName | None = normalization()
    normalizer: NormalizerName | None = choice(
        None,
        "prepare texts with Whisper's normalizer before WER and CER are computed: "
        + "; ".join(f"{name}: {row.description}" for name, row in NORMALIZERS.items()),
        "NAME",
        name="wer_normalizer",
        choices=tuple(NORMALIZERS),
        shown_default="default: none",
        of_text=True,
    )

    @property
    def text(self) -> Text:
        choices = chosen(no_punct=self.no_punct)
        if self.normalizer is not None:
            require_choice("normalizer", self.normalizer, NORMALIZERS)
            choices = (*choices, self.normalizer)
        tokenizer = Tokenizer(f"jiwer-{self.SYMBOL}s", choices=choices)
        return Text(tokenizer.name, self.lowercase, self.normalize)

    def value(self, sums: Sequence[Number]) -> Number:
        """100 % for each edit if all references are empty, as in jiwer."""
        length = sums[REFERENCE_LENGTH]
        return 100 * (edits_of(sums) / (length if length > 0 else 1))

    def values(self, sums: Integers) -> Scores:
        if sums.max(initial=0) * 3 > EXACT_AS_FLOAT:
            return super().values(sums)  # exact integers
        scores: Scores = 100 * (edits_of(sums.T) / np.maximum(sums[:, REFERENCE_LENGTH], 1))
        return scores

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        if not edits_of(sums):
            return "no candidate needs an edit"
        return "" if sums[REFERENCE_LENGTH] else f"no reference has a {self.SYMBOL}"

    def lengths(self, columns: Sequence[int]) -> Lengths:
        references = columns[REFERENCE_LENGTH]
        candidates = references - columns[DELETIONS] + columns[INSERTIONS]
        return Lengths(self.SYMBOL, candidates, Fraction(references), columns[EMPTY])

    def signed(self, text: TextName) -> Mapping[str, str]:
        signed = {
            "tok": "jiwer",
            "unit": self.SYMBOL,
            "punct": "no" if "no-punct" in text.tokenizer.choices else "yes",
        }
        normalizer = text.tokenizer.normalizer
        if normalizer is None:
            return signed
        return {**signed, "case": CASES[True].name, "normalizer": normalizer.signed}

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        kinds, length = super().segment_parts(columns), columns[REFERENCE_LENGTH]
        edits, aligned = sum(kinds.values()), length + kinds["insertions"]
        hits, words = aligned - edits, aligned - kinds["deletions"]
        # All information of an empty reference is preserved by an empty candidate, as in jiwer.
        preserved = (aligned == 0) + (hits / _at_least_1(length)) * (hits / _at_least_1(words))
        rates = {"mer": edits / _at_least_1(aligned), "wil": 1 - preserved, "wip": preserved}
        percentages = {name: 100 * rate for name, rate in rates.items()}
        return {"edits": edits, **kinds, "ref_length": length / 1, **percentages}


def _at_least_1(count: Any) -> Any:
    """A count of 0 or more, or an array of them."""
    return count + (count == 0)


@dataclasses.dataclass(frozen=True)
class WerConfig(ErrorRate):
    """A definition of WER; the default is jiwer's.

    Attributes:
      lowercase: whether all texts are lower-cased, like `str.lower`.
      no_punct: whether punctuation marks are removed: the code points of Unicode's category P.
      normalize: "nfc" or "nfkc", before all other steps and again after lower-casing, or None.
      normalizer: "whisper-basic" or "whisper-en", which prepares texts after they are lower-cased
        and before punctuation marks are removed, or None. It needs the extra whisper.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    name = "WER"
    SYMBOL = "word"


@dataclasses.dataclass(frozen=True)
class CerConfig(ErrorRate):
    """A definition of CER; the default is jiwer's. The attributes are those of `WerConfig`."""

    name = "CER"
    SYMBOL = "character"
