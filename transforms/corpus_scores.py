"""The library's transforms that score segments in any Beam pipeline.

All metrics share the steps. `CorpusScore` scores by any of them, `CorpusBleu`, `CorpusChrf`
and `CorpusTer` by one, and `CorpusScores` by several: the segments are gathered into batches once,
each batch is counted for all metrics, and one sum has the columns of all.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import METRICS, Definition, MetricName, MetricWord
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.bad_records import BadRecord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.pairing.segments.gather import GatherSegments
from beam_bleu.transforms.statistics.batch_steps import count_matches
from beam_bleu.transforms.totals.closing import (
    require_all_scored,
    tally_of,
)
from beam_bleu.transforms.totals.rejected import (
    DEFAULT_MAX_REJECTED,
    MostRejected,
    Rejected,
    check_rejected,
    condition_warnings,
    most_rejected_of,
    rejected_warnings,
)
from beam_bleu.transforms.totals.summing import SeveralTotals, sum_groups
from beam_bleu.transforms.wiring.add_up import AddUp

__all__ = [
    "CorpusBleu",
    "CorpusChrf",
    "CorpusScore",
    "CorpusScores",
    "CorpusTer",
    "require_no_files",
]


@dataclasses.dataclass(frozen=True)
class Scorer:
    """What scores totals. It is sent to the workers.

    Attributes:
      definitions: one of each metric, in the order of the scores.
      is_single: whether the score of the only metric is asked for, and not a dict of scores.
    """

    definitions: tuple[Definition, ...]
    is_single: bool

    def score(self, totals: SeveralTotals, system: str | None = None) -> Any:
        """The score of a system, or the scores by their metrics.

        Args:
          totals: those of one or more segments.
          system: the system; None for the only one.
        """
        scores = {
            definition.name: definition.score(of_metric, system)
            for definition, of_metric in zip(self.definitions, totals.metrics, strict=True)
        }
        return scores[self.definitions[0].name] if self.is_single else scores


class Scoring(beam.PTransform):
    """A transform that scores by one definition, or by more in a subclass.

    Attributes:
      _METRIC: the metric whose config it takes; None for that of any metric.
      _is_single: whether it gives the score of one metric, and not a dict of scores.
    """

    _METRIC: MetricName | None = None
    _is_single = True

    def __init__(self, config: Any, *, uncertainty: bool) -> None:
        super().__init__()
        require_flag("uncertainty", uncertainty)
        self._uncertainty = uncertainty
        self._chosen = self._choose(config).require_readable()
        self._scorer = Scorer(self._chosen.definitions, self._is_single)

    def _choose(self, config: Any) -> ChosenMetrics:
        """The metric of a config.

        Raises:
          ValueError: it is not a config that can score a corpus.
        """
        return ChosenMetrics.single(config, METRICS if self._METRIC is None else [self._METRIC])

    @property
    def _score_type(self) -> Any:
        """The type of what the transform gives for each corpus."""
        if self._is_single:
            return self._chosen.definitions[0].metric.score_type
        return typehints.Dict[str, Any]

    def _sums_of_batches(
        self, batches: PCollection[SegmentBatch], key_type: Any
    ) -> PCollection[tuple[Any, SeveralTotals]]:
        """Adds the steps from batches to (key of the group, sums)."""
        counted = self._chosen.counted
        return sum_groups(
            batches | "Count matches" >> count_matches(counted, threads=1),
            [metric.basis for _, metric in counted],
            key_type,
            with_products=self._uncertainty,
        )


class _ScoringOfSegments(Scoring):
    """A transform whose input is segments, or tables of pyarrow."""

    _KEYED: bool

    def __init__(
        self,
        config: Any = None,
        *,
        columns: ArrowColumns | None = None,
        uncertainty: bool = True,
    ) -> None:
        super().__init__(config, uncertainty=uncertainty)
        self._chosen.require_texts_only()
        self._gather = GatherSegments(keyed=self._KEYED, columns=columns)

    def _sums_of(
        self, segments: PCollection[Any], key_type: Any
    ) -> PCollection[tuple[Any, SeveralTotals]]:
        require_no_files(segments)
        batches = segments | "Gather segments" >> self._gather
        return self._sums_of_batches(batches, key_type)


class ScoreGlobally(_ScoringOfSegments):
    """PCollection of segments, or of tables -> PCollection of one score."""

    _KEYED = False

    def expand(self, segments: PCollection[Any]) -> PCollection[Any]:
        score = beam.Map(_score, self._scorer).with_output_types(self._score_type)
        return self._sums_of(segments, None) | "Score" >> score


class ScorePerKey(_ScoringOfSegments):
    """PCollection of (key, segment), or of tables -> PCollection of (key, score)."""

    _KEYED = True

    def expand(self, segments: PCollection[Any]) -> PCollection[tuple[Any, Any]]:
        require_no_files(segments)
        # The key keeps its type, and so its coder.
        key_type = self._gather.key_type(segments)
        keyed_score = typehints.Tuple[key_type, self._score_type]
        score = beam.Map(_score_of_key, self._scorer).with_output_types(keyed_score)
        return self._sums_of(segments, key_type) | "Score" >> score


class ScorePerSystem(Scoring):
    """`Paired` segments from files -> PCollection of (system, score)."""

    def __init__(
        self,
        config: Any = None,
        *,
        max_rejected: float = DEFAULT_MAX_REJECTED,
        uncertainty: bool = True,
    ) -> None:
        super().__init__(config, uncertainty=uncertainty)
        try:
            self._most_rejected = most_rejected_of(max_rejected)
        except ValueError as error:
            raise ValueError(f"max_rejected {error}") from None

    def expand(self, paired: Mapping[str, PCollection[Any]]) -> PCollection[tuple[str, Any]]:
        root = paired["segments"].pipeline
        # If there is no other data, the last step still gets the definition, and fails.
        ends = {
            "definition": root
            | "Name the definition"
            >> beam.Create([(self._scorer, self._most_rejected)], reshuffle=False),
            "segments": paired["segments"],
            "sums": self._sums_of_batches(paired["batches"], None),
        }
        if "tallies" in paired:
            ends["tallies"] = (
                paired["tallies"]
                | "Name the tallies" >> beam.Map(_keyed)
                | "Add up tallies" >> beam.CombinePerKey(AddUp())
                | "Take the tally" >> beam.Values()
            )
        if "rejected" in paired:
            ends["rejected"] = (
                paired["rejected"]
                | "Leave out the texts" >> beam.Map(_rejected)
                | "Add up rejected records" >> beam.CombinePerKey(AddUp())
                | "Take the rejected records" >> beam.Values()
            )
        return (
            {name: end | f"Send on the {name}" >> beam.Map(_keyed) for name, end in ends.items()}
            | "Bring it together" >> beam.CoGroupByKey()
            | "Score each system"
            >> beam.FlatMapTuple(_scores_of_systems).with_output_types(
                typehints.Tuple[str, self._score_type]
            )
        )


class CorpusScore:
    """The score of a corpus by any metric: its config says which one, by default sacreBLEU's BLEU.

    Scores are of the type of the metric, such as `ChrfScore` for a `ChrfConfig`. Everything else is
    as for `CorpusBleu`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import ChrfConfig, CorpusScore
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScore.Globally(ChrfConfig(beta=1))
      ...         | beam.Map(lambda chrf: print(f"{chrf.score:.2f}"))
      ...     )
      84.95
    """

    Globally = ScoreGlobally
    PerKey = ScorePerKey
    PerSystem = ScorePerSystem


class _SeveralMetrics(Scoring):
    """What the transforms of `CorpusScores` do otherwise than those of one metric."""

    _is_single = False

    def __init__(self, metrics: Sequence[MetricWord | Any], **options: Any) -> None:
        super().__init__(metrics, **options)

    def _choose(self, config: Any) -> ChosenMetrics:
        return ChosenMetrics.of(config)


class CorpusScores:
    """The scores of a corpus by several metrics, in one pass over its segments.

    `metrics` is a list of names, such as "bleu", and of configs, such as `ChrfConfig(beta=1)`; each
    metric can be there once. The result is a dict: the score of each metric by its name, in this
    order, each one the same as that of `CorpusScore`. Everything else is as for `CorpusBleu`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import ChrfConfig, CorpusScores
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusScores.Globally(metrics=["bleu", ChrfConfig(word_order=2), "ter"])
      ...         | beam.Map(lambda scores: {name: round(scores[name].score, 2) for name in scores})
      ...         | beam.Map(print)
      ...     )
      {'bleu': 75.98, 'chrf': 87.19, 'ter': 16.67}
    """

    class Globally(_SeveralMetrics, ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one dict of scores."""

    class PerKey(_SeveralMetrics, ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, dict of scores)."""

    class PerSystem(_SeveralMetrics, ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, dict of scores).

        See `CorpusBleu.PerSystem`.
        """


class CorpusBleu:
    """BLEU of a corpus of segments `(candidate, [reference, ...])`.

    Segments may have different numbers of references. A reference that is None is
    missing, and each segment needs at least one reference. The transform makes
    batches of segments, and the compiled kernel counts them. It works with any
    windowing and trigger. An empty input (or window) yields no element. If a
    tokenizer needs another library, install it where the pipeline is made and
    where it runs.

    Scores have a standard error and a 95 % interval, with the segment as the unit:
    how much would a score differ with other segments of the same kind? With
    `uncertainty=False` they have none, and the sums are smaller.

    With `columns=ArrowColumns(...)` the elements are tables of pyarrow with a segment in each row.
    Beam then needs no time for each segment (docs/columns.md).

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import BleuConfig, CorpusBleu
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusBleu.Globally(BleuConfig(lowercase=True))
      ...         | beam.Map(lambda bleu: print(f"{bleu.score:.2f} {bleu.matches}"))
      ...     )
      75.98 (5, 4, 3, 2)
    """

    class Globally(ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one `BleuScore`."""

        _METRIC = "bleu"

    class PerKey(ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, `BleuScore`)."""

        _METRIC = "bleu"

    class PerSystem(ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, `BleuScore`).

        The transforms that read files (`ReadPairedRecords` and others) give such segments. The
        last step compares the number of segments in each score with the number that was read. It
        fails with a `JobError` if the runner has lost or repeated data.

        The warnings about all of the input are in the `warnings` of each score: how many segments
        were rejected, and which segments a join did not find.

        Args:
          config: the definition; by default sacreBLEU's.
          max_rejected: with `on_bad_record="reject"`, how many segments may be rejected: a number
            (an int), or a fraction of those that are read (a float). The pipeline fails with an
            `InputError` if there are more, because a score of the others would look right.
          uncertainty: whether scores have a standard error and an interval.

        Raises:
          ValueError: a value is impossible.

        Examples:
          >>> import apache_beam as beam
          >>> from beam_bleu import CorpusBleu, ReadPairedRecords
          >>> with beam.Pipeline("FnApiRunner") as pipeline:
          ...     _ = (
          ...         pipeline
          ...         | ReadPairedRecords(
          ...             "examples/beam_yaml/records.jsonl",
          ...             candidate_columns=["atlas=candidate"],
          ...             reference_columns=["reference_a", "reference_b"],
          ...             where={"system": "atlas"},
          ...         )
          ...         | CorpusBleu.PerSystem()
          ...         | beam.MapTuple(lambda system, bleu: print(f"{system} {bleu.score:.1f}"))
          ...     )
          atlas 57.8
        """

        _METRIC = "bleu"


class CorpusChrf:
    """chrF of a corpus of segments `(candidate, [reference, ...])`.

    Segments, windows, uncertainty and tables of pyarrow are as for `CorpusBleu`. Its config is a
    `ChrfConfig`, and its scores are of the type `ChrfScore`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusChrf
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusChrf.Globally()
      ...         | beam.Map(lambda chrf: print(f"{chrf.score:.2f} {chrf.matches}"))
      ...     )
      88.96 (14, 13, 12, 11, 10, 9)
    """

    class Globally(ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one `ChrfScore`."""

        _METRIC = "chrf"

    class PerKey(ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, `ChrfScore`)."""

        _METRIC = "chrf"

    class PerSystem(ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, `ChrfScore`).

        See `CorpusBleu.PerSystem`.
        """

        _METRIC = "chrf"


class CorpusTer:
    """TER of a corpus of segments `(candidate, [reference, ...])`. Lower is better.

    Segments, windows, uncertainty and tables of pyarrow are as for `CorpusBleu`. Its config is a
    `TerConfig`, and its scores are of the type `TerScore`.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusTer
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("on the mat a cat sat", ["A cat sat on the mat"])])
      ...         | CorpusTer.Globally()
      ...         | beam.Map(lambda ter: print(f"{ter.score:.2f} {ter.edits} {ter.ref_length}"))
      ...     )
      16.67 1 6.0
    """

    class Globally(ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one `TerScore`."""

        _METRIC = "ter"

    class PerKey(ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, `TerScore`)."""

        _METRIC = "ter"

    class PerSystem(ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, `TerScore`).

        See `CorpusBleu.PerSystem`.
        """

        _METRIC = "ter"


def require_no_files(segments: Any) -> None:
    """Checks that segments are a PCollection, and not `Paired` segments from files.

    Raises:
      TypeError: they are segments from files.
    """
    if isinstance(segments, Mapping):
        raise TypeError(
            "segments that a transform reads from files have systems: score them with the "
            "PerSystem of the metric, such as CorpusBleu.PerSystem()"
        )


def _score(keyed: tuple[Any, Any], scorer: Scorer) -> Any:
    _, sums = keyed
    return scorer.score(sums)


def _score_of_key(keyed: tuple[Any, SeveralTotals], scorer: Scorer) -> tuple[Any, Any]:
    key, sums = keyed
    return key, scorer.score(sums)


def _rejected(bad: BadRecord) -> tuple[int, Rejected]:
    return 0, Rejected.of(bad)


def _scores_of_systems(key: int, ends: Mapping[str, Iterable[Any]]) -> Iterator[tuple[str, Any]]:
    """The score of each system, after the counts were compared.

    Raises:
      JobError: a segment was lost, or scored twice.
      InputError: too many segments are rejected, or no segment is left to score.
    """
    scorer: Scorer
    most: MostRejected
    ((scorer, most),) = ends["definition"]
    all_segments: list[FoundSegments] = list(ends["segments"])
    totals: list[SeveralTotals] = [sums for _, sums in ends["sums"]]
    (segments,) = all_segments
    tally = tally_of(segments, ends.get("tallies"))
    rejected = check_rejected(ends.get("rejected", ()), tally, most if "rejected" in ends else None)
    warnings = (
        *condition_warnings(tally),
        *rejected_warnings(tally, rejected),
        *sentences(segments.notices),
    )
    scored: collections.Counter[str] = collections.Counter()
    for part in totals:
        scored.update(part.metrics[0].segments)
    require_all_scored({name: tally.scored.get(name, 0) for name in segments.systems}, scored)
    for system in segments.systems:
        if not scored[system]:
            raise InputError(
                f"no segment of system {system} is scored: {tally.read} were read",
                "check the conditions, and the rejected records",
            )
        yield system, _with_warnings(scorer.score(totals[0], system), warnings)


def _with_warnings(score: Any, warnings: tuple[str, ...]) -> Any:
    """A score, or scores by their metrics, with these warnings before their own."""
    if isinstance(score, Mapping):
        return {name: _with_warnings(of_metric, warnings) for name, of_metric in score.items()}
    return dataclasses.replace(score, warnings=(*warnings, *score.warnings))


def _keyed(value: Any) -> tuple[int, Any]:
    """A value with the key that all values have."""
    return 0, value
