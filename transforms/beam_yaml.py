"""`CorpusBleu` and `CorpusChrf` for Beam YAML: rows with texts in, rows with scores out.

Beam YAML (extra `yaml`) finds the transform through a provider. If beam-bleu is installed
with Beam, the provider is a block in the pipeline's file, and needs no network:

    providers:
      - type: python
        config: {}
        transforms:
          CorpusBleu: beam_bleu.transforms.beam_yaml.CorpusBleuRows
          CorpusChrf: beam_bleu.transforms.beam_yaml.CorpusChrfRows

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

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, ParamSpec

import apache_beam as beam
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints import schemas, typehints
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.transforms.corpus_scores import CorpusBleu, CorpusChrf, ScorePerKey
from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.columns import (
    REFERENCE_LENGTHS,
    ReferenceLengthName,
)
from beam_bleu.transforms.metrics.bleu.config import DEFAULT_PRESET, BleuConfig, PresetName, preset
from beam_bleu.transforms.metrics.bleu.scoring import SmoothMethodName
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.pairing.segments.rows import RowFields
from beam_bleu.transforms.score.metric_kind import Score
from beam_bleu.transforms.text.read_model import read_model
from beam_bleu.transforms.text.text import Lowercase, NormalizationName, SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TokenizerName

__all__ = ["CorpusBleuRows", "CorpusChrfRows"]

_OF_ALL: Mapping[str, Any] = {
    "segments": int,
    "signature": str,
    "sacrebleu_signature": Optional[str],  # noqa: UP045 - Beam knows no other form
    "warnings": Sequence[str],
    "standard_error": Optional[float],  # noqa: UP045
    "interval_low": Optional[float],  # noqa: UP045
    "interval_high": Optional[float],  # noqa: UP045
}
"""The last fields of the score of any metric in a row."""

_SCORE: Mapping[str, Any] = {
    "score": float,
    "precisions": Sequence[float],
    "matches": Sequence[int],
    "totals": Sequence[int],
    "bp": float,
    "ratio": float,
    "sys_len": int,
    "ref_len": int,
    **_OF_ALL,
}
"""The fields of a `BleuScore` in a row. If `ref_len` is divided, it is a float."""

_CHRF_SCORE: Mapping[str, Any] = {
    "score": float,
    "hyp_ngrams": Sequence[int],
    "ref_ngrams": Sequence[int],
    "matches": Sequence[int],
    **_OF_ALL,
}
"""The fields of a `ChrfScore` in a row."""

_Keys = ParamSpec("_Keys")


def _with_known_keys(construct: Callable[_Keys, None]) -> Callable[_Keys, None]:
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
      fields: the fields of a row that are read.
      transform: the transform that scores (key, segment).
      config: its definition.
      types: the types of the fields of a score in a row.
      uncertainty: whether scores have a standard error, from the configuration; None for yes.
    """

    def __init__(
        self,
        fields: RowFields,
        transform: type[ScorePerKey],
        config: BleuConfig | ChrfConfig,
        types: Mapping[str, Any],
        uncertainty: bool | None,
    ) -> None:
        super().__init__()
        self._fields = fields
        self._transform = transform
        self._config = config
        self._score_types = types
        self._uncertainty = True if uncertainty is None else uncertainty
        require_flag("uncertainty", self._uncertainty)

    def expand(self, rows: PCollection[Any]) -> PCollection[Row]:
        types = _types(rows.element_type)
        if types is not None:
            self._fields.check(types)
        names = self._fields.group_by
        key_types = [Any if types is None else types[name] for name in names]
        key_type = typehints.Tuple[tuple(key_types)]
        result = [*zip(names, key_types, strict=True), *self._score_types.items()]
        take = functools.partial(self._fields.segment_of, checked=types is not None)
        make = functools.partial(_row, names=names, fields=tuple(self._score_types))
        return (
            rows
            | "Take segments" >> beam.Map(take).with_output_types(typehints.Tuple[key_type, Any])
            | "Score groups" >> self._transform(self._config, uncertainty=self._uncertainty)
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

    @_with_known_keys
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
        fields = RowFields.of(candidate, references, group_by, _SCORE)
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
        super().__init__(fields, CorpusBleu.PerKey, config, score_types(config), uncertainty)

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
      uncertainty: Whether scores have a standard error and an interval, default true; if false,
        these fields are null.

    Raises:
      ValueError: a key or a value is not known; the message shows the choices.
    """

    @_with_known_keys
    def __init__(
        self,
        *,
        candidate: str = "candidate",
        references: str | Sequence[str] = "references",
        group_by: str | Sequence[str] = (),
        char_order: int | None = None,
        beta: int | None = None,
        normalize: NormalizationName | None = None,
        uncertainty: bool | None = None,
    ) -> None:
        options: dict[str, Any] = {"char_order": char_order, "beta": beta, "normalize": normalize}
        config = ChrfConfig(**{key: value for key, value in options.items() if value is not None})
        fields = RowFields.of(candidate, references, group_by, _CHRF_SCORE)
        super().__init__(fields, CorpusChrf.PerKey, config, _CHRF_SCORE, uncertainty)

    def default_label(self) -> str:
        return "CorpusChrf"


DEFINITION_KEYS = tuple(
    key
    for key in inspect.signature(CorpusBleuRows).parameters
    if key not in ("candidate", "references", "group_by", "uncertainty")
)
"""The keys of the definition of BLEU in a configuration."""


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


def _types(element_type: Any) -> dict[str, Any] | None:
    """The types of the fields of rows, by name; None if Beam does not know them."""
    try:
        return dict(schemas.named_fields_from_element_type(element_type))
    except TypeError:
        return None


def score_types(config: BleuConfig) -> dict[str, Any]:
    """The types of the fields of a score in a row."""
    divided = REFERENCE_LENGTHS[config.reference_length].divided
    return {**_SCORE, "ref_len": float} if divided else dict(_SCORE)


def score_fields(score: Score, fields: Sequence[str] = tuple(_SCORE)) -> dict[str, Any]:
    """The fields of a score in a row."""
    low, high = score.interval or (None, None)
    values = {**vars(score), "interval_low": low, "interval_high": high}
    values = {name: values[name] for name in fields}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _row(
    key: tuple[Any, ...], score: Score, names: tuple[str, ...], fields: tuple[str, ...]
) -> Row:
    return Row(**dict(zip(names, key, strict=True)), **score_fields(score, fields))
