"""What became of the records of a portion on their way into the shuffle of a join."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from beam_bleu.transforms.errors import InputError, JobError, joined
from beam_bleu.transforms.pairing.lines.text_digest import MODULUS
from beam_bleu.transforms.pairing.records.joins.coverage import Report
from beam_bleu.transforms.pairing.tally import Tally

MOST_SYSTEMS = 1000
"""The largest number of systems of long records. Each one costs a row in the result, and memory in
each step. A column with more names is probably not that of the system."""


@dataclasses.dataclass(frozen=True)
class PortionReport:
    """The counts of a portion. Those of all portions of a stream are added up.

    Attributes:
      stream: the number of the stream.
      read: the number of records that were read.
      sent: the number of rows that were sent into the shuffle.
      lost: the bad records among the others.
      digest: the sum of the digests of the records; 0 if nobody asked for them.
      systems: the names of the systems of long records, in order, at most `MOST_SYSTEMS` + 1.
    """

    stream: int
    read: int = 0
    sent: int = 0
    lost: Tally = dataclasses.field(default_factory=Tally)
    digest: int = 0
    systems: tuple[str, ...] = ()

    def __add__(self, other: PortionReport) -> PortionReport:
        return PortionReport(
            self.stream,
            self.read + other.read,
            self.sent + other.sent,
            self.lost + other.lost,
            (self.digest + other.digest) % MODULUS,
            systems_in([self.systems, other.systems]),
        )


def systems_in(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The different names, in the order of their characters, at most `MOST_SYSTEMS` + 1."""
    different: set[str] = set()
    for of_portion in names:
        different.update(of_portion)
        if len(different) > MOST_SYSTEMS:
            break
    return tuple(sorted(different)[: MOST_SYSTEMS + 1])


def require_names(names: Sequence[str], column: str, label: str) -> None:
    """Checks that a column of systems can be one.

    Raises:
      InputError: it has too many names.
    """
    if len(names) > MOST_SYSTEMS:
        raise InputError(
            f"{label}: the column {column} names more than {MOST_SYSTEMS:,} systems: "
            f"{joined(names)}",
            "name the column of the systems' names: --system_column COLUMN",
        )


def require_all_arrived(
    streams: Sequence[PortionReport], planned: Sequence[int], all_: Report
) -> None:
    """Checks that every planned record was read once, and that every row came through the shuffle.

    Args:
      streams: the counts of each stream, over all of its portions.
      planned: the number of records of each stream.
      all_: the findings of all buckets.

    Raises:
      JobError: a record was lost, or was there twice.
    """
    for stream, count in zip(streams, planned, strict=True):
        arrived = all_.rows.get(stream.stream, 0)
        if stream.read != count or stream.sent != arrived:
            raise JobError(
                f"of stream {stream.stream + 1} of the join, {count} records were planned, "
                f"{stream.read} were read, {stream.sent} were sent and {arrived} arrived",
                "the runner lost or repeated data: do not use it for this job",
            )
