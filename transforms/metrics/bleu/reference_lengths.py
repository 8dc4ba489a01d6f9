"""The rules of the reference length: which length counts if a segment has several references.

`count_rows.py` computes the lengths by all rules, `totals/corpus_sums.py` adds them up.
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
      name: its name here.
      description: the length of one segment's references.
      in_sacrebleu: whether sacreBLEU uses it.
      divided: whether the length is the tokens of all references divided by the
        number of references, so that it may not be an integer.
    """

    name: ReferenceLengthName
    description: str
    in_sacrebleu: bool = False
    divided: bool = False


REFERENCE_LENGTHS: Mapping[ReferenceLengthName, ReferenceLength] = table(
    ReferenceLength(
        "closest",
        "the length of the reference that is closest in length to the candidate; "
        "if two are equally close, the shorter one",
        in_sacrebleu=True,
    ),
    ReferenceLength("closest_first", "the same, but if two are equally close, the first one"),
    ReferenceLength("shortest", "the length of the shortest reference"),
    ReferenceLength("longest", "the length of the longest reference"),
    ReferenceLength("average", "the mean length of the segment's references", divided=True),
)
"""All rules, in the order in which they are shown."""
