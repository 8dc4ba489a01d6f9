"""The rules of the reference length: which length the references of a segment count with.

`statistics/kernel.py` counts by every rule, `totals/corpus_totals.py` adds up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

ReferenceLengthName = Literal["closest", "closest_first", "shortest", "longest", "average"]


@dataclasses.dataclass(frozen=True)
class ReferenceLength:
    """A row of `REFERENCE_LENGTHS`.

    Attributes:
      name: what it is called here.
      description: the length of one segment's references.
      in_sacrebleu: whether it is sacreBLEU's.
      divided: whether the tokens of all references are counted, and divided by the
        references: the length is then no integer.
    """

    name: str
    description: str
    in_sacrebleu: bool = False
    divided: bool = False


REFERENCE_LENGTHS: Mapping[str, ReferenceLength] = table(
    ReferenceLength(
        "closest",
        "that of the reference closest in length to the candidate; "
        "of two equally close ones the shorter",
        in_sacrebleu=True,
    ),
    ReferenceLength("closest_first", "the same; of two equally close ones the first"),
    ReferenceLength("shortest", "that of the shortest reference"),
    ReferenceLength("longest", "that of the longest one"),
    ReferenceLength("average", "the mean over the segment's references", divided=True),
)
"""All rules, in the order in which they are shown."""
