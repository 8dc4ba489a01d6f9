"""`Evaluate`, the transform that computes in any Beam pipeline all that the command computes.

Its keywords are flags of the command, and are checked by the same code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.typehints import typehints

from beam_bleu.pipeline.command_line.config import FLAGS, GROUPS, Config
from beam_bleu.pipeline.command_line.definition_flags import job_metrics, with_choices
from beam_bleu.pipeline.command_line.options import job_of
from beam_bleu.pipeline.command_line.parser import check_rules
from beam_bleu.pipeline.folder.manifest import streams
from beam_bleu.pipeline.result.document import document_bytes, document_of, read_result
from beam_bleu.pipeline.saved.judging import enforce
from beam_bleu.pipeline.saved.totals_file import saved_bytes
from beam_bleu.pipeline.scoring.batch_sums import (
    additions,
    bring_together,
    by_end,
    counting,
    of_documents,
    segment_tables,
    sum_all,
)
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.pipeline.scoring.scored import result_of
from beam_bleu.pipeline.scoring.thresholds import Gates
from beam_bleu.pipeline.scoring.totals import DIGESTS, TALLIES, Ends, only_sum
from beam_bleu.transforms.chosen_metrics import (
    checked_definition,
    configs_by_word,
    require_readable,
    require_texts_only,
)
from beam_bleu.transforms.definition.flags import SEE_HELP, flags_of, nearest
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord, config_type
from beam_bleu.transforms.native.arrays import Sums, added_by_key
from beam_bleu.transforms.pairing.paired import BadRecord, FoundSegments, PairedCollections
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns, SegmentTable
from beam_bleu.transforms.pairing.segments.gather import GatherSegments
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import MetricsAdder
from beam_bleu.transforms.totals.closing import Rejected
from beam_bleu.transforms.totals.documents import DocumentAdder, DocumentTotals
from beam_bleu.transforms.wiring.steps import AddUp, unchanged

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from beam_bleu.pipeline.library.keyword_types import Keywords


class Evaluated(NamedTuple):
    """The outputs of `Evaluate`: PCollections with the elements of each result.

    Attributes:
      document: the result document, a dict with what `scores.json` has (docs/result.md).
      scores: its scores, a dict for each metric, system and slice.
      comparisons: its comparisons of systems, a dict each.
      examples: the entries of the command's examples.jsonl, a dict each; empty unless `examples`
        asks for them.
      totals: the bytes of `totals.json`, for `beam-bleu merge`, `rescore` and `compare`; empty
        unless `save_totals` asks for them.
      segment_scores: tables with a row for each segment, system and metric; None unless
        `segment_scores` asks for them.
      rejected: the rejected records; None if the input rejects none.
    """

    document: PCollection[dict[str, Any]]
    scores: PCollection[dict[str, Any]]
    comparisons: PCollection[dict[str, Any]]
    examples: PCollection[dict[str, Any]]
    totals: PCollection[bytes]
    segment_scores: PCollection[pa.Table] | None
    rejected: PCollection[BadRecord] | None


class Evaluate(beam.PTransform):
    """Computes in any Beam pipeline what the command computes. Returns an `Evaluated`.

    The keywords, which docs/library.md lists, have the names, values and defaults of the command's
    flags, and are checked by the same code: values when the transform is made, combinations when
    the input is known.

    The input is either `Paired` segments from a transform that reads files, such as
    `ReadPairedRecords`, or pyarrow tables with a segment in each row, whose columns are named by
    `columns`. For the same segments, the document has the bytes of the command's `scores.json`.

    Tables can have any windowing and trigger: each window, or each pane, that is not empty has its
    own result. The sums of a pane (with `documents`, of each document) are in one worker's memory.

    If a threshold such as `fail_under` is missed, the pipeline fails with the command's error. This
    happens in a separate step, after a shuffle, so that other steps can write the result first.

    Args:
      columns: for tables, the columns of each system, of references and of labels; None for
        `Paired` segments.
      unpooled: the label whose values are tasks that have no common score.
      keywords: all else, by the names of the command's flags. A keyword that is None or missing
        has its default. `metrics` is a list of names, such as "bleu", and of configs, such as
        `ChrfConfig(beta=1)`.

    Raises:
      ValueError: a keyword is not known, or a value or a combination is impossible.
      InputError: a file that a keyword names cannot be read.
    """

    def __init__(
        self,
        *,
        columns: ArrowColumns | None = None,
        unpooled: str | None = None,
        **keywords: Unpack[Keywords],
    ) -> None:
        super().__init__()
        self._asked = Asked(keywords, unpooled)
        self._columns = columns
        if columns is None:
            return
        if not isinstance(columns, ArrowColumns) or isinstance(columns.candidate, str):
            raise ValueError(
                "columns must be ArrowColumns whose candidate is a dict with the column of each "
                f"system, such as ArrowColumns({{NAME: COLUMN}}, [REFERENCE]), got {columns!r}"
            )
        require_texts_only(self._asked.metrics.needs)
        systems = tuple(columns.candidate)
        source = TableSource(systems, tuple(columns.labels), tuple(columns.kept))
        self._job = self._asked.job(source)
        self._gather = GatherSegments(False, systems, columns, of_segments=True)
        evidence = self._job.evidence
        draws_segments = evidence.resampling is not None and evidence.documents is None
        if columns.ids is None and (self._job.segment_scores or self._job.picks or draws_segments):
            raise ValueError(
                "segment_scores, examples, diversity, and resample without documents need to know "
                "each segment: name the column of ids, ArrowColumns(ids=...)"
            )

    def __ror__(self, left: Any, label: str | None = None) -> Any:
        if isinstance(left, PairedCollections):
            if self._columns is not None:
                raise ValueError("columns are for tables, but the input is segments from files")
            if left.source is None:
                raise ValueError("the Paired segments have no source: name it, Paired(source=...)")
            job = self._asked.job(
                left.source, rejects="rejected" in left, describes="digests" in left
            )
            return _EvaluatePaired(job).__ror__(left, label)
        return super().__ror__(left, label)

    def expand(self, tables: PCollection[SegmentTable]) -> Evaluated:
        if self._columns is None or not isinstance(tables, PCollection):
            raise ValueError(
                "Evaluate takes segments from files (such as ReadPairedRecords), or a PCollection "
                "of tables, whose columns must be named: Evaluate(columns=ArrowColumns(...))"
            )
        job = self._job
        batches = tables | "Gather segments" >> self._gather
        statistics = batches | "Count matches" >> counting(job, unchanged)
        tables_of_segments = segment_tables(statistics, job, unchanged)
        return _evaluated(ends_of_panes(statistics, job), job, tables_of_segments, None)


class _EvaluatePaired(beam.PTransform):
    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def default_label(self) -> str:
        return "Evaluate"

    def expand(self, paired: Mapping[str, PCollection[Any]]) -> Evaluated:
        job = self._job
        of_source = {name: paired.get(name) for name in (TALLIES, DIGESTS)}
        summed = sum_all(paired["batches"], job, unchanged, of_source)
        # So that the last step runs, and fails, even if a runner has lost all other data.
        ends = {
            "definition": paired["segments"].pipeline
            | "Name the definition" >> beam.Create([job.of_last_step], reshuffle=False),
            "segments": paired["segments"],
        }
        if "rejected" in paired:
            ends["rejected"] = paired["rejected"] | "Leave out the texts" >> beam.Map(Rejected.of)
        gathered = bring_together(ends, summed.sums)
        names = [*ends, *summed.ends]
        by_name = gathered | "Take the ends" >> beam.Map(lambda got: by_end(names, got[1]))
        return _evaluated(by_name, job, summed.tables, paired.get("rejected"))


def _outputs(ends: Ends) -> Iterator[Any]:
    job: Job = only_sum("the definition", ends["definition"])
    totals, result, examples = result_of(job, ends)
    scores = document_bytes(document_of(result))
    # Through JSON, so that the document is the same as one read from a file.
    document = json.loads(scores)
    yield document
    for score in document["scores"]:
        yield TaggedOutput("scores", score)
    for comparison in document.get("comparisons", ()):
        yield TaggedOutput("comparisons", comparison)
    for line in (examples or b"").splitlines():
        yield TaggedOutput("examples", json.loads(line))
    if job.evidence.save_totals:
        read = []
        if DIGESTS in ends:
            read = streams(ends["segments"][0], only_sum(DIGESTS, ends[DIGESTS]))
        yield TaggedOutput("totals", saved_bytes(totals, job, read, scores))


def _evaluated(
    ends: PCollection[Ends],
    job: Job,
    tables: Mapping[MetricWord, PCollection[pa.Table]],
    rejected: PCollection[BadRecord] | None,
) -> Evaluated:
    tags = ("scores", "comparisons", "examples", "totals")
    results = ends | "Score" >> beam.FlatMap(_outputs).with_outputs(*tags, main="document")
    document = results.document
    document.element_type = typehints.Dict[str, Any]
    if job.gates:
        _ = (
            document
            | "Let others write the result" >> beam.Reshuffle()
            | "Judge the result" >> beam.Map(_judge, job.gates)
        )
    return Evaluated(
        document,
        scores=results.scores,
        comparisons=results.comparisons,
        examples=results.examples,
        totals=results.totals,
        segment_scores=list(tables.values()) | "Collect segment scores" >> beam.Flatten()
        if tables
        else None,
        rejected=rejected,
    )


def _judge(document: Mapping[str, Any], gates: Gates) -> None:
    enforce(gates, read_result(document), "")


@dataclasses.dataclass(frozen=True)
class PaneSums(Sums):
    """What a job adds up in a part of a pane: sums, by the name of the end or `_of_documents`."""

    segments: int
    named: Mapping[str, Sums]

    def __add__(self, other: PaneSums) -> PaneSums:
        return PaneSums(self.segments + other.segments, added_by_key(self.named, other.named))

    @property
    def nbytes(self) -> int:
        return sum(sums.nbytes for sums in self.named.values())


def _of_documents(end: str) -> str:
    return f"documents of {end}"


def ends_of_panes(statistics: PCollection[BatchStatistics], job: Job) -> PCollection[Ends]:
    """Adds the steps from statistics of batches to the `Ends` of each window and pane.

    Triggers fire for each key, so all sums have one key: a pane then has all of them, or none.
    """
    keyed = typehints.Tuple[type(None), PaneSums]
    return (
        statistics
        | "Sum each batch" >> beam.ParDo(_SumBatch(job)).with_output_types(keyed)
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(keyed)
        | "Take the ends" >> beam.ParDo(_TakeEnds(job)).with_output_types(typehints.Any)
    )


class _SumBatch(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._additions = additions(job)

    def process(self, statistics: BatchStatistics) -> Iterator[tuple[None, PaneSums]]:
        adder = MetricsAdder(self._additions)
        adder.add(statistics)
        sums = adder.sums()
        for end, adding in of_documents(self._additions).items():
            documents = DocumentAdder(adding)
            documents.add(statistics)
            sums[_of_documents(end)] = documents.sums()
        yield None, PaneSums(len(statistics), sums)


class _TakeEnds(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._systems = tuple(job.source.systems)
        self._job = job.of_last_step
        self._additions = additions(job)

    def process(self, keyed: tuple[None, PaneSums | None]) -> Iterator[Ends]:
        _, pane = keyed
        if pane is None:  # a pane without a table, for which Beam gives the empty sum
            return
        ends: dict[str, list[Any]] = {
            "definition": [self._job],
            "segments": [FoundSegments(pane.segments, systems=self._systems)],
            **{name: [sums] for name, sums in pane.named.items()},
        }
        for end, adding in of_documents(self._additions).items():
            (documents,) = ends.pop(_of_documents(end))
            totals = DocumentTotals(adding)
            totals.add(documents)
            ends[end] = [ends[end][0] + totals.totals()]
        yield ends


_GROUPS = ("definition", "output, more scores", "slices", "evidence", "gates")
_MORE = ("allow", "max_rejected", "save_totals", "partition")
_OF_FILES = ("confusions", "keep", "label_from_path", "labels", "report")

KEYWORDS = {
    row.name: row
    for title, rows in GROUPS.items()
    for row in rows
    # Without metrics of numbers: the transforms that read do not read log-probabilities.
    if ((title.startswith(_GROUPS) and not title.endswith("of numbers")) or row.name in _MORE)
    and row.name not in _OF_FILES
}

_FLAG = re.compile(rf"--({'|'.join(each.name for each in FLAGS if not each.is_shown_only)})\b")
"""Flags in messages, which here must be named as keywords, or as arguments of a Read transform."""


class Asked:
    def __init__(self, keywords: Mapping[str, Any], unpooled: str | None = None) -> None:
        for name in keywords:
            if name not in KEYWORDS:
                near = nearest(name, KEYWORDS)
                meant = f"did you mean {near}?" if near else "docs/library.md has all of them"
                raise ValueError(f"Evaluate has no keyword {name!r}; {meant}")
        if unpooled is not None and not isinstance(unpooled, str):
            raise ValueError(f"unpooled must be the name of a label, got {unpooled!r}")
        metrics = keywords.get("metrics")
        configs = {} if metrics is None else configs_by_word(metrics)
        with _naming_keywords():
            values = {
                name: KEYWORDS[name].value_of(value)
                for name, value in {**keywords, "metrics": [*configs] or None}.items()
                if value is not None and value is not False
            }
            flags = with_choices(Config, values)
            own = [] if unpooled is None else [(unpooled,)]
            self._flags = dataclasses.replace(
                flags,
                output="",  # PCollections take the place of files in a folder
                slice_by=tuple(dict.fromkeys([*flags.slice_by, *own])),
            )
            self.metrics = job_metrics(self._flags, unpooled, configs)
        for word, config in configs.items():
            if config is None:
                continue
            checked_definition(config)  # raises if it cannot score a corpus here
            names = {row.name for row in flags_of(config_type(word))}
            names |= {"preset", "language"} if word == DEFAULT_METRIC else set()
            for name in sorted(names & values.keys()):
                raise ValueError(
                    f"{name} has no effect, because the config in metrics defines {word}; leave "
                    "one of them out"
                )
        require_readable(self.metrics.needs)

    def job(self, source: Any, *, rejects: bool = False, describes: bool = False) -> Job:
        documents = self._flags.documents
        if documents is not None and documents not in source.labels:  # here, never a file's name
            raise ValueError(f"documents: the input has no label {documents!r}")
        if self._flags.save_totals and self._flags.partition is None and not describes:
            raise ValueError(
                "save_totals needs partition, so that nobody adds up the same totals twice; or "
                "files that are read with describe=True"
            )
        flags = dataclasses.replace(
            self._flags,
            on_bad_record="reject" if rejects else "fail",
            coverage=getattr(source, "coverage", None),
        )
        with _naming_keywords():
            check_rules(flags, hidden=["report"])  # which is no keyword
            return job_of(flags, source, self.metrics)


@dataclasses.dataclass(frozen=True)
class TableSource:
    """What a job must know about tables: the attributes of a `Source` that it uses."""

    systems: tuple[str, ...]
    labels: tuple[str, ...]
    kept: tuple[str, ...]
    keeps_texts: bool = False
    is_of_lines: bool = False


@contextlib.contextmanager
def _naming_keywords() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        remedy = "docs/flags.md has the values" if error.remedy == SEE_HELP else error.remedy
        parts = [_FLAG.sub(r"\1", part) for part in (error.cause, remedy) if part]
        raise ValueError("; ".join(parts)) from None
