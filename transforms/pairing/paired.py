"""The interface of all sources of segments, and what they give: segments, tallies, bad records."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Sums

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.pvalue import PCollection

    from beam_bleu.transforms.notices import Notice
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.pairing.files.streams import Shard, Stream
    from beam_bleu.transforms.wiring.steps import Step

InputRole = Literal["candidates", "references", "records", "labels"]


@dataclasses.dataclass(frozen=True)
class InputFile:
    """A file of an input, with its size before decompression. A pipe has no version."""

    path: str
    bytes: int
    lines: int
    version: str | None = None

    @classmethod
    def of(cls, stream: Stream, shard: Shard, lines: int, version: str | None) -> InputFile:
        path = stream.shown(shard.file.path)
        return cls(path, shard.file.size, lines, None if stream.pipe else version)


@dataclasses.dataclass(frozen=True)
class FoundInput:
    """An input as it was found, with its files in the order in which they are read."""

    role: InputRole
    system: str | None
    pattern: str
    files: tuple[InputFile, ...]
    labels: tuple[str, ...] = ()
    snapshot: str | None = None


_MODULUS = 1 << 128


@dataclasses.dataclass(frozen=True)
class Digests(Sums):
    """The method and the sum of hashes of each input, which does not depend on how it is cut; of
    records that have references, also those of the references, which come last.
    """

    segments: int
    sums: tuple[tuple[str, int], ...]

    def __add__(self, other: Digests) -> Digests:
        sums = zip(self.sums, other.sums, strict=True)
        added = tuple((method, one + two) for (method, one), (_, two) in sums)
        return Digests(self.segments + other.segments, added)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(f"{method}:{number % _MODULUS:032x}" for method, number in self.sums)


CoverageName = Literal["strict", "common", "each"]

# The rules for segments that not all systems have.
COVERAGES: dict[CoverageName, str] = {
    "strict": "every system must have every segment, and no others",
    "common": "only the segments that all systems have are scored",
    "each": "each system is scored on the segments that it has",
}


@dataclasses.dataclass(frozen=True)
class SystemCoverage:
    """How many segments of a join a system lacks, and how many it has without a reference."""

    system: str
    missing: int
    unknown: int


@dataclasses.dataclass(frozen=True)
class FoundCoverage:
    rule: str
    segments: int
    systems: tuple[SystemCoverage, ...]


@dataclasses.dataclass(frozen=True)
class FoundSegments:
    """What a source finds out about its segments: `notices` about the texts, for readers of the
    score, and `notes` about the files, which are not in the result: others can have these texts.
    `tasks` are those of the files, in a join of the files of every stream.
    """

    count: int
    notices: tuple[Notice, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[FoundInput, ...] = ()
    systems: tuple[str, ...] = ()
    coverage: FoundCoverage | None = None
    tasks: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Paired:
    """Aligned segments in a pipeline. Digests and tallies are those of parts of the input. Without
    tallies, every segment is scored for each system. `rejected` are as many as the tallies say;
    None if a bad record ends the pipeline.
    """

    batches: PCollection[SegmentBatch]
    segments: PCollection[FoundSegments]
    digests: PCollection[Digests] | None = None
    tallies: PCollection[Tally] | None = None
    rejected: PCollection[BadRecord] | None = None
    source: Source | None = None

    def __or__(self, transform: beam.PTransform) -> Any:
        """Applies a transform, such as `CorpusBleu.PerSystem`, to a dict of the PCollections."""
        outputs = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        there = {name: output for name, output in outputs.items() if output is not None}
        return PairedCollections(there) | transform


class PairedCollections(dict[str, Any]):
    """The PCollections by their names, and their source, which `Evaluate` needs."""

    def __init__(self, outputs: Mapping[str, Any]) -> None:
        self.source: Source | None = outputs.get("source")
        super().__init__({name: each for name, each in outputs.items() if name != "source"})


class Source(Protocol):
    """An input in one form, such as line-parallel text: a frozen value that can be pickled."""

    @property
    def systems(self) -> tuple[str, ...]:
        """As far as they are known before the input is read; `FoundSegments` has all of them."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def kept(self) -> tuple[str, ...]: ...

    @property
    def keeps_texts(self) -> bool: ...

    @property
    def is_of_lines(self) -> bool: ...

    @property
    def inputs(self) -> tuple[Stream, ...]:
        """Everything that is read: candidates first, then references and labels."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of the score, about the way in which the input is read."""

    def pair(self, threads: int, step: Step = ..., describe: bool = ...) -> beam.PTransform:
        """Makes `Paired` at a pipeline's root; `describe` also asks for files and digests."""


FILTERED = "filtered"  # the reason in a tally for segments that conditions of the user leave out

REJECTED = "rejected"


@dataclasses.dataclass(frozen=True)
class Tally(Sums):
    """What became of the segments of a part of the input: for each system, read = scored + all that
    were left out + missing. `left_out` is by reason, and `missing` by system. By condition,
    `met` is the number of records that meet it, and `judged`, only if not all of them should meet
    it, of those that were tested.
    """

    read: int = 0
    scored: Mapping[str, int] = dataclasses.field(default_factory=dict)
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    missing: Mapping[str, int] = dataclasses.field(default_factory=dict)
    bad_records: int = 0
    judged: Mapping[str, int] = dataclasses.field(default_factory=dict)
    met: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        conditions = sorted({*self.met, *other.met})
        return Tally(
            self.read + other.read,
            _added(self.scored, other.scored),
            _added(self.left_out, other.left_out),
            _added(self.missing, other.missing),
            self.bad_records + other.bad_records,
            _added(self.judged, other.judged),
            # With those that no record meets.
            {each: self.met.get(each, 0) + other.met.get(each, 0) for each in conditions},
        )

    def unexplained(self, system: str) -> int:
        known = self.scored.get(system, 0) + sum(self.left_out.values())
        return self.read - known - self.missing.get(system, 0)


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    return dict(sorted((collections.Counter(one) + collections.Counter(other)).items()))


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
    """A record, or a line, that cannot be scored. `number` is that of its segment in the input,
    from 0; `place` such as "line 17"; `what` can begin with "has", as in "has 2 fields".
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
    """The error for bad records in `segments` of the segments `read` in a part of the input."""
    cause = "; ".join(record.told for record in bad[:_TOLD])
    if segments > 1:
        cause += f"; {segments:,} of {read:,} in this part of the input are bad"
    return InputError(cause, bad[0].remedy)
