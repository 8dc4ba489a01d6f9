"""Input signs: the numbers of texts that look suspicious, in any number of segments."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.text.tokenizers import SCRIPTS


@dataclasses.dataclass(frozen=True)
class InputSigns:
    """The signs of one system's candidates and of the references, added up.

    References are counted by position: item k counts reference k + 1 of each segment. If the
    number of references varies, there is an item for each position that at least one segment
    has.

    Attributes:
      tokenized: candidates that end in " .".
      candidate_returns: candidates that end in a carriage return.
      identical: candidates that equal the reference, byte for byte.
      given: references that are not missing.
      reference_returns: references that end in a carriage return.
      scripts: candidates that are in each script of `SCRIPTS`, like one of their references.
    """

    tokenized: int = 0
    candidate_returns: int = 0
    identical: tuple[int, ...] = ()
    given: tuple[int, ...] = ()
    reference_returns: tuple[int, ...] = ()
    scripts: tuple[int, ...] = (0,) * len(SCRIPTS)

    def __post_init__(self) -> None:
        if len(self.scripts) != len(SCRIPTS):
            raise ValueError(f"there are {len(SCRIPTS)} scripts, not {len(self.scripts)}")

    @classmethod
    def of(cls, signs: BatchSigns, system: int, rows: slice = slice(None)) -> InputSigns:
        """The signs of some rows of one system's segments."""
        count = np.count_nonzero
        given = [int(count(each[rows])) for each in signs.given]
        while given and not given[-1]:
            # Only other rows of the batch need this column. The sums must not depend on which
            # rows are in the same batch.
            given.pop()
        present = range(len(given))
        return cls(
            tokenized=int(count(signs.tokenized[system, rows])),
            candidate_returns=int(count(signs.candidate_returns[system, rows])),
            scripts=tuple(
                np.bincount(signs.scripts[system, rows], minlength=len(SCRIPTS) + 1)[1:].tolist()
            ),
            identical=tuple(int(count(signs.identical[system, k, rows])) for k in present),
            given=tuple(given),
            reference_returns=tuple(int(count(signs.reference_returns[k, rows])) for k in present),
        )

    def __add__(self, other: InputSigns) -> InputSigns:
        return InputSigns(
            tokenized=self.tokenized + other.tokenized,
            candidate_returns=self.candidate_returns + other.candidate_returns,
            scripts=_added(self.scripts, other.scripts),
            identical=_added(self.identical, other.identical),
            given=_added(self.given, other.given),
            reference_returns=_added(self.reference_returns, other.reference_returns),
        )


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, itertools.zip_longest(one, other, fillvalue=0)))
