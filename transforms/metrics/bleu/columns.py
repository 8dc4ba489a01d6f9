"""The columns of BLEU: the integers of a segment from which every definition of BLEU is computed.

The totals follow from the other columns. Let h_j be 1 if a candidate has fewer than j tokens,
otherwise 0 (`short_candidates`). Then t_n = max(c - n + 1, 0) = c - (n - 1) + h_1 + ... + h_(n-1).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from numpy.typing import NDArray

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.metrics.metric import PARTS_OF_A_TOKEN, SEGMENTS, Basis

# The columns after `SEGMENTS`; the matches and the short candidates of N orders come last.
CANDIDATE_LENGTH, SHORTEST, CLOSEST, CLOSEST_FIRST, LONGEST, AVERAGE, FIRST_MATCHES = range(1, 8)
FIRST_COLUMNS = {
    "segments": "1",
    "candidate_length": "tokens of the candidate",
    "ref_shortest": "tokens of the shortest reference",
    "ref_closest_more": "tokens of the closest reference minus those of the shortest one",
    "ref_closest_first_more": "tokens of the closest reference, the first one if two are equally "
    "close, minus those of the closest one",
    "ref_longest_more": "tokens of the longest reference minus those of the shortest one",
    "ref_average_more": f"{PARTS_OF_A_TOKEN:,} times (the average number of tokens of the "
    "references minus those of the shortest one)",
}

ReferenceLengthName = Literal["closest", "closest_first", "shortest", "longest", "average"]


@dataclasses.dataclass(frozen=True)
class ReferenceLength:
    """A row of `REFERENCE_LENGTHS`: columns, each with a factor, whose sum `divisor` divides."""

    name: ReferenceLengthName
    description: str
    columns: tuple[tuple[int, int], ...]
    tools: tuple[str, ...] = ()
    in_sacrebleu: bool = False
    divisor: int = 1


REFERENCE_LENGTHS: Mapping[ReferenceLengthName, ReferenceLength] = table(
    ReferenceLength(
        "closest",
        "the length of the reference that is closest in length to the candidate; "
        "if two are equally close, the shorter one",
        ((SHORTEST, 1), (CLOSEST, 1)),
        ("the paper", "NLTK since 3.0.3", "both Perl scripts"),
        in_sacrebleu=True,
    ),
    ReferenceLength(
        "closest_first",
        "the same, but if two are equally close, the first one",
        ((SHORTEST, 1), (CLOSEST, 1), (CLOSEST_FIRST, 1)),
        ("torchmetrics", "TensorFlow Model Analysis"),
    ),
    ReferenceLength(
        "shortest",
        "the length of the shortest reference",
        ((SHORTEST, 1),),
        ("NIST", "TensorFlow NMT", "Hugging Face"),
    ),
    ReferenceLength(
        "longest", "the length of the longest reference", ((SHORTEST, 1), (LONGEST, 1))
    ),
    ReferenceLength(
        "average",
        "the mean length of the segment's references",
        ((SHORTEST, PARTS_OF_A_TOKEN), (AVERAGE, 1)),
        divisor=PARTS_OF_A_TOKEN,
    ),
)


def width(max_order: int) -> int:
    return FIRST_MATCHES + 2 * max_order


def order_of(of_columns: int) -> int:
    return (of_columns - FIRST_MATCHES) // 2


@functools.cache
def bleu_basis(max_order: int) -> Basis:
    orders = range(1, max_order + 1)
    names = (*FIRST_COLUMNS, *(f"matches_{n}" for n in orders), *(f"short_{n}" for n in orders))
    return Basis(names, shared=(SEGMENTS, SHORTEST, LONGEST, AVERAGE))


class BleuColumns:
    """BLEU's columns by their names: numbers, or arrays of one shape. [n - 1] is of order n."""

    def __init__(self, columns: Sequence[Any] | NDArray[Any]) -> None:
        self._columns: Any = columns
        self.max_order = order_of(len(columns))
        self.segments: Any = self._columns[SEGMENTS]
        self.candidate_length: Any = self._columns[CANDIDATE_LENGTH]
        first_short = FIRST_MATCHES + self.max_order
        self.matches: Any = self._columns[FIRST_MATCHES:first_short]
        self.short_candidates: Any = self._columns[first_short:]

    @functools.cached_property
    def totals(self) -> tuple[Any, ...]:
        segments, total = self.segments, self.candidate_length
        totals = [total]
        for short in self.short_candidates[:-1]:
            total = total - segments + short
            totals.append(total)
        return tuple(totals)

    def reference_length(self, rule: ReferenceLengthName) -> tuple[Any, int]:
        """The tokens of the references by a rule: integers, and the number to divide them by."""
        row = REFERENCE_LENGTHS[rule]
        first, *more = (self._columns[column] * factor for column, factor in row.columns)
        return sum(more, first), row.divisor
