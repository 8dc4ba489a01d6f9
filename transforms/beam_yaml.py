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
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, ParamSpec

import apache_beam as beam
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints import schemas, typehints
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.transforms.corpus_scores import CorpusScore
from beam_bleu.transforms.definition.choices import require_choice, require_flag
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import MetricName, kind_of
from beam_bleu.transforms.metrics.bleu.columns import (
    REFERENCE_LENGTHS,
    ReferenceLengthName,
)
from beam_bleu.transforms.metrics.bleu.config import DEFAULT_PRESET, BleuConfig, PresetName, preset
from beam_bleu.transforms.metrics.bleu.scoring import SmoothMethodName
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.pairing.segments.rows import RowFields
from beam_bleu.transforms.score.shown_score import Score, fields_in_order
from beam_bleu.transforms.several_scores import CorpusScores
from beam_bleu.transforms.text.read_model import read_model
from beam_bleu.transforms.text.text import Lowercase, NormalizationName, SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TokenizerName

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

_Keys = ParamSpec("_Keys")


def with_known_keys(construct: Callable[_Keys, None]) -> Callable[_Keys, None]:
    """A constructor whose error for an unknown key shows all keys. Python's own error does not."""
    _, *known = inspect.signature(construct).parameters

    @functools.wraps(construct)
    def checked(*args: _Keys.args, **config: _Keys.kwargs) -> None:
        for key in config:
            if key not in known:
                name = args[0].default_label()  # type: ignore[attr-defined]
                raise ValueError(f"{name} has no key {key!r}; it has {', '.join(known)}")
        construct(*args, **config)

    return checked


class _ScoreRows(beam.PTransform):
    """Scores groups of rows.

    Args:
      candidate: from the configuration, as the next three.
      references: see above.
      group_by: see above.
      uncertainty: see above; None for True.
      config: the definition; a list of definitions for the scores of several metrics.
      types: the types of the fields of a score, or of all scores, in a row.
    """

    def __init__(
        self,
        candidate: str,
        references: str | Sequence[str],
        group_by: str | Sequence[str],
        uncertainty: bool | None,
        config: Any,
        types: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self._fields = RowFields.of(candidate, references, group_by, types)
        self._config = config
        self._score_types = types
        self._uncertainty = True if uncertainty is None else uncertainty
        require_flag("uncertainty", self._uncertainty)
        score = CorpusScores.PerKey if isinstance(config, list) else CorpusScore.PerKey
        self._scoring = score(config, uncertainty=self._uncertainty)

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

    Its output is a row for each group, or one row for all input: the group's fields, then
    `score`, `precisions`, `matches`, `totals`, `bp`, `ratio`, `sys_len`, `ref_len`, `segments`,
    `signature`, `sacrebleu_signature`, `warnings` and `standard_error`, as in `BleuScore`, and
    `interval_low` and `interval_high`, the ends of its `interval`. It works with any windowing and
    trigger. Without input rows there is no score.

    If a key of the definition is null or left out, the preset sets it.

    Args:
      candidate: The field of the candidate.
      references: The field with a list of references, or a list of fields with one
        reference each. A null is a missing reference; each row needs at least one reference.
      group_by: The field or fields that define the groups; each group is scored separately.
      preset: The BLEU of a tool or paper, default sacrebleu; the other keys change it.
      tokenize: The tokenizer.
      lowercase: Whether texts are lower-cased first; "ascii" for A-Z only.
      smooth_method: How orders without matches are smoothed.
      smooth_value: The value of the smoothing methods that take one.
      max_ngram_order: The largest n-gram order.
      weights: The weight of each order.
      effective_order: Whether orders longer than every candidate are left out.
      normalize: The Unicode normalization of all texts.
      reference_length: Which length counts if a row has several references.
      spm_model: The path of the model for the tokenizer spm, on any of Beam's filesystems;
        it is read when the pipeline is built, and sent with the job.
      uncertainty: Whether scores have a standard error and an interval, default true; if false,
        these fields are null.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    @with_known_keys
    def __init__(
        self,
        *,
        candidate: str = "candidate",
        references: str | Sequence[str] = "references",
        group_by: str | Sequence[str] = (),
        preset: PresetName | None = None,
        tokenize: TokenizerName | None = None,
        lowercase: Lowercase | None = None,
        smooth_method: SmoothMethodName | None = None,
        smooth_value: float | None = None,
        max_ngram_order: int | None = None,
        weights: Sequence[float] | None = None,
        effective_order: bool | None = None,
        normalize: NormalizationName | None = None,
        reference_length: ReferenceLengthName | None = None,
        spm_model: str | None = None,
        uncertainty: bool | None = None,
    ) -> None:
        config = definition_of(
            preset,
            {
                "tokenize": tokenize,
                "lowercase": lowercase,
                "smooth_method": smooth_method,
                "smooth_value": smooth_value,
                "max_ngram_order": max_ngram_order,
                "weights": weights,
                "effective_order": effective_order,
                "normalize": normalize,
                "reference_length": reference_length,
                "spm_model": spm_model,
            },
        )
        types = bleu_types(config)
        super().__init__(candidate, references, group_by, uncertainty, config, types)

    def default_label(self) -> str:
        return "CorpusBleu"


class CorpusChrfRows(_ScoreRows):
    """Corpus chrF of rows with a candidate and its references.

    Its output is like that of `CorpusBleu`, with the fields of a `ChrfScore`: after `score` come
    `hyp_ngrams`, `ref_ngrams` and `matches`.

    Args:
      candidate: The field of the candidate.
      references: The field with a list of references, or a list of fields with one
        reference each. A null is a missing reference; each row needs at least one reference.
      group_by: The field or fields that define the groups; each group is scored separately.
      char_order: The largest order of n-grams of characters, default 6.
      beta: How many times as important as precision recall is, default 2.
      normalize: The Unicode normalization of all texts.
      word_order: The largest order of n-grams of words, default 0; 2 for chrF++.
      whitespace: Whether white space counts as characters, default false.
      lowercase: Whether texts are lower-cased first, default false.
      eps_smoothing: Whether all orders count, default false.
      uncertainty: Whether scores have a standard error and an interval, default true; if false,
        these fields are null.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    @with_known_keys
    def __init__(
        self,
        *,
        candidate: str = "candidate",
        references: str | Sequence[str] = "references",
        group_by: str | Sequence[str] = (),
        char_order: int | None = None,
        beta: int | None = None,
        normalize: NormalizationName | None = None,
        word_order: int | None = None,
        whitespace: bool | None = None,
        lowercase: bool | None = None,
        eps_smoothing: bool | None = None,
        uncertainty: bool | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "char_order": char_order,
            "beta": beta,
            "normalize": normalize,
            "word_order": word_order,
            "whitespace": whitespace,
            "lowercase": lowercase,
            "eps_smoothing": eps_smoothing,
        }
        config = ChrfConfig(**{key: value for key, value in options.items() if value is not None})
        types = score_types("chrf")
        super().__init__(candidate, references, group_by, uncertainty, config, types)

    def default_label(self) -> str:
        return "CorpusChrf"


class CorpusScoreRows(_ScoreRows):
    """The score of rows by any metric.

    Its output is like that of `CorpusBleu`, with the fields of the metric's scores.

    Args:
      metric: The metric, as in `--metrics`.
      definition: The fields of its config that are not the default ones, such as `beta` of a
        `ChrfConfig`. (For BLEU, `CorpusBleu` also has presets and models.)
      candidate: The field of the candidate.
      references: The field with a list of references, or a list of fields with one
        reference each. A null is a missing reference; each row needs at least one reference.
      group_by: The field or fields that define the groups; each group is scored separately.
      uncertainty: Whether scores have a standard error and an interval, default true; if false,
        these fields are null.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    @with_known_keys
    def __init__(
        self,
        *,
        metric: MetricName,
        definition: Mapping[str, Any] | None = None,
        candidate: str = "candidate",
        references: str | Sequence[str] = "references",
        group_by: str | Sequence[str] = (),
        uncertainty: bool | None = None,
    ) -> None:
        config = _config(metric, definition)
        types = _types_of(metric, config)
        super().__init__(candidate, references, group_by, uncertainty, config, types)

    def default_label(self) -> str:
        return "CorpusScore"


class CorpusScoresRows(_ScoreRows):
    """The scores of rows by several metrics, in one pass.

    Its output is a row for each group, or one row for all input: the group's fields, and then those
    of `CorpusScore` for each metric, with its name before them: `bleu_score`, `chrf_score`.

    Args:
      metrics: The metrics, each one once: its name, as in `--metrics`, or the keys `metric` and
        `definition` of `CorpusScore`.
      candidate: The field of the candidate.
      references: The field with a list of references, or a list of fields with one
        reference each. A null is a missing reference; each row needs at least one reference.
      group_by: The field or fields that define the groups; each group is scored separately.
      uncertainty: Whether scores have a standard error and an interval, default true; if false,
        these fields are null.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    @with_known_keys
    def __init__(
        self,
        *,
        metrics: Sequence[MetricName | Mapping[str, Any]],
        candidate: str = "candidate",
        references: str | Sequence[str] = "references",
        group_by: str | Sequence[str] = (),
        uncertainty: bool | None = None,
    ) -> None:
        configs = configs_of(metrics)
        types = {
            f"{name}_{field}": of_field
            for name, config in configs
            for field, of_field in _types_of(name, config).items()
        }
        definitions = [config for _, config in configs]
        super().__init__(candidate, references, group_by, uncertainty, definitions, types)

    def default_label(self) -> str:
        return "CorpusScores"


def definition_of(name: PresetName | None, settings: Mapping[str, Any]) -> BleuConfig:
    """The definition of BLEU that a configuration asks for.

    Raises:
      ValueError: a key or a value is not known, or the model cannot be read.
    """
    changes = {key: value for key, value in settings.items() if value is not None}
    if "weights" in changes:
        weights = changes["weights"]
        if not isinstance(weights, Sequence) or isinstance(weights, str):
            raise ValueError(f"weights must be a list of numbers, got {weights!r}")
        changes["weights"] = tuple(weights)
    if "spm_model" in changes:
        changes["spm_model"] = _model(changes["spm_model"])
    config = preset(DEFAULT_PRESET if name is None else name, **changes)
    config.scoring.require_corpus()
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
    config_type = kind_of(metric).config
    given = {} if definition is None else definition
    for key in given:
        require_choice("a key of definition", key, _names(config_type))
    return config_type(**{key: _value(value) for key, value in given.items()})


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
    score_type = kind_of(metric).score_type
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
