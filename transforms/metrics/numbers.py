"""Metrics of numbers that were computed elsewhere: their mean, such as COMET's, and perplexity.

The perplexity of texts is e to the power of -L / n, where L is the sum of the natural logarithms of
the probabilities of their tokens, and n the number of their tokens, words or bytes (Jelinek et al.
1977, https://doi.org/10.1121/1.2016299). By words and by bytes it is `word_perplexity` and
`byte_perplexity` of the LM Evaluation Harness (`weighted_perplexity`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from beam_bleu.transforms.definition.choices import can_be_shown, require_choice
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.differentiation import Number, exp
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis, Config, Metric, ReadyTexts, Scores
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.fixed_point import (
    VALUE_COLUMNS,
    VALUE_ONE,
    value_columns,
    value_sum,
)
from beam_bleu.transforms.pairing.needs import Needs, ValueColumn, ValuePartName
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.text import TextName, own_signature

# After `SEGMENTS`: the number in fixed point if it is above 0, and minus the number if it is below.
_POSITIVE = slice(1, 1 + VALUE_COLUMNS)
_NEGATIVE = slice(_POSITIVE.stop, _POSITIVE.stop + VALUE_COLUMNS)


@dataclasses.dataclass(frozen=True, repr=False)
class MeanScore(Score):
    """The mean of a column of numbers, not rounded."""

    DECIMALS = 4


@dataclasses.dataclass(frozen=True)
class MeanConfig(Metric):
    """The mean of a column of numbers of which higher ones are better, such as COMET's."""

    score_type = MeanScore
    basis = Basis(
        (
            "segments",
            *(f"positive_{place}" for place in reversed(range(VALUE_COLUMNS))),
            *(f"negative_{place}" for place in reversed(range(VALUE_COLUMNS))),
        )
    )
    OUTCOME = _POSITIVE.start
    _BETTER: ClassVar[str] = "higher"

    column: str = "score"

    def __post_init__(self) -> None:
        is_name = isinstance(self.column, str) and can_be_shown(self.column)
        if not is_name or "=" in self.column or "|" in self.column:
            raise ValueError(
                f'column must be the name of a column without "=" and "|", got {self.column!r}'
            )

    @property
    def name(self) -> str:
        return f"mean {self.column}"

    @property
    def needs(self) -> Needs:
        return Needs(values=(ValueColumn(self.column),))

    def write_counts(self, texts: ReadyTexts, counts: Integers) -> None:
        values = texts.batch.values[ValueColumn(self.column)]
        counts[..., SEGMENTS] = 1
        counts[..., _POSITIVE] = value_columns(np.maximum(values, 0))
        counts[..., _NEGATIVE] = value_columns(np.maximum(-values, 0))

    def value(self, sums: Sequence[Number]) -> Number:
        if not sums[SEGMENTS] > 0:
            return 0.0
        total = value_sum(sums[_POSITIVE]) - value_sum(sums[_NEGATIVE])
        return total / (sums[SEGMENTS] * VALUE_ONE)

    def signatures(self, text: TextName, fewest: int, most: int) -> tuple[str, None]:
        return own_signature(text, {"mean": self.column, "better": self._BETTER}), None


@dataclasses.dataclass(frozen=True)
class MeanErrorConfig(MeanConfig):
    """The same for numbers of which lower ones are better, such as MetricX's."""

    _BETTER = "lower"


SymbolName = Literal["token", "word", "byte", "segment"]

# What a perplexity can be per, and the column with its count, 0 if it is not counted. An empty text
# counts as one empty word.
SYMBOLS: Mapping[SymbolName, int] = {"token": 1, "word": 2, "byte": 3, "segment": SEGMENTS}
SURPRISAL = slice(4, 4 + VALUE_COLUMNS)  # minus the logarithm of the probability of the text
LARGEST_LOGARITHM = 600
"""The largest logarithm of a perplexity. With a larger one, a standard error can be infinite."""

_NO_LISTS = (
    "sums do not tell the number of tokens: name the column that does, --token_count_column; or "
    "choose another perplexity, --perplexity_per word or byte, with --text_column"
)

_ONLY_SUMS = "a list tells the number of tokens by itself: leave out --token_count_column"


@dataclasses.dataclass(frozen=True, repr=False)
class PerplexityScore(Score):
    """A perplexity and its parts. `Score` explains the other attributes.

    Attributes:
      score: the perplexity, 1 or more, not rounded. Lower is better.
      log_probability: the natural logarithm of the probability of all texts.
      bits_per_byte: -`log_probability` / (`bytes` log 2); None if `bytes` is None or 0.
    """

    DECIMALS = 4

    log_probability: float
    tokens: int | None
    words: int | None
    bytes: int | None
    bits_per_byte: float | None

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        symbols = ("tokens", "words", "bytes")
        shown = {name: str(score[name]) for name in symbols if score[name] is not None}
        if score["bits_per_byte"] is not None:
            shown["bits/byte"] = f"{score['bits_per_byte']:.{decimals}f}"
        return shown


@dataclasses.dataclass(frozen=True)
class Perplexity(Metric):
    """How sums become a perplexity: its symbol, and the symbols whose numbers are read."""

    score_type = PerplexityScore
    name = "perplexity"
    basis = Basis(
        (
            *("segments", "tokens", "words", "bytes"),
            *(f"surprisal_{place}" for place in reversed(range(VALUE_COLUMNS))),
        )
    )

    per: SymbolName
    counted: tuple[SymbolName, ...]
    # The log-probability and each of these numbers, in any columns.
    reads: tuple[ValueColumn, ...] = dataclasses.field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.per not in ("segment", *self.counted):
            raise ValueError(f"per {self.per} needs the number of {self.per}s, which is not known")

    @property
    def needs(self) -> Needs:
        return Needs(values=self.reads)

    def write_counts(self, texts: ReadyTexts, counts: Integers) -> None:
        log_probability, *symbols = (texts.batch.values[column] for column in self.reads)
        counts[...] = 0
        counts[..., SEGMENTS] = 1
        for symbol, numbers in zip(self.counted, symbols, strict=True):
            counts[..., SYMBOLS[symbol]] = numbers
        counts[..., SURPRISAL] = value_columns(-log_probability)

    def value(self, sums: Sequence[Number]) -> Number:
        if not sums[SEGMENTS] > 0:
            return 0.0
        count = sums[SYMBOLS[self.per]]
        if not count > 0:
            raise InputError(
                f"there is no perplexity per {self.per}, because the texts have no {self.per}",
                "check the column of the texts",
            )
        logarithm = value_sum(sums[SURPRISAL]) / (count * VALUE_ONE)
        if logarithm > LARGEST_LOGARITHM:
            raise InputError(
                f"the perplexity per {self.per} is too large: its logarithm is above "
                f"{LARGEST_LOGARITHM}",
                "check that the log-probabilities are natural logarithms, and of these texts; per "
                "token or per byte a perplexity is smaller than per word or per segment",
            )
        return exp(logarithm)

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        return "" if value_sum(sums[SURPRISAL]) else "all texts have the probability 1"

    def parts(self, columns: Sequence[int]) -> Mapping[str, Any]:
        counts = {
            f"{name}s": columns[column] if name in self.counted else None
            for name, column in SYMBOLS.items()
            if name != "segment"
        }
        total, size = value_sum(columns[SURPRISAL]), counts["bytes"]
        return {
            "score": self.value(columns),
            "log_probability": -total / VALUE_ONE,
            **counts,
            "bits_per_byte": total / (size * VALUE_ONE) / math.log(2) if size else None,
        }

    def signatures(self, text: TextName, fewest: int, most: int) -> tuple[str, None]:
        return own_signature(text, {"log": "e", "per": self.per}), None

    def segment_scores(self, rows: Integers) -> Scores:
        """A segment without the symbol, or whose perplexity is too large, has no score."""
        scores = np.full(len(rows), math.nan)
        for place, row in enumerate(rows.tolist()):
            with contextlib.suppress(InputError):
                scores[place] = self.value(row)
        return scores

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        rows = columns[SURPRISAL].T.tolist()
        return {
            "log_probability": np.array([-value_sum(row) / VALUE_ONE for row in rows], np.float64),
            **{f"{symbol}s": columns[SYMBOLS[symbol]] for symbol in self.counted},
        }


@dataclasses.dataclass(frozen=True)
class PerplexityConfig(Config):
    """A definition of perplexity, with the columns of records that it reads.

    Without `token_count_column` the log-probabilities are lists with a number for each token, if
    the score is per token; otherwise the tokens are not counted.
    """

    METRIC = Perplexity

    per: SymbolName = choice(
        "token",
        f"what the perplexity is of: {', '.join(SYMBOLS)}",
        "NAME",
        name="perplexity_per",
        changes_sums=False,
    )
    logprob_column: str = choice(
        "logprobs",
        "the column of the natural logarithms of probabilities: a list with one for each token, or "
        "their sum",
        "COLUMN",
    )
    token_count_column: str | None = choice(
        None, "the column with the number of tokens, if --logprob_column has sums", "COLUMN"
    )
    text_column: str | None = choice(
        None, "the column of the texts whose words and bytes are counted for perplexity", "COLUMN"
    )
    word_count_column: str | None = choice(
        None, "the column with the number of words, in place of --text_column", "COLUMN"
    )
    byte_count_column: str | None = choice(
        None, "the column with the number of bytes, in place of --text_column", "COLUMN"
    )

    def __post_init__(self) -> None:
        require_choice("per", self.per, SYMBOLS)
        if self.text_column is not None:
            for name in ("word_count_column", "byte_count_column"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"text_column and {name} contradict each other: leave one of them out"
                    )
        if SYMBOLS[self.per] != SEGMENTS and self.per not in self._symbols:
            raise ValueError(
                f"per {self.per} needs the number of {self.per}s: give text_column or "
                f"{self.per}_count_column"
            )

    @property
    def _symbols(self) -> dict[SymbolName, ValueColumn]:
        columns: dict[SymbolName, ValueColumn | None] = {
            "token": self._column("token_count_column", "positive"),
            "word": self._column("word_count_column", "positive")
            or self._column("text_column", "words"),
            "byte": self._column("byte_count_column", "whole")
            or self._column("text_column", "bytes"),
        }
        if self._has_lists:
            columns["token"] = self._logprobs("length", _NO_LISTS)
        return {symbol: column for symbol, column in columns.items() if column is not None}

    @property
    def _has_lists(self) -> bool:
        return self.per == "token" and self.token_count_column is None

    @property
    def metric(self) -> Perplexity:
        symbols = self._symbols
        if self._has_lists:
            read = self._logprobs("log_probabilities", _NO_LISTS)
        elif self.token_count_column is not None:
            read = self._logprobs("summed_log_probability", _ONLY_SUMS)
        else:
            read = self._logprobs("log_probability")
        return Perplexity(self.per, tuple(symbols), (read, *symbols.values()))

    def _logprobs(self, part: ValuePartName, remedy: str = "") -> ValueColumn:
        return ValueColumn(self.logprob_column, part, remedy, "--logprob_column")

    def _column(self, field: str, part: ValuePartName) -> ValueColumn | None:
        column = getattr(self, field)
        return None if column is None else ValueColumn(column, part, flag=f"--{field}")
