"""What a join finds out about ids: which are missing, unknown or twice, and what follows from it.

Each bucket has findings of its own. They are added up, and one step judges all of them, so an
error or a warning does not depend on the buckets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.notices import SHOWN_IDS, Notice
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.records.joins.record_ids import can_be_joined, parts_of_kind

CoverageName = Literal["strict", "common", "each"]
COVERAGE_NAMES: tuple[CoverageName, ...] = get_args(CoverageName)


@dataclasses.dataclass(frozen=True)
class Coverage:
    """A rule for segments that not all systems have.

    Attributes:
      description: what the rule says, for --help and the pages.
      partial: whether a segment is scored for the systems that have it, if others do not.
      complete: whether it is an error if a stream lacks a segment, or has an unknown one.
    """

    description: str
    partial: bool
    complete: bool


COVERAGES: dict[CoverageName, Coverage] = {
    "strict": Coverage(
        "every system must have every segment, and no others", partial=False, complete=True
    ),
    "common": Coverage(
        "only the segments that all systems have are scored", partial=False, complete=False
    ),
    "each": Coverage(
        "each system is scored on the segments that it has", partial=True, complete=False
    ),
}

NOT_IN_ALL, WITHOUT_REFERENCE = "not-in-all-systems", "not-in-all-references"
"""Reasons in a tally for segments that are left out."""

BETWEEN = "\n"
"""What no name that can be shown has."""


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """An id in an error.

    Attributes:
      number: the number of its record or segment in its stream. The first ones are named.
      id: the id, as messages show it.
      places: where it is, for example ("a.jsonl line 7", "b.jsonl line 9"): the first places.
      times: in how many places it is.
    """

    number: int
    id: str
    places: tuple[str, ...] = ()
    times: int = 1

    @property
    def told_places(self) -> str:
        """Its places, as a part of a message."""
        more = self.times - len(self.places)
        return ", ".join(self.places) + (f" and {more:,} more" if more > 0 else "")


@dataclasses.dataclass(frozen=True)
class Findings:
    """All findings of one sort: their number, and the first ones."""

    count: int = 0
    first: tuple[Finding, ...] = ()

    def __add__(self, other: Findings) -> Findings:
        first = sorted({*self.first, *other.first})[:SHOWN_IDS]
        return Findings(self.count + other.count, tuple(first))

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def first_ids(self) -> tuple[str, ...]:
        """The first ids."""
        return tuple(finding.id for finding in self.first)

    @property
    def ids(self) -> str:
        """The first ids, as a part of a message."""
        more = self.count - len(self.first)
        shown = ", ".join(self.first_ids)
        return shown + (f" and {more:,} more" if more > 0 else "")


Sort = Literal["twice", "differing", "missing", "unknown", "mismatched"]
"""What is found: an id that is twice in a stream; a segment whose rows have different references
or labels; a segment that a stream does not have; an id that the references do not have; a segment
for which two streams have different documents."""

_NONE = Findings()


@dataclasses.dataclass(frozen=True)
class Report:
    """The findings of a bucket, or of several, which can be added up.

    Attributes:
      rows: by the number of a stream, how many of its rows came through the shuffle.
      kinds: by the number of a stream, the kinds of its ids: for each kind, its first record.
      segments: the number of segments that the conditions keep.
      findings: the findings by their sort and by the name of a stream or system. For "mismatched",
        the name is that of two streams and that of a column, with `BETWEEN` between them.
    """

    rows: Mapping[int, int] = dataclasses.field(default_factory=dict)
    kinds: Mapping[int, Mapping[str, Finding]] = dataclasses.field(default_factory=dict)
    segments: int = 0
    findings: Mapping[tuple[Sort, str], Findings] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Report) -> Report:
        rows = dict(self.rows)
        for stream, count in other.rows.items():
            rows[stream] = rows.get(stream, 0) + count
        kinds = {stream: dict(of_stream) for stream, of_stream in self.kinds.items()}
        for stream, of_stream in other.kinds.items():
            so_far = kinds.setdefault(stream, {})
            for kind, finding in of_stream.items():
                so_far[kind] = min(finding, so_far.get(kind, finding))
        findings = dict(self.findings)
        for key, of_key in other.findings.items():
            findings[key] = findings.get(key, _NONE) + of_key
        return Report(rows, kinds, self.segments + other.segments, findings)

    def of(self, sort: Sort, name: str) -> Findings:
        """The findings of a sort in a stream."""
        return self.findings.get((sort, name), _NONE)

    @property
    def prevents_batches(self) -> bool:
        """Whether the rows of this bucket cannot be joined: the job will fail."""
        unclear = any(of_key and key[0] in _UNCLEAR for key, of_key in self.findings.items())
        return unclear or not can_be_joined(
            {kind for of_stream in self.kinds.values() for kind in of_stream}
        )


_UNCLEAR: tuple[Sort, ...] = ("twice", "differing")


@dataclasses.dataclass(frozen=True)
class Side:
    """A stream of records, or a system of long records, in messages.

    Attributes:
      name: its name in `Report.findings`, which messages show: "candidates LIUM-NMT".
      stream: the number of its stream.
    """

    name: str
    stream: int


def add_reports(reports: Iterable[Report]) -> Report:
    """The sum of the reports."""
    return sum(reports, start=Report())


def require_clear_ids(report: Report, sides: Sequence[Side]) -> None:
    """Checks that all ids are of one kind, and that no id is twice in a stream.

    Args:
      report: the findings of all buckets.
      sides: the streams. The first one has the ids that the others are compared with.

    Raises:
      InputError: see above; or the rows of a segment have different references.
    """
    _require_one_kind(report, sides)
    for side in sides:
        if twice := report.of("twice", side.name):
            first = twice.first[0]
            raise InputError(
                f"{side.name}: the id {first.id} occurs {first.times:,} times: "
                f"{first.told_places}" + _others(twice, "ids occur several times"),
                "each segment must have one record with its id: remove the others, or name the "
                "columns that tell them apart, such as --join_on task,doc_id",
            )
    for side in sides:
        if differing := report.of("differing", side.name):
            first = differing.first[0]
            raise InputError(
                f"{side.name}: the records of the segment {first.id} have different references, "
                f"labels or columns of --keep: {', '.join(first.places)}"
                + _others(differing, "records differ from the first one of their segment"),
                "give the records of all systems the same references for a segment",
            )


def _others(findings: Findings, said: str) -> str:
    return f"; in all, {findings.count:,} {said}" if findings.count > 1 else ""


def _require_one_kind(report: Report, sides: Sequence[Side]) -> None:
    names = {side.stream: side.name for side in reversed(sides)}
    first_of_kinds = [
        (stream, parts_of_kind(kind), first)
        for stream, of_stream in sorted(report.kinds.items())
        for kind, first in sorted(of_stream.items(), key=lambda item: item[1])
    ]
    parts = len(first_of_kinds[0][1]) if first_of_kinds else 0
    kinds = [
        (part, stream, of_parts[part], first)
        for part in range(parts)
        for stream, of_parts, first in first_of_kinds
        if of_parts[part] != "text"
    ]
    for part, stream, kind, first in kinds:
        _, usual_stream, usual, first_usual = next(row for row in kinds if row[0] == part)
        if kind != usual:
            which = f"in column {part + 1} of the ids, " if parts > 1 else ""
            raise InputError(
                f"{which}the ids of {names[usual_stream]} are {usual}s, such as "
                f"{first_usual.id}, and those of {names[stream]} are {kind}s, such as {first.id}: "
                f"{first_usual.places[0]}, {first.places[0]}",
                "write the ids in the same way in all files: as strings, or as integers",
            )


def require_complete(report: Report, sides: Sequence[Side], lost: Mapping[int, int]) -> None:
    """Checks that all sides have the same segments as the first one.

    Args:
      report: the findings of all buckets.
      sides: the stream of references, then the others; or long records, then their systems.
      lost: by the number of a stream, how many of its bad records belong to no known segment.

    Raises:
      InputError: a segment is missing, or there is an unknown one.
    """
    said = []
    for side in sides:
        missing, unknown = report.of("missing", side.name), report.of("unknown", side.name)
        if missing:
            said.append(
                f"{side.name}: missing segments: {missing.count:,} of {report.segments:,} "
                f"(ids {missing.ids})"
            )
        if unknown:
            places = unknown.first[0].places
            said.append(
                f"{side.name}: records with an id that {sides[0].name} do not have: "
                f"{unknown.count:,} (ids {unknown.ids})" + (f": {places[0]}" if places else "")
            )
    if not said:
        return
    cause = "; ".join(said[:SHOWN_IDS])
    if len(said) > SHOWN_IDS:
        cause += f"; and {len(said) - SHOWN_IDS} more differences"
    if bad_records := sum(lost.values()):
        cause += f"; rejected bad records whose segment is not known: {bad_records:,}"
    raise InputError(
        cause,
        "every system must have every segment: add the missing records, or choose "
        "--coverage common or --coverage each",
    )


def mismatches(report: Report) -> tuple[Notice, ...]:
    """Which streams have different documents for the same ids, and in which columns."""
    by_streams: dict[str, dict[str, Findings]] = {}
    for sort, name in sorted(report.findings):
        if sort == "mismatched":
            streams, column = name.split(BETWEEN)
            by_streams.setdefault(streams, {})[column] = report.of(sort, name)
    notices = []
    for streams, by_column in by_streams.items():
        column, *others = sorted(by_column, key=lambda name: -by_column[name].count)
        most = by_column[column]
        columns = column + (f" (and {joined(others)})" if others else "")
        notices.append(
            Notice("documents", streams, most.count, report.segments, most.first_ids, columns)
        )
    return tuple(notices)


def found_coverage(
    name: CoverageName, report: Report, systems: Sequence[str], sides: Sequence[Side]
) -> FoundCoverage:
    """Which segments each system has.

    Args:
      name: the rule.
      report: the findings of all buckets.
      systems: the systems' names.
      sides: the side of each system.
    """
    of_systems = tuple(
        SystemCoverage(
            system, report.of("missing", side.name).count, report.of("unknown", side.name).count
        )
        for system, side in zip(systems, sides, strict=True)
    )
    return FoundCoverage(name, report.segments, of_systems)


def coverage_notices(
    name: CoverageName, report: Report, sides: Sequence[Side], left_out: Mapping[str, int]
) -> Iterator[Notice]:
    """How many segments are not scored. Also none, because those of other parts are added.

    Args:
      name: the rule.
      report: the findings of all buckets.
      sides: the streams, with the references' first one first.
      left_out: by reason, how many segments no system is scored on.
    """
    segments = report.segments
    for side in sides:
        missing, unknown = report.of("missing", side.name), report.of("unknown", side.name)
        yield Notice("missing", side.name, missing.count, segments)
        yield Notice(
            "unknown", side.name, unknown.count, ids=unknown.first_ids, detail=sides[0].name
        )
    dropped = sum(left_out.get(reason, 0) for reason in (NOT_IN_ALL, WITHOUT_REFERENCE))
    yield Notice("left-out", f"--coverage {name}", dropped, segments)
