"""What a join finds out about ids (missing, unknown, repeated), and the messages about that."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.native.arrays import added_by_key
from beam_bleu.transforms.notices import SHOWN_IDS, Notice, named_ids
from beam_bleu.transforms.pairing.paired import CoverageName, Tally

NOT_IN_ALL, WITHOUT_REFERENCE = "not-in-all-systems", "not-in-all-references"


class Finding(NamedTuple):
    """An id as messages show it, the first places where it occurs, and its record's number."""

    number: int
    id: str
    places: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Findings:
    count: int = 0
    first: tuple[Finding, ...] = ()

    def __add__(self, other: Findings) -> Findings:
        first = sorted({*self.first, *other.first})[:SHOWN_IDS]
        return Findings(self.count + other.count, tuple(first))

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(finding.id for finding in self.first)


# An id that occurs twice on a side; a record whose references, labels or kept columns differ from
# those of its segment's first one; a segment that a side lacks; an id that the first side lacks; a
# segment for which two sides have different documents.
Sort = Literal["twice", "differing", "missing", "unknown", "mismatched"]

_COVER = "add the missing records, or choose --coverage common or --coverage each"

# For findings that can end the job, the message and the remedy.
_ERRORS: dict[Sort, tuple[str, str]] = {
    "twice": (
        "ids that occur several times: {count:,}",
        "each segment must have one record with its id: leave out the others, such as by --where, "
        "or name the columns that tell them apart, such as --join_on task,doc_id",
    ),
    "differing": (
        "records with other references, labels or columns of --keep than the first one of their "
        "segment: {count:,}",
        "give the records of all systems the same references for a segment",
    ),
    "missing": ("missing segments: {count:,} of {segments:,}", _COVER),
    "unknown": ("records with an id that {base} do not have: {count:,}", _COVER),
}

# The sort; the name of the side, or of two sides; and the column that differs, if any.
FindingKey = tuple[Sort, str, str]


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found in portions or in buckets. `sent` and `arrived` count rows before and after
    the shuffle, `segments` those that conditions keep and no bad record rejects. The tally of
    portions counts bad records without a readable id or system as segments.
    """

    read: int = 0
    sent: int = 0
    arrived: int = 0
    segments: int = 0
    findings: Mapping[FindingKey, Findings] = dataclasses.field(default_factory=dict)
    tally: Tally = dataclasses.field(default_factory=Tally)
    digest: int = 0
    systems: tuple[str, ...] = ()

    def __add__(self, other: Report) -> Report:
        return Report(
            self.read + other.read,
            self.sent + other.sent,
            self.arrived + other.arrived,
            self.segments + other.segments,
            added_by_key(self.findings, other.findings),
            self.tally + other.tally,
            self.digest + other.digest,
            tuple(sorted({*self.systems, *other.systems})),
        )

    def of(self, sort: Sort, name: str) -> Findings:
        return self.findings.get((sort, name, ""), Findings())


def require_none(sorts: Sequence[Sort], report: Report, sides: Sequence[str]) -> None:
    said: list[str] = []
    remedies = []
    for side, sort in itertools.product(sides, sorts):
        findings = report.of(sort, side)
        if findings.count:
            told, remedy = _ERRORS[sort]
            what = told.format(count=findings.count, segments=report.segments, base=sides[0])
            # The places of all sides together would be too long to read.
            places = "" if said else f": {', '.join(findings.first[0].places)}"
            said.append(f"{side}: {what} (ids {named_ids(findings.ids, findings.count)}){places}")
            remedies.append(remedy)
    if said:
        raise InputError(joined(said, SHOWN_IDS, separator="; "), remedies[0])


def mismatches(report: Report) -> tuple[Notice, ...]:
    by_streams: dict[str, dict[str, Findings]] = {}
    for (sort, streams, column), found in sorted(report.findings.items()):
        if sort == "mismatched":
            by_streams.setdefault(streams, {})[column] = found
    notices = []
    for streams, by_column in by_streams.items():
        column, *others = sorted(by_column, key=lambda name: -by_column[name].count)
        most = by_column[column]
        columns = column + (f" (and {joined(others)})" if others else "")
        notices.append(Notice("documents", streams, most.count, report.segments, most.ids, columns))
    return tuple(notices)


def coverage_notices(rule: CoverageName, report: Report, sides: Sequence[str]) -> Iterator[Notice]:
    """How many segments are not scored; also if none, because merging adds those of other parts."""
    segments = report.segments
    for side in sides:
        missing, unknown = report.of("missing", side), report.of("unknown", side)
        yield Notice("missing", side, missing.count, segments)
        yield Notice("unknown", side, unknown.count, ids=unknown.ids, detail=sides[0])
    left_out = report.tally.left_out
    dropped = sum(left_out.get(reason, 0) for reason in (NOT_IN_ALL, WITHOUT_REFERENCE))
    yield Notice("left-out", f"--coverage {rule}", dropped, segments)
