"""ROUGE-1, -2, -L and -Lsum: definitions, and mean F-scores of segments, as in rouge_score."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis, Metric, Scores, normalization
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.fixed_point import fixed_point_mean
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.text import CASES, NormalizationName, Text, TextName
from beam_bleu.transforms.text.tokenizers import Tokenizer, chosen

UNREAD = 2  # 1 if each reference has more characters beyond ASCII than letters and digits
# The words of the candidate, of the reference with the largest F, and of both; and the F-score,
# precision and recall, from 0 to 1, as two columns of `fixed_point` each.
CANDIDATE_LENGTH, REFERENCE_LENGTH, HITS, F_HIGH, PRECISION_HIGH, RECALL_HIGH = 3, 4, 5, 6, 8, 10
SEVERAL = 12  # of ROUGE-Lsum alone: 1 if one of the texts has several sentences with words

# What is hit: words, pairs of them, or those of (unions of) longest common subsequences.
WORDS, PAIRS, SUBSEQUENCE, UNION = range(4)
_NOT_BY_ACCIDENT = 1 / 100  # the share of segments from which ROUGE warns

WordsName = Literal["ascii", "unicode", "char"]
ROUGE_WORDS: Mapping[WordsName, str] = {
    "ascii": "runs of a-z and 0-9",
    "unicode": "runs of letters, marks and numbers of any script",
    "char": "each character that is not white space",
}


@dataclasses.dataclass(frozen=True, repr=False)
class RougeScore(Score):
    """A score of ROUGE and its parts. `Score` explains the other attributes.

    Attributes:
      score: the mean of the F-scores of the segments, 0..100, not rounded.
      precision: the mean of their precisions, 0..100, not rounded. Of several references of a
        segment, the first one with the largest F-score counts, here and below.
      recall: the mean of their recalls, 0..100, not rounded.
      hits: what candidates and references have in common: words for ROUGE-1, pairs of words for
        ROUGE-2, words of common subsequences for ROUGE-L and ROUGE-Lsum.
      hyp_words: the words of the candidates.
      ref_words: the words of the references.
    """

    precision: float
    recall: float
    hits: int
    hyp_words: int
    ref_words: int

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        percentages = {name: f"{score[name]:.{decimals}f}" for name in ("precision", "recall")}
        counts = {"hits": "hits", "hyp_words": "hyp", "ref_words": "ref"}
        return {**percentages, **{shown: str(score[name]) for name, shown in counts.items()}}


@dataclasses.dataclass(frozen=True)
class Rouge(Metric):
    """A definition of a metric of ROUGE; `HIT` is what is hit."""

    highest = 100
    score_type = RougeScore
    basis = Basis(
        (
            *("segments", "empty_candidates", "unread", "candidate_length", "reference_length"),
            *("hits", "f_high", "f_low", "precision_high", "precision_low"),
            *("recall_high", "recall_low"),
        ),
        shared=(SEGMENTS, UNREAD),
    )
    LENGTHS = ("word", CANDIDATE_LENGTH, REFERENCE_LENGTH)
    COUNTS = (("hits", HITS), ("hyp_words", CANDIDATE_LENGTH), ("ref_words", REFERENCE_LENGTH))

    name: ClassVar[str]
    HIT: ClassVar[int]

    stemmer: bool = choice(
        False, "stem words, as use_stemmer of rouge_score does", name="rouge_stemmer", of_text=True
    )
    normalize: NormalizationName | None = normalization()
    words: WordsName = choice(
        "ascii",
        f"what a word is: {', '.join(f'{name} ({what})' for name, what in ROUGE_WORDS.items())}",
        "NAME",
        name="rouge_words",
        choices=tuple(ROUGE_WORDS),
        of_text=True,
    )

    def __post_init__(self) -> None:
        require_choice("words", self.words, ROUGE_WORDS)
        super().__post_init__()
        if self.stemmer and self.words != "ascii":
            raise ValueError(f"the stemmer is for English words, not for words {self.words!r}")

    @property
    def text(self) -> Text:
        choices = chosen(stemmed=self.stemmer) if self.words == "ascii" else (self.words,)
        return Text(Tokenizer("rouge", choices=choices).name, normalize=self.normalize)

    def value(self, sums: Sequence[Number]) -> Number:
        return _mean(sums, F_HIGH)

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        return "" if sums[HITS] else "no candidate has a match in its references"

    def parts(self, columns: Sequence[int]) -> Mapping[str, Any]:
        return {
            "score": self.value(columns),
            "precision": float(_mean(columns, PRECISION_HIGH)),
            "recall": float(_mean(columns, RECALL_HIGH)),
            **super().segment_parts(columns),
        }

    def why_zero(self, columns: Sequence[int], parts: Mapping[str, Any]) -> str:
        if columns[CANDIDATE_LENGTH]:
            return ""
        return (
            "the score is 0: no candidate has a word, which is a run of a-z and 0-9, unless "
            "--rouge_words chooses others"
        )

    def warnings(self, columns: Sequence[int]) -> Iterator[str]:
        unread, segments = columns[UNREAD], columns[SEGMENTS]
        if unread and unread >= _NOT_BY_ACCIDENT * segments:
            yield (
                f"the references of {unread:,} of {segments:,} segments are mostly in characters "
                "that ROUGE ignores: it reads only a-z and 0-9, as rouge_score does; for such "
                "text, use --rouge_words unicode, or char if there are no spaces between words"
            )

    def signed(self, text: TextName) -> Mapping[str, str]:
        stem = "yes" if "stemmed" in text.tokenizer.choices else "no"
        words = text.tokenizer.name.removesuffix("-stemmed")
        return {"case": CASES[True].name, "tok": words, "stem": stem}

    def segment_scores(self, rows: Integers) -> Scores:
        precision, recall = self._precision_and_recall(rows.T)
        has_hits = precision > 0
        f = np.zeros(len(precision))
        p, r = precision[has_hits], recall[has_hits]
        f[has_hits] = 2 * p * r / (p + r)
        return 100.0 * f

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        precision, recall = self._precision_and_recall(columns)
        shares = {"precision": 100.0 * precision, "recall": 100.0 * recall}
        return {**shares, **super().segment_parts(columns)}

    def _precision_and_recall(self, columns: Any) -> tuple[Scores, Scores]:
        fewer = 1 if self.HIT == PAIRS else 0  # a text has one pair less than words
        words, reference_words = columns[CANDIDATE_LENGTH], columns[REFERENCE_LENGTH]
        hits = columns[HITS]
        return hits / np.maximum(words - fewer, 1), hits / np.maximum(reference_words - fewer, 1)


def _mean(sums: Sequence[Number], high: int) -> Number:
    if not sums[SEGMENTS] > 0:
        return 0.0
    # Percent before the division, so that there is one rounding.
    return fixed_point_mean(100 * sums[high], 100 * sums[high + 1], sums[SEGMENTS])


@dataclasses.dataclass(frozen=True)
class Rouge1Config(Rouge):
    """A definition of ROUGE-1; the default is that of rouge_score.

    Attributes:
      stemmer: whether words of more than 3 characters are stemmed by NLTK's Porter stemmer.
      normalize: "nfc" or "nfkc", before all other steps, or None.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    name = "ROUGE-1"
    HIT = WORDS


@dataclasses.dataclass(frozen=True)
class Rouge2Config(Rouge):
    """A definition of ROUGE-2; see `Rouge1Config`."""

    name = "ROUGE-2"
    HIT = PAIRS


@dataclasses.dataclass(frozen=True)
class RougeLConfig(Rouge):
    """A definition of ROUGE-L; see `Rouge1Config`."""

    name = "ROUGE-L"
    HIT = SUBSEQUENCE


@dataclasses.dataclass(frozen=True)
class RougeLsumConfig(Rouge):
    """A definition of ROUGE-Lsum; see `Rouge1Config`."""

    basis = Basis((*Rouge.basis.names, "several_sentences"), Rouge.basis.shared)
    name = "ROUGE-Lsum"
    HIT = UNION
    most_bytes = 2**22
    """A long novel: the memory for sentences grows faster than their lengths."""

    def warnings(self, columns: Sequence[int]) -> Iterator[str]:
        yield from super().warnings(columns)
        if columns[CANDIDATE_LENGTH] and not columns[SEVERAL]:
            yield (
                "no text has several lines with words, so ROUGE-Lsum is ROUGE-L here: it takes "
                "each line of a text for a sentence; use records whose texts have newlines between "
                "sentences"
            )
