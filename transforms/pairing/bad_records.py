"""Bad records: the parts of an input that cannot be scored, each with a reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError

OnBadRecord = Literal["fail", "reject"]
ON_BAD_RECORD: tuple[OnBadRecord, ...] = get_args(OnBadRecord)

MAX_RAW_BYTES = 1 << 20

_TOLD = 3  # the largest number of bad records that an error names

BadReason = Literal[
    "invalid-utf8",
    "line-too-long",
    "wrong-number-of-fields",
    "repeated-header",
    "invalid-json",
    "wrong-type",
    "missing-candidate",
    "missing-reference",
    "missing-id",
    "missing-number",
    "not-a-number",
]
BAD_REASONS: tuple[BadReason, ...] = get_args(BadReason)  # why a record is bad


@dataclasses.dataclass(frozen=True)
class BadRecord:
    """A record, or a line of line-parallel text, that cannot be scored.

    Attributes:
      number: the number of its segment in the input, from 0. A segment can have several bad lines.
      place: where it is in the file, such as "line 17".
      what: why it is bad. If it begins with "has", it says what the place has: "has 2 fields".
      raw: its bytes, as far as they are known, at most `MAX_RAW_BYTES`.
    """

    number: int
    label: str
    path: str
    place: str
    reason: BadReason
    what: str
    remedy: str
    raw: bytes = b""

    @property
    def place_in_input(self) -> tuple[int, str, str, str]:
        return self.number, self.label, self.path, self.place

    @property
    def told(self) -> str:
        between = " " if self.what.startswith("has ") else ": "
        return f"{self.label}: {self.place}{between}{self.what}: {self.path}"


@dataclasses.dataclass
class FoundBad:
    first: list[BadRecord] = dataclasses.field(default_factory=list)
    records: int = 0
    segments: int = 0

    def add(self, bad: Sequence[BadRecord], segments: int) -> None:
        self.first += bad[: _TOLD - len(self.first)]
        self.records += len(bad)
        self.segments += segments


def bad_records_error(bad: Sequence[BadRecord], segments: int, read: int) -> InputError:
    """The error for the bad records of this number of segments, of those in a part of the input."""
    cause = "; ".join(record.told for record in bad[:_TOLD])
    if segments > 1:
        cause += f"; {segments:,} of {read:,} in this part of the input are bad"
    return InputError(cause, bad[0].remedy)
