"""The library's transforms that score segments, and compare systems, in any Beam pipeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.chosen_metrics import ChosenMetrics, require_readable, require_texts_only
from beam_bleu.transforms.definition.choices import require_flag, require_texts
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import Definition, MetricName, MetricWord
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.sum_rows import row_of_sums
from beam_bleu.transforms.metrics.metric import Config
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.pairing.segments.gather import GatherSegments
from beam_bleu.transforms.score.differences import ComparedSystems, chosen_pairs
from beam_bleu.transforms.statistics.batch_steps import count_matches
from beam_bleu.transforms.totals.batch_adder import SeveralTotals
from beam_bleu.transforms.totals.closing import (
    DEFAULT_MAX_REJECTED,
    MostRejected,
    Rejected,
    check_rejected,
    condition_warnings,
    most_rejected_of,
    rejected_warnings,
    require_all_scored,
    tally_of,
)
from beam_bleu.transforms.totals.summing import sum_groups


@dataclasses.dataclass(eq=False, repr=False)
class ScoreGroups(beam.PTransform):
    """PCollection of segments, or of tables -> the result of each group of segments. With `keyed`,
    each key is a group, and elements are (key, result).
    """

    name: str
    chosen: ChosenMetrics
    result: Callable[[SeveralTotals], Any]
    result_type: Any
    keyed: bool
    columns: ArrowColumns | None
    uncertainty: bool = True
    systems: tuple[str, ...] | None = None
    pairs: Sequence[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        super().__init__(self.name)
        require_flag("uncertainty", self.uncertainty)
        require_texts_only(self.chosen.needs)
        self._gather = GatherSegments(self.keyed, self.systems, self.columns)

    def expand(self, segments: PCollection[Any]) -> PCollection[Any]:
        if isinstance(segments, Mapping):
            raise TypeError(
                "segments that a transform reads from files have systems: score them with the "
                "PerSystem of the metric, such as CorpusBleu.PerSystem()"
            )
        key_type = self._gather.key_type(segments)  # the key keeps its type, and so its coder
        batches = segments | "Gather segments" >> self._gather
        sums = _sums(batches, self.chosen, key_type, self.uncertainty, self.pairs)
        result, is_keyed = self.result, self.keyed
        keyed = typehints.Tuple[key_type, self.result_type]
        return sums | "Score" >> beam.MapTuple(
            lambda key, totals: (key, result(totals)) if is_keyed else result(totals)
        ).with_output_types(keyed if is_keyed else self.result_type)


def _sums(
    batches: PCollection[SegmentBatch],
    chosen: ChosenMetrics,
    key_type: Any,
    uncertainty: bool,
    pairs: Sequence[tuple[str, str]] = (),
) -> PCollection[tuple[Any, SeveralTotals]]:
    return sum_groups(
        batches | "Count matches" >> count_matches(chosen.counted, threads=1),
        [metric.basis for _, metric in chosen.counted],
        key_type,
        pairs,
        with_products=uncertainty,
    )


@dataclasses.dataclass(frozen=True)
class Scorer:
    """Makes scores of totals. It is sent to the workers, so it has no models of tokenizers."""

    definitions: tuple[Definition, ...]
    is_single: bool

    @property
    def score_type(self) -> Any:
        if self.is_single:
            return self.definitions[0].metric.score_type
        return typehints.Dict[str, Any]

    def __call__(
        self, totals: SeveralTotals, system: str | None = None, warnings: tuple[str, ...] = ()
    ) -> Any:
        """The score of a system, or the scores by their metrics, with these warnings first."""
        scores = {}
        for definition, of_metric in zip(self.definitions, totals.metrics, strict=True):
            score = definition.score(of_metric, system)
            scores[definition.name] = dataclasses.replace(
                score, warnings=(*warnings, *score.warnings)
            )
        return next(iter(scores.values())) if self.is_single else scores


def _score_groups(
    public: type,
    chosen: ChosenMetrics,
    columns: ArrowColumns | None,
    uncertainty: bool,
    *,
    keyed: bool,
) -> beam.PTransform:
    name = f"{public.__name__}.{'PerKey' if keyed else 'Globally'}"
    scorer = Scorer(chosen.definitions, public is not CorpusScores)
    return ScoreGroups(name, chosen, scorer, scorer.score_type, keyed, columns, uncertainty)


@dataclasses.dataclass(eq=False, repr=False)
class ScoreSystems(beam.PTransform):
    public: type
    chosen: ChosenMetrics
    max_rejected: float
    uncertainty: bool

    def __post_init__(self) -> None:
        super().__init__(f"{self.public.__name__}.PerSystem")
        require_flag("uncertainty", self.uncertainty)
        require_readable(self.chosen.needs)
        self._scorer = Scorer(self.chosen.definitions, self.public is not CorpusScores)
        try:
            self._most_rejected = most_rejected_of(self.max_rejected)
        except ValueError as error:
            raise ValueError(f"max_rejected {error}") from None

    def expand(self, paired: Mapping[str, PCollection[Any]]) -> PCollection[tuple[str, Any]]:
        # If there is no other data, the last step still gets the definition, and fails.
        definition = beam.Create([(self._scorer, self._most_rejected)], reshuffle=False)
        ends = {
            "definition": paired["segments"].pipeline | "Name the definition" >> definition,
            "segments": paired["segments"],
            "sums": _sums(paired["batches"], self.chosen, None, self.uncertainty),
        }
        if "tallies" in paired:
            ends["tallies"] = paired["tallies"]
        if "rejected" in paired:
            ends["rejected"] = paired["rejected"] | "Leave out the texts" >> beam.Map(Rejected.of)
        scored = typehints.Tuple[str, self._scorer.score_type]
        return (
            {name: end | f"Send on the {name}" >> beam.WithKeys(0) for name, end in ends.items()}
            | "Bring it together" >> beam.CoGroupByKey()
            | "Score each system" >> beam.FlatMapTuple(_scores_of_systems).with_output_types(scored)
        )


def _scores_of_systems(_: int, ends: Mapping[str, Iterable[Any]]) -> Iterator[tuple[str, Any]]:
    scorer: Scorer
    most: MostRejected
    segments: FoundSegments
    ((scorer, most),) = ends["definition"]
    (segments,) = ends["segments"]
    tally = tally_of(segments, ends.get("tallies"))
    rejected = check_rejected(ends.get("rejected", ()), tally, most if "rejected" in ends else None)
    warnings = (
        *condition_warnings(tally),
        *rejected_warnings(tally, rejected),
        *sentences(segments.notices),
    )
    totals: list[SeveralTotals] = [sums for _, sums in ends["sums"]]
    scored = totals[0].metrics[0].segments if totals else {}
    require_all_scored({name: tally.scored.get(name, 0) for name in segments.systems}, scored)
    for system in segments.systems:
        if not scored.get(system):
            raise InputError(
                f"no segment of system {system} is scored: {tally.read} were read",
                "check the conditions, and the rejected records",
            )
        yield system, scorer(totals[0], system, warnings)


class CorpusScore:
    """The score of a corpus by any metric: its config says which one, by default sacreBLEU's BLEU.

    Scores are of the type of the metric, such as `ChrfScore` for a `ChrfConfig`. Everything else is
    as for `CorpusBleu`.
    """

    _METRIC: ClassVar[MetricName | None] = None

    @classmethod
    def Globally(  # noqa: N802 - as Beam's own
        cls, config: Any = None, *, columns: ArrowColumns | None = None, uncertainty: bool = True
    ) -> beam.PTransform:
        """PCollection of segments, or of tables -> PCollection of one score."""
        chosen = ChosenMetrics.single(config, cls._METRIC)
        return _score_groups(cls, chosen, columns, uncertainty, keyed=False)

    @classmethod
    def PerKey(  # noqa: N802
        cls, config: Any = None, *, columns: ArrowColumns | None = None, uncertainty: bool = True
    ) -> beam.PTransform:
        """PCollection of (key, segment), or of tables -> PCollection of (key, score)."""
        chosen = ChosenMetrics.single(config, cls._METRIC)
        return _score_groups(cls, chosen, columns, uncertainty, keyed=True)

    @classmethod
    def PerSystem(  # noqa: N802
        cls,
        config: Any = None,
        *,
        max_rejected: float = DEFAULT_MAX_REJECTED,
        uncertainty: bool = True,
    ) -> beam.PTransform:
        """`Paired` segments from files -> PCollection of (system, score).

        The transforms that read files (`ReadPairedRecords` and others) give such segments. The
        pipeline fails with a `JobError` if the runner has lost or repeated data.

        Each score has the warnings about all of the input: how many segments were rejected, and
        which segments a join did not find.

        Args:
          config: the definition; by default sacreBLEU's.
          max_rejected: with `on_bad_record="reject"`, how many segments may be rejected: a number
            (an int), or a fraction of those that are read (a float). The pipeline fails with an
            `InputError` if there are more, because a score of the others would look right.
          uncertainty: whether scores have a standard error and an interval.
        """
        chosen = ChosenMetrics.single(config, cls._METRIC)
        return ScoreSystems(cls, chosen, max_rejected, uncertainty)


class CorpusScores:
    """The scores of a corpus by several metrics, in one pass over its segments.

    `metrics` is a list of names, such as "bleu", and of configs, such as `ChrfConfig(beta=1)`; each
    metric can be there once. The result is a dict: the score of each metric by its name, in this
    order, each one the same as that of `CorpusScore`. Everything else is as for `CorpusBleu`.
    """

    @classmethod
    def Globally(  # noqa: N802
        cls,
        metrics: Sequence[MetricWord | Any],
        *,
        columns: ArrowColumns | None = None,
        uncertainty: bool = True,
    ) -> beam.PTransform:
        """PCollection of segments, or of tables -> PCollection of one dict of scores."""
        return _score_groups(cls, ChosenMetrics.of(metrics), columns, uncertainty, keyed=False)

    @classmethod
    def PerKey(  # noqa: N802
        cls,
        metrics: Sequence[MetricWord | Any],
        *,
        columns: ArrowColumns | None = None,
        uncertainty: bool = True,
    ) -> beam.PTransform:
        """PCollection of (key, segment), or of tables -> PCollection of (key, dict of scores)."""
        return _score_groups(cls, ChosenMetrics.of(metrics), columns, uncertainty, keyed=True)

    @classmethod
    def PerSystem(  # noqa: N802
        cls,
        metrics: Sequence[MetricWord | Any],
        *,
        max_rejected: float = DEFAULT_MAX_REJECTED,
        uncertainty: bool = True,
    ) -> beam.PTransform:
        """`Paired` segments -> PCollection of (system, dict of scores). See `CorpusScore`."""
        return ScoreSystems(cls, ChosenMetrics.of(metrics), max_rejected, uncertainty)


class CorpusBleu(CorpusScore):
    """BLEU of a corpus of segments `(candidate, [reference, ...])`.

    Segments may have different numbers of references. A reference that is None is missing, and each
    segment needs at least one reference. It works with any windowing and trigger. An empty input
    (or window) yields no element. If a tokenizer needs another library, install it where the
    pipeline is made and where it runs.

    Scores have a standard error and a 95 % interval, with the segment as the unit: how much would a
    score differ with other segments of the same kind? With `uncertainty=False` they have none, and
    the sums are smaller.

    With `columns=ArrowColumns(...)` the elements are tables of pyarrow with a segment in each row.
    Beam then needs no time for each segment (docs/library.md).
    """

    _METRIC = "bleu"


class CorpusChrf(CorpusScore):
    """chrF of a corpus of segments, like `CorpusBleu`: by a `ChrfConfig`, as a `ChrfScore`."""

    _METRIC = "chrf"


class CorpusTer(CorpusScore):
    """TER (lower is better), like `CorpusBleu`: by a `TerConfig`, as a `TerScore`."""

    _METRIC = "ter"


class SumSegments(ScoreGroups):
    """PCollection of (key, segment), or of tables -> PCollection of (key, row of sums).

    A row is a dict of integers. The rows of parts of a corpus, such as days, can be added up by
    SQL, and `bleu_of_sums` makes a score of the result. docs/library.md explains the columns.
    It works with any windowing and trigger, like `CorpusBleu`.

    Args:
      config: the definition; by default sacreBLEU's. Of its scoring, only the n-gram order matters.
      columns: the columns of the segments and their keys, if the elements are tables of pyarrow.
    """

    def __init__(
        self, config: BleuConfig | None = None, *, columns: ArrowColumns | None = None
    ) -> None:
        super().__init__(
            type(self).__name__,
            ChosenMetrics.single(config, "bleu"),
            lambda totals: row_of_sums(totals.metrics[0]),
            typehints.Dict[str, int],
            True,
            columns,
        )


class CompareSystems:
    """Compares systems on segments `({system: candidate, ...}, [reference, ...])`.

    Each segment has a candidate of every system, because a comparison is only fair on the same
    segments. References, windows and empty inputs are as for `CorpusBleu`. The unit is the segment.
    p-values are adjusted by Holm for the comparisons of one element.

    Both transforms have these arguments:

    - `systems`: the names of two or more systems.
    - `config`: the definition of a metric, such as a `ChrfConfig`; by default sacreBLEU's BLEU.
    - `baseline`: the system with which the others are compared; by default the first one.
    - `all_pairs`: whether each system is compared with every other one. Then the result also has
      clusters.
    - `columns`: the columns of the segments, if the elements are tables of pyarrow. Its `candidate`
      is a dict with the column of each system.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CompareSystems
      >>> segments = [({"old": "a b c d e", "new": f"a b c d {i % 3}"}, ["a b c d 1"])
      ...             for i in range(300)]
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     compared = pipeline | beam.Create(segments) | CompareSystems.Globally(["old", "new"])
      ...     differences = compared | beam.FlatMap(lambda compared: compared.comparisons)
      ...     _ = differences | beam.Map(lambda each: print(f"{each.difference:+.1f}"))
      +11.4
    """

    @classmethod
    def Globally(  # noqa: N802 - as Beam's own
        cls,
        systems: Sequence[str],
        config: Config | None = None,
        *,
        baseline: str | None = None,
        all_pairs: bool = False,
        columns: ArrowColumns | None = None,
    ) -> beam.PTransform:
        """PCollection of segments, or of tables -> PCollection of one `ComparedSystems`."""
        return _comparing(systems, config, baseline, all_pairs, columns, keyed=False)

    @classmethod
    def PerKey(  # noqa: N802
        cls,
        systems: Sequence[str],
        config: Config | None = None,
        *,
        baseline: str | None = None,
        all_pairs: bool = False,
        columns: ArrowColumns | None = None,
    ) -> beam.PTransform:
        """PCollection of (key, segment), or of tables, to one of (key, `ComparedSystems`)."""
        return _comparing(systems, config, baseline, all_pairs, columns, keyed=True)


def _comparing(
    systems: Sequence[str],
    config: Config | None,
    baseline: str | None,
    all_pairs: bool,
    columns: ArrowColumns | None,
    *,
    keyed: bool,
) -> beam.PTransform:
    require_texts("systems", systems)
    names = tuple(systems)
    pairs = tuple(chosen_pairs(names, baseline, all_pairs=all_pairs))
    chosen = ChosenMetrics.single(config)
    (definition,) = chosen.definitions
    return ScoreGroups(
        f"CompareSystems.{'PerKey' if keyed else 'Globally'}",
        chosen,
        lambda totals: definition.compared(totals.metrics[0], names, pairs, all_pairs=all_pairs),
        ComparedSystems,
        keyed,
        columns,
        systems=names,
        pairs=pairs,
    )
