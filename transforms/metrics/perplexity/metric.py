"""Perplexity as a `Metric`: its definition, and the formula from integers to a score.

The perplexity of texts is e to the power of -L / n, where L is the sum of the natural logarithms of
the probabilities of their tokens, and n the number of their tokens, words or bytes (Jelinek et al.
1977, https://doi.org/10.1121/1.2016299). By words and by bytes it is `word_perplexity` and
`byte_perplexity` of the LM Evaluation Harness (`weighted_perplexity`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.differentiation import Number, exp
from beam_bleu.transforms.metrics.metric import (
    SEGMENTS,
    Metric,
    require_width,
)
from beam_bleu.transforms.metrics.perplexity.columns import (
    SURPRISAL,
    SYMBOLS,
    WIDTH,
    SymbolName,
    surprisal,
)
from beam_bleu.transforms.native.fixed_point import VALUE_ONE
from beam_bleu.transforms.pairing.needs import ValueColumn, ValuePartName
from beam_bleu.transforms.text.text import Text

LARGEST_LOGARITHM = 600
"""The largest logarithm of a perplexity. Larger ones, with their standard errors, are not numbers
of 64 bits. Texts have them per segment, and per word if they have no spaces, as in Chinese."""

_NO_LISTS = (
    "sums do not tell the number of tokens: name the column that does, --token_count_column; or "
    "choose another perplexity, --perplexity_per word or byte, with --text_column"
)
"""What to do if a column has sums of log-probabilities."""

_ONLY_SUMS = "a list tells the number of tokens by itself: leave out --token_count_column"
"""What to do if a column has lists, and another one has the number of tokens."""


@dataclasses.dataclass(frozen=True)
class Perplexity(Metric):
    """How sums become a perplexity. See `Metric`.

    Attributes:
      per: the symbol of the score.
      counted: the symbols whose numbers are read, in the order of `SYMBOLS`.
      reads: the columns of records with the log-probability and with each of these numbers. They
        are not a part of the definition: the same numbers can be in columns of other names.

    Raises:
      ValueError: the symbol of the score is not counted.
    """

    name: ClassVar[str] = "perplexity"

    per: SymbolName
    counted: tuple[SymbolName, ...]
    reads: tuple[ValueColumn, ...] = dataclasses.field(default=(), compare=False)

    def __post_init__(self) -> None:
        for symbol in self.counted:
            require_choice("counted", symbol, SYMBOLS)
        require_choice("per", self.per, SYMBOLS)
        if SYMBOLS[self.per].column != SEGMENTS and self.per not in self.counted:
            raise ValueError(f"per {self.per} needs the number of {self.per}s, which is not known")

    def value(self, sums: Sequence[Number]) -> Number:
        """The perplexity, 1 or more; 0 without a segment.

        Raises:
          InputError: there is none, or it is too large for a number of 64 bits.
        """
        require_width("perplexity", len(sums), WIDTH)
        if not sums[SEGMENTS] > 0:
            return 0.0
        count = sums[SYMBOLS[self.per].column]
        if not count > 0:
            raise InputError(
                f"there is no perplexity per {self.per}, because the texts have no {self.per}",
                "check the column of the texts",
            )
        logarithm = surprisal(sums) / (count * VALUE_ONE)
        if logarithm > LARGEST_LOGARITHM:
            raise InputError(
                f"the perplexity per {self.per} is too large: its logarithm is above "
                f"{LARGEST_LOGARITHM}",
                "check that the log-probabilities are natural logarithms, and of these texts; per "
                "token or per byte a perplexity is smaller than per word or per segment",
            )
        return exp(logarithm)

    def has_value(self, row: Sequence[int]) -> bool:
        """Whether the sums of a segment have a score."""
        count = row[SYMBOLS[self.per].column]
        return count > 0 and surprisal(row) <= LARGEST_LOGARITHM * count * VALUE_ONE

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Not everything may be certain."""
        return "" if surprisal(sums) else "all texts have the probability 1"

    def used(self, width: int) -> Sequence[int]:
        """The symbol of the score and the probability."""
        return SYMBOLS[self.per].column, *range(SURPRISAL.start, SURPRISAL.stop)


@dataclasses.dataclass(frozen=True)
class PerplexityConfig:
    """A definition of perplexity, with the columns of records that it reads.

    Without `token_count_column` the log-probabilities are lists with a number for each token, if
    the score is per token; otherwise the tokens are not counted.

    Attributes:
      per: the symbol of the score: "token", "word", "byte", or "segment" for the whole text.
      logprob_column: the column of the natural logarithms of the probabilities: a list with a
        number for each token, or their sum.
      token_count_column: the column with the number of tokens; None if there is none.
      text_column: the column of the texts whose words and bytes are counted; None if there is none.
      word_count_column: the column with the number of words, in place of `text_column`.
      byte_count_column: the column with the number of bytes, in place of `text_column`.

    Raises:
      ValueError: a field has an impossible value, or no column tells the symbol of the score.
    """

    per: SymbolName = "token"
    logprob_column: str = "logprobs"
    token_count_column: str | None = None
    text_column: str | None = None
    word_count_column: str | None = None
    byte_count_column: str | None = None

    def __post_init__(self) -> None:
        require_choice("per", self.per, SYMBOLS)
        if self.text_column is not None:
            for name in ("word_count_column", "byte_count_column"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"text_column and {name} contradict each other: leave one of them out"
                    )
        if SYMBOLS[self.per].column != SEGMENTS and self.per not in self._symbols:
            raise ValueError(
                f"per {self.per} needs the number of {self.per}s: give text_column or "
                f"{self.per}_count_column"
            )

    @property
    def _symbols(self) -> dict[SymbolName, ValueColumn]:
        """The column of each symbol whose number is read."""
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
        """Whether the number of tokens is that of their log-probabilities."""
        return self.per == "token" and self.token_count_column is None

    @property
    def text(self) -> Text:
        """No text becomes tokens."""
        return Text("none")

    @property
    def metric(self) -> Perplexity:
        """The part that turns sums into a score."""
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
        """The column that a field of this name holds; the flag has the same name."""
        column = getattr(self, field)
        return None if column is None else ValueColumn(column, part, flag=f"--{field}")
