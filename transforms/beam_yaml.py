"""`CorpusBleu` and the like for Beam YAML: rows with texts in, rows with scores out.

Beam YAML (extra `yaml`) finds the transform through a provider. If beam-bleu is installed
with Beam, the provider is a block in the pipeline's file, and needs no network:

    providers:
      - type: python
        config: {}
        transforms:
          CorpusBleu: beam_bleu.transforms.beam_yaml.CorpusBleuRows
          CorpusChrf: beam_bleu.transforms.beam_yaml.CorpusChrfRows
          CorpusScore: beam_bleu.transforms.beam_yaml.CorpusScoreRows
          CorpusScores: beam_bleu.transforms.beam_yaml.CorpusScoresRows
          SegmentScores: beam_bleu.transforms.beam_yaml_segments.SegmentScoresRows

Or include the file next to this one, which has the same block, by its path or address (a relative
path starts at the pipeline's file):

    providers:
      - include: path/to/transforms/beam_yaml_provider.yaml

The workers of a cluster need beam-bleu, too: in their image, or with
`--extra_package=beam_bleu-0.1.0-py3-none-any.whl` on the command line of
`apache_beam.yaml.main`. If beam-bleu is not installed with Beam, use `type: pythonPackage`. It
makes an environment, installs beam-bleu and another Beam there (this needs the network, once),
and starts a server in it that expands the transform (this opens ports). A path must contain a
slash:

    providers:
      - type: pythonPackage
        config:
          packages: [./dist/beam_bleu-0.1.0-py3-none-any.whl]
        transforms:
          CorpusBleu: beam_bleu.transforms.beam_yaml.CorpusBleuRows

Beam YAML reads and writes JSON and CSV with pandas, so note these points:

- `ReadFromJson` turns a list into one string. So use a field for each reference (Parquet keeps
  lists). It also changes a field named `date`, unless you set `convert_dates: false`.
- `ReadFromCsv` reads texts such as "null" and "NA" as missing, unless you set
  `keep_default_na: false`. An empty field is then an empty text.
- `WriteToJson` writes 10 decimals of a score. Parquet has all digits.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import apache_beam as beam
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints import schemas, typehints
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.transforms.corpus_scores import CorpusScore, CorpusScores
from beam_bleu.transforms.definition.choices import require_choice, require_flag
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import config_type, metric_type
from beam_bleu.transforms.metrics.bleu.columns import (
    REFERENCE_LENGTHS,
)
from beam_bleu.transforms.metrics.bleu.config import DEFAULT_PRESET, BleuConfig, PresetName, preset
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.pairing.segments.rows import RowFields
from beam_bleu.transforms.score.shown_score import Score, fields_in_order
from beam_bleu.transforms.text.read_model import read_model
from beam_bleu.transforms.text.text import SentencePieceModel

__all__ = ["CorpusBleuRows", "CorpusChrfRows", "CorpusScoreRows", "CorpusScoresRows"]

_IN_ROW: Mapping[Any, Any] = {
    float: float,
    int: int,
    int | float: float,
    str: str,
    tuple[float, ...]: Sequence[float],
    tuple[int, ...]: Sequence[int],
    tuple[str, ...]: Sequence[str],
    float | None: Optional[float],  # noqa: UP045 - Beam knows no other form
    str | None: Optional[str],  # noqa: UP045
}
"""The type of a field in a row, by the type of an attribute of a score."""

_OPTIONS = ("candidate", "references", "group_by", "uncertainty")
"""The keys of all transforms that score groups of rows."""


def require_keys(label: str, config: Mapping[str, Any], known: Sequence[str]) -> None:
    """Checks the keys of a transform.

    Raises:
      ValueError: one is not known; the message shows all of them.
    """
    for key in config:
        if key not in known:
            raise ValueError(f"{label} has no key {key!r}; it has {', '.join(known)}")


class _ScoreRows(beam.PTransform):
    """Scores groups of rows.

    Its output is a row for each group, or one row for all input: the group's fields, and then those
    of the score, with `interval_low` and `interval_high` for the ends of its `interval`. It works
    with any windowing and trigger. Without input rows there is no score.

    Args:
      scored: the definition; a list of definitions for the scores of several metrics.
      types: the types of the fields of a score, or of all scores, in a row.
      candidate: The field of the candidate.
      references: The field with a list of references, or a list of fields with one reference each.
        A null is a missing reference; each row needs at least one reference.
      group_by: The field or fields that define the groups; each group is scored separately.
      uncertainty: Whether scores have a standard error and an interval, default true; if false,
        these fields are null.
    """

    def __init__(
        self,
        scored: Any,
        types: Mapping[str, Any],
        candidate: str = "candidate",
        references: str | Sequence[str] = "references",
        group_by: str | Sequence[str] = (),
        uncertainty: bool | None = None,
    ) -> None:
        super().__init__()
        self._fields = RowFields.of(candidate, references, group_by, types)
        self._score_types = types
        uncertain = True if uncertainty is None else uncertainty
        require_flag("uncertainty", uncertain)
        score = CorpusScores.PerKey if isinstance(scored, list) else CorpusScore.PerKey
        self._scoring = score(scored, uncertainty=uncertain)

    def default_label(self) -> str:
        return type(self).__name__.removesuffix("Rows")

    def expand(self, rows: PCollection[Any]) -> PCollection[Row]:
        types = field_types(rows.element_type)
        if types is not None:
            self._fields.check(types)
        names = self._fields.group_by
        key_types = [Any if types is None else types[name] for name in names]
        key_type = typehints.Tuple[tuple(key_types)]
        result = [*zip(names, key_types, strict=True), *self._score_types.items()]
        take = functools.partial(self._fields.segment_of, checked=types is not None)
        make = functools.partial(_row, names=names)
        return (
            rows
            | "Take segments" >> beam.Map(take).with_output_types(typehints.Tuple[key_type, Any])
            | "Score groups" >> self._scoring
            | "Make rows"
            >> beam.MapTuple(make).with_output_types(RowTypeConstraint.from_fields(result))
        )


class CorpusBleuRows(_ScoreRows):
    """Corpus BLEU of rows with a candidate and its references.

    Args:
      config: the keys of all these transforms; `preset`, the BLEU of a tool or paper; and the
        fields of a `BleuConfig`, which change it. `spm_model` is the path of a model, on any of
        Beam's filesystems, which is read when the pipeline is built, and sent with the job. A key
        that is null or left out has its default.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    def __init__(self, **config: Any) -> None:
        options, definition = _divided("CorpusBleu", config, ("preset", *_names(BleuConfig)))
        scored = definition_of(definition.pop("preset", None), definition)
        super().__init__(scored, bleu_types(scored), **options)


class CorpusChrfRows(_ScoreRows):
    """Corpus chrF of rows with a candidate and its references.

    Args:
      config: the keys of all these transforms, and the fields of a `ChrfConfig`.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    def __init__(self, **config: Any) -> None:
        options, definition = _divided("CorpusChrf", config, _names(ChrfConfig))
        super().__init__(ChrfConfig(**definition), score_types("chrf"), **options)


class CorpusScoreRows(_ScoreRows):
    """The score of rows by any metric.

    Args:
      config: the keys of all these transforms; `metric`, as in `--metrics`; and `definition`: the
        fields of its config that are not the default ones, such as `beta` of a `ChrfConfig`.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    def __init__(self, **config: Any) -> None:
        options, keys = _divided("CorpusScore", config, ("metric", "definition"))
        metric: Any = keys.get("metric")
        scored = _config(metric, keys.get("definition"))
        super().__init__(scored, _types_of(metric, scored), **options)


class CorpusScoresRows(_ScoreRows):
    """The scores of rows by several metrics, in one pass.

    The fields of a score have the name of its metric before them: `bleu_score`, `chrf_score`.

    Args:
      config: the keys of all these transforms; and `metrics`, each one once: its name, as in
        `--metrics`, or the keys `metric` and `definition` of `CorpusScore`.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    def __init__(self, **config: Any) -> None:
        options, keys = _divided("CorpusScores", config, ("metrics",))
        configs = configs_of(keys.get("metrics"))
        types = {
            f"{name}_{field}": of_field
            for name, scored in configs
            for field, of_field in _types_of(name, scored).items()
        }
        super().__init__([scored for _, scored in configs], types, **options)


def _divided(
    label: str, config: Mapping[str, Any], others: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys of all transforms, and the other ones that are not null."""
    require_keys(label, config, (*_OPTIONS, *others))
    options = {key: value for key, value in config.items() if key in _OPTIONS}
    keys = {key: config[key] for key in others if config.get(key) is not None}
    return options, keys


def definition_of(name: PresetName | None, settings: Mapping[str, Any]) -> BleuConfig:
    """The definition of BLEU that a configuration asks for.

    Raises:
      ValueError: a key or a value is not known, or the model cannot be read.
    """
    changes = dict(settings)
    if "weights" in changes:
        weights = changes["weights"]
        if not isinstance(weights, Sequence) or isinstance(weights, str):
            raise ValueError(f"weights must be a list of numbers, got {weights!r}")
        changes["weights"] = tuple(weights)
    if "spm_model" in changes:
        changes["spm_model"] = _model(changes["spm_model"])
    config = preset(DEFAULT_PRESET if name is None else name, **changes)
    config.metric.require_corpus()
    return config


def _model(path: Any) -> SentencePieceModel:
    if not isinstance(path, str):
        raise ValueError(f"spm_model must be the path of a file, got {path!r}")
    try:
        return read_model(path)
    except InputError as error:
        raise ValueError(f"spm_model {path!r} {error.cause}") from error


def _config(metric: Any, definition: Mapping[str, Any] | None) -> Any:
    """The config of a metric with these fields, and the default ones.

    Raises:
      ValueError: the metric, a key or a value is not known; the message shows the choices.
    """
    if not isinstance(metric, str):
        raise ValueError(f"metric must be the name of a metric, got {metric!r}")
    type_of_config = config_type(metric)
    given = {} if definition is None else definition
    for key in given:
        require_choice("a key of definition", key, _names(type_of_config))
    return type_of_config(**{key: _value(value) for key, value in given.items()})


def configs_of(metrics: Any) -> list[tuple[str, Any]]:
    """The names and configs of several metrics.

    Raises:
      ValueError: they are no list, or a metric, a key or a value is not known.
    """
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        raise ValueError(f"metrics must be a list, got {metrics!r}")
    configs: list[tuple[str, Any]] = []
    for asked in metrics:
        settings: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {"metric": asked}
        for key in settings:
            require_choice("a key of a metric", key, ("metric", "definition"))
        name: Any = settings.get("metric")
        configs.append((name, _config(name, settings.get("definition"))))
    return configs


def _names(config_type: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(config_type)]


def _value(value: Any) -> Any:
    """A value of a configuration in a config: lists are tuples there."""
    return tuple(value) if isinstance(value, list) else value


def field_types(element_type: Any) -> dict[str, Any] | None:
    """The types of the fields of rows, by name; None if Beam does not know them."""
    try:
        return dict(schemas.named_fields_from_element_type(element_type))
    except TypeError:
        return None


def score_types(metric: str) -> dict[str, Any]:
    """The types of the fields of a metric's score in a row.

    They are the fields of the score, with `interval_low` and `interval_high` for its interval.
    """
    score_type = metric_type(metric).score_type
    hints = typing.get_type_hints(score_type)
    names = fields_in_order(score_type)
    types = {name: _IN_ROW[hints[name]] for name in names if name != "interval"}
    number = types["standard_error"]
    return {**types, "interval_low": number, "interval_high": number}


def _types_of(metric: str, config: Any) -> dict[str, Any]:
    """The types of the fields of a metric's score in a row, for this config."""
    return bleu_types(config) if isinstance(config, BleuConfig) else score_types(metric)


def bleu_types(config: BleuConfig) -> dict[str, Any]:
    """The types of the fields of a `BleuScore` in a row. Lengths are integers unless divided."""
    divided = REFERENCE_LENGTHS[config.reference_length].divided
    return {**score_types("bleu"), "ref_len": float if divided else int}


def score_fields(score: Score) -> dict[str, Any]:
    """The fields of a score in a row."""
    values = {name: getattr(score, name) for name in fields_in_order(type(score))}
    low, high = values.pop("interval") or (None, None)
    values |= {"interval_low": low, "interval_high": high}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _row(key: tuple[Any, ...], scored: Score | Mapping[str, Score], names: tuple[str, ...]) -> Row:
    group = dict(zip(names, key, strict=True))
    if not isinstance(scored, Mapping):
        return Row(**group, **score_fields(scored))
    fields = {
        f"{name}_{field}": value
        for name, score in scored.items()
        for field, value in score_fields(score).items()
    }
    return Row(**group, **fields)
