"""The library's transform: BLEU of a PCollection of segments, in any Beam pipeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.metrics.bleu.score import BleuScore, bleu_score
from beam_bleu.transforms.metrics.bleu.scoring import Scoring, counted_order
from beam_bleu.transforms.pairing.bad_records import BadRecord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns, SegmentTable
from beam_bleu.transforms.pairing.segments.batching import Segment
from beam_bleu.transforms.pairing.segments.gather import GatherSegments
from beam_bleu.transforms.statistics.count_matches import count_matches
from beam_bleu.transforms.text.library_tokenizers import require_tokenizer
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import (
    add_tallies,
    require_all_scored,
    sums_by_system,
    tally_of,
)
from beam_bleu.transforms.totals.conditions import condition_warnings
from beam_bleu.transforms.totals.rejected import (
    DEFAULT_MAX_REJECTED,
    MostRejected,
    Rejected,
    check_rejected,
    rejected_warnings,
)
from beam_bleu.transforms.totals.steps import KeyedSums, sum_groups
from beam_bleu.transforms.wiring.keyed import keyed

__all__ = ["CorpusBleu"]


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

    Example:
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

    class Globally(beam.PTransform):
        """PCollection of segments, or of tables -> PCollection of one `BleuScore`."""

        def __init__(
            self,
            config: BleuConfig | None = None,
            *,
            columns: ArrowColumns | None = None,
            uncertainty: bool = True,
        ) -> None:
            super().__init__()
            require_flag("uncertainty", uncertainty)
            self._config = checked_config(config)
            self._gather = GatherSegments(keyed=False, columns=columns)
            self._uncertainty = uncertainty

        def expand(self, segments: PCollection[Segment | SegmentTable]) -> PCollection[BleuScore]:
            require_no_files(segments)
            batches = segments | "Gather segments" >> self._gather
            sums = _sums(batches, self._config, None, self._uncertainty)
            text, scoring = self._config.text.name, self._config.scoring
            return sums | "Score" >> beam.Map(_score, text, scoring)

    class PerKey(beam.PTransform):
        """PCollection of (key, segment), or of tables -> PCollection of (key, `BleuScore`)."""

        def __init__(
            self,
            config: BleuConfig | None = None,
            *,
            columns: ArrowColumns | None = None,
            uncertainty: bool = True,
        ) -> None:
            super().__init__()
            require_flag("uncertainty", uncertainty)
            self._config = checked_config(config)
            self._gather = GatherSegments(keyed=True, columns=columns)
            self._uncertainty = uncertainty

        def expand(
            self, segments: PCollection[tuple[Any, Segment] | SegmentTable]
        ) -> PCollection[tuple[Any, BleuScore]]:
            require_no_files(segments)
            # The key keeps its type, and so its coder.
            key_type = self._gather.key_type(segments)
            batches = segments | "Gather segments" >> self._gather
            sums = _sums(batches, self._config, key_type, self._uncertainty)
            text, scoring = self._config.text.name, self._config.scoring
            return sums | "Score" >> beam.Map(_score_of_key, text, scoring).with_output_types(
                typehints.Tuple[key_type, BleuScore]
            )

    class PerSystem(beam.PTransform):
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

        Example:
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

        def __init__(
            self,
            config: BleuConfig | None = None,
            *,
            max_rejected: float = DEFAULT_MAX_REJECTED,
            uncertainty: bool = True,
        ) -> None:
            super().__init__()
            require_flag("uncertainty", uncertainty)
            self._config = checked_config(config)
            self._uncertainty = uncertainty
            try:
                self._most_rejected = MostRejected.of_number(max_rejected)
            except ValueError as error:
                raise ValueError(f"max_rejected {error}") from None

        def expand(
            self, paired: Mapping[str, PCollection[Any]]
        ) -> PCollection[tuple[str, BleuScore]]:
            root = paired["segments"].pipeline
            # Without other data the last step still gets the config. Then it fails.
            ends = {
                "config": root
                | "Name the config"
                >> beam.Create([(self._config, self._most_rejected)], reshuffle=False),
                "segments": paired["segments"],
                "sums": _sums(paired["batches"], self._config, None, self._uncertainty),
            }
            if "tallies" in paired:
                ends["tallies"] = (
                    paired["tallies"]
                    | "Name the tallies" >> beam.Map(keyed)
                    | "Add up tallies" >> beam.CombinePerKey(add_tallies)
                    | "Take the tally" >> beam.Values()
                )
            if "rejected" in paired:
                ends["rejected"] = (
                    paired["rejected"]
                    | "Leave out the texts" >> beam.Map(_rejected)
                    | "Add up rejected records" >> beam.CombinePerKey(_add_rejected)
                    | "Take the rejected records" >> beam.Values()
                )
            return (
                {name: end | f"Send on the {name}" >> beam.Map(keyed) for name, end in ends.items()}
                | "Bring it together" >> beam.CoGroupByKey()
                | "Score each system"
                >> beam.FlatMapTuple(_scores_of_systems).with_output_types(
                    typehints.Tuple[str, BleuScore]
                )
            )


def checked_config(config: BleuConfig | None) -> BleuConfig:
    """The config, or the default one. It can score a corpus, and its tokenizer is installed."""
    if config is None:
        config = BleuConfig()
    elif not isinstance(config, BleuConfig):
        raise ValueError(
            f"config must be a BleuConfig, got {config!r}, of type {type(config).__name__}"
        )
    config.scoring.require_corpus()
    require_tokenizer(config.text)
    return config


def require_no_files(segments: Any) -> None:
    """Checks that segments are a PCollection, and not `Paired` segments from files.

    Raises:
      TypeError: they are.
    """
    if isinstance(segments, Mapping):
        raise TypeError(
            "segments that a transform reads from files have systems: score them with "
            "CorpusBleu.PerSystem()"
        )


def _sums(
    batches: PCollection[SegmentBatch], config: BleuConfig, key_type: Any, uncertainty: bool
) -> PCollection[KeyedSums]:
    order = counted_order([config.scoring])
    counting = count_matches(config.text, BleuCounter(order), threads=1)
    statistics = batches | "Count matches" >> counting
    return sum_groups(statistics, bleu_basis(order), key_type, with_units=uncertainty)


def _score(keyed: KeyedSums, text: TextName, scoring: Scoring) -> BleuScore:
    _, sums = keyed
    return bleu_score(sums, text, scoring, units=sums.units)


def _score_of_key(keyed: KeyedSums, text: TextName, scoring: Scoring) -> tuple[Any, BleuScore]:
    (_, key), sums = keyed
    return key, bleu_score(sums, text, scoring, units=sums.units)


def _rejected(bad: BadRecord) -> tuple[int, Rejected]:
    return 0, Rejected.of(bad)


def _add_rejected(parts: Iterable[Rejected]) -> Rejected:
    return sum(parts, start=Rejected())


def _scores_of_systems(
    key: int, ends: Mapping[str, Iterable[Any]]
) -> Iterator[tuple[str, BleuScore]]:
    """The score of each system, after the counts were compared.

    Raises:
      JobError: a segment was lost, or scored twice.
      InputError: too many segments are rejected, or no segment is left to score.
    """
    config: BleuConfig
    most: MostRejected
    ((config, most),) = ends["config"]
    found: list[FoundSegments] = list(ends["segments"])
    sums = sums_by_system(found, list(ends["sums"]))
    (segments,) = found
    tally = tally_of(segments, ends.get("tallies"))
    rejected = check_rejected(ends.get("rejected", ()), tally, most if "rejected" in ends else None)
    warnings = (
        *condition_warnings(tally),
        *rejected_warnings(tally, rejected),
        *segments.warnings,
    )
    require_all_scored({name: tally.scored.get(name, 0) for name in segments.systems}, sums)
    for system in segments.systems:
        if system not in sums:
            raise InputError(
                f"no segment of system {system} is scored: {tally.read} were read",
                "check the conditions, and the rejected records",
            )
        of_system = sums[system]
        score = bleu_score(of_system, config.text.name, config.scoring, units=of_system.units)
        yield system, dataclasses.replace(score, warnings=(*warnings, *score.warnings))
