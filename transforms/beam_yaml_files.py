"""Scores of files for Beam YAML: the transforms of `reading.py` and `CorpusBleu.PerSystem` in one.

Each transform starts a pipeline. Its configuration has the arguments of the transform that reads
(`ReadPairedRecords` and so on), `max_rejected`, and the keys of the definition, as `CorpusBleu` has
them:

    pipeline:
      type: chain
      transforms:
        - type: ScorePairedRecords
          config:
            pattern: examples/beam_yaml/records.jsonl
            candidate_columns: [atlas=candidate]
            reference_columns: [reference_a, reference_b]
            where: {system: atlas}
            tokenize: 13a
        - type: WriteToJson
          config:
            path: out/scores.jsonl

    providers:
      - type: python
        config: {}
        transforms:
          ScoreJoinedRecords: beam_bleu.transforms.beam_yaml_files.ScoreJoinedRecords
          ScoreLineParallel: beam_bleu.transforms.beam_yaml_files.ScoreLineParallel
          ScoreLongRecords: beam_bleu.transforms.beam_yaml_files.ScoreLongRecords
          ScorePairedRecords: beam_bleu.transforms.beam_yaml_files.ScorePairedRecords

The provider is also a file next to this one. beam_yaml.py describes other providers. The files are
read in batches of columns. So this is faster than reading rows with Beam's own readers, and no
value changes on the way.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.transforms.beam_yaml import (
    DEFINITION_KEYS,
    bleu_types,
    definition_of,
    score_fields,
)
from beam_bleu.transforms.corpus_scores import CorpusBleu
from beam_bleu.transforms.metrics.bleu.score import BleuScore
from beam_bleu.transforms.reading import (
    ReadJoinedRecords,
    ReadLineParallel,
    ReadLongRecords,
    ReadPairedRecords,
)

__all__ = [
    "ScoreJoinedRecords",
    "ScoreLineParallel",
    "ScoreLongRecords",
    "ScorePairedRecords",
]


_CLOSING_KEYS = ("max_rejected", "uncertainty")
"""The arguments of `CorpusBleu.PerSystem` that are not part of a definition."""


def reading_keys(reads: type[beam.PTransform]) -> list[str]:
    """The keys of a transform that reads, which are its arguments."""
    return list(inspect.signature(reads).parameters)


def reader_of(
    reads: type[beam.PTransform], config: Mapping[str, Any], label: str
) -> beam.PTransform:
    """The transform that reads, made of its keys in a configuration. A null is a missing key.

    Args:
      reads: its class.
      config: the configuration, which can have other keys.
      label: the name of the whole transform, for messages.

    Raises:
      ValueError: an argument is missing or impossible.
    """
    arguments = {key: config[key] for key in reading_keys(reads) if config.get(key) is not None}
    try:
        inspect.signature(reads).bind(**arguments)
    except TypeError as error:
        raise ValueError(f"{label}: {error}") from error
    return reads(**arguments)


class _ScoreFiles(beam.PTransform):
    """The root of a pipeline -> a row for each system.

    A row has the `system` and the fields of a `BleuScore`, in the order of the systems.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    READS: type[beam.PTransform]

    _yaml_requires_inputs = False  # Beam YAML asks for it, because the names do not begin with Read

    def __init__(self, **config: Any) -> None:
        super().__init__()
        keys = (*reading_keys(self.READS), *_CLOSING_KEYS, *DEFINITION_KEYS)
        for key in config:
            if key not in keys:
                known = ", ".join(keys)
                raise ValueError(f"{type(self).__name__} has no key {key!r}; it has {known}")
        definition = {key: config.get(key) for key in DEFINITION_KEYS}
        self._config = definition_of(definition.pop("preset"), definition)
        closing = {key: config[key] for key in _CLOSING_KEYS if config.get(key) is not None}
        self._scoring = CorpusBleu.PerSystem(self._config, **closing)
        self._reading = reader_of(self.READS, config, type(self).__name__)

    def default_label(self) -> str:
        return type(self).__name__

    def expand(self, root: beam.Pipeline) -> PCollection[Row]:
        types = [("system", str), *bleu_types(self._config).items()]
        return (
            root
            | self._reading
            | "Score systems" >> self._scoring
            | "Make rows"
            >> beam.MapTuple(_row_of_system).with_output_types(RowTypeConstraint.from_fields(types))
        )


class ScoreLineParallel(_ScoreFiles):
    """Scores line-parallel text."""

    READS = ReadLineParallel


class ScorePairedRecords(_ScoreFiles):
    """Scores records that have candidates and references side by side."""

    READS = ReadPairedRecords


class ScoreLongRecords(_ScoreFiles):
    """Scores records of one segment and one system each."""

    READS = ReadLongRecords


class ScoreJoinedRecords(_ScoreFiles):
    """Scores records of candidates and of references that are joined by an id."""

    READS = ReadJoinedRecords


def _row_of_system(system: str, score: BleuScore) -> Row:
    return Row(system=system, **score_fields(score))
