"""The transforms for Beam YAML: texts in rows or files come in, rows of scores and results go out.

docs/library.md describes their keys. `beam_yaml_provider.yaml` declares them as a provider. Workers
of a cluster need beam-bleu, too: in their image, or through `--extra_package`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, Row
from apache_beam.typehints import schemas, typehints
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_bleu.pipeline.library import evaluate
from beam_bleu.pipeline.library.evaluate import KEYWORDS
from beam_bleu.transforms import corpus_scores, reading, segment_scores
from beam_bleu.transforms.chosen_metrics import configs_by_word
from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, config_type, parameter_of
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import DEFAULT_PRESET, preset
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.pairing.segments.batching import RowFields
from beam_bleu.transforms.score.score import Score, fields_in_order
from beam_bleu.transforms.score.segment_table import INTEGERS
from beam_bleu.transforms.text.library_tokenizers import read_model

_TEXT: Any = Optional[str]  # noqa: UP045 - Beam knows no other form
_NUMBER: Any = Optional[float]  # noqa: UP045

_OF_COLUMNS: Mapping[pa.DataType, Any] = {
    pa.float64(): _NUMBER,
    pa.int64(): int,
    INTEGERS: Sequence[int],
}
"""The type of a row's field, by the type of the column with scores of segments."""

_ESTIMATE = ("standard_error", "interval_low", "interval_high")

_RESULTS: Mapping[str, Sequence[str]] = {
    "document": ("document",),
    "scores": ("metric", "system", "slice", "segments", "score", *_ESTIMATE, "details"),
    "comparisons": (
        *("metric", "system", "baseline", "slice", "difference", *_ESTIMATE),
        *("p_value", "p_value_holm", "detectable"),
    ),
    "examples": ("kind", "metric", "system", "index", "score", "details"),
    "totals": ("totals",),
    "segment_scores": ("index", "system", "metric", "score"),
    "rejected": ("number", "path", "place", "reason", "what"),
}
"""The fields of the rows of each output of `Evaluate`. `details` is JSON with everything."""

_NUMBERS = ("score", "difference", "p_value", "p_value_holm", "detectable", *_ESTIMATE)
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(_NUMBERS, _NUMBER),
    **dict.fromkeys(("segments", "index", "number"), int),
    "slice": _TEXT,
}


class _ScoreRows(beam.PTransform):
    """Scores each group of rows, or all rows, under any windowing and trigger.

    The output has a row for each group: the fields of the group, and the parts of each score, with
    its interval as `interval_low` and `interval_high`. A key that is null has its default.
    """

    METRIC: str | None = None  # the metric that the other keys define

    KEYS: tuple[str, ...]  # the other keys

    def __init__(self, **config: Any) -> None:
        super().__init__()
        names = ("candidate", "references", "group_by", "uncertainty")
        given = _given(self, config, (*names, *self.KEYS))
        scored = {key: given[key] for key in self.KEYS if key in given}
        if self.METRIC is not None:
            scored = {"metric": self.METRIC, "definition": scored}
        are_several = "metrics" in self.KEYS
        configs = _configs(scored.get("metrics") if are_several else [scored])
        self._prefixes = {name: f"{name}_" if are_several else "" for name in configs}
        self._score_types = {
            self._prefixes[name] + field: field_type
            for name, scored_by in configs.items()
            for field, field_type in _score_types(scored_by).items()
        }
        self._fields = RowFields.of(
            given.get("candidate", "candidate"),
            given.get("references", "references"),
            given.get("group_by", ()),
            self._score_types,
        )
        self._scoring = corpus_scores.CorpusScores.PerKey(
            [*configs.values()], uncertainty=given.get("uncertainty", True)
        )

    def expand(self, rows: PCollection[Any]) -> PCollection[Row]:
        types = _checked_types(rows, self._fields)
        names = self._fields.group_by
        key_types = [types[name] for name in names]
        keyed = typehints.Tuple[typehints.Tuple[tuple(key_types)], Any]
        result = [*zip(names, key_types, strict=True), *self._score_types.items()]
        make = functools.partial(_row_of_scores, names, self._prefixes)
        return (
            rows
            | "Take segments" >> beam.Map(self._fields.segment_of).with_output_types(keyed)
            | "Score groups" >> self._scoring
            | "Make rows"
            >> beam.MapTuple(make).with_output_types(RowTypeConstraint.from_fields(result))
        )


def _names(config: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(config))


class CorpusBleu(_ScoreRows):
    """Corpus BLEU of rows; its other keys are `preset` and the fields of a `BleuConfig`."""

    METRIC = "bleu"
    KEYS = ("preset", *_names(BleuConfig))


class CorpusChrf(_ScoreRows):
    """Corpus chrF of rows; its other keys are the fields of a `ChrfConfig`."""

    METRIC = "chrf"
    KEYS = _names(ChrfConfig)


class CorpusScore(_ScoreRows):
    """The score of rows by any metric; `definition` has the fields that are not the default."""

    KEYS = ("metric", "definition")


class CorpusScores(_ScoreRows):
    """The scores of rows by several metrics, in fields such as `bleu_score` and `chrf_score`."""

    KEYS = ("metrics",)


class SegmentScores(beam.PTransform):
    """Adds to each row the scores of its segment, null where a score is not defined.

    With `details`, it also adds the numbers that the command writes beside scores of segments.
    """

    def __init__(self, **config: Any) -> None:
        super().__init__()
        given = _given(self, config, ("metrics", "candidate", "references", "details"))
        self._fields = RowFields.of(
            given.get("candidate", "candidate"), given.get("references", "references"), (), ()
        )
        configs = _configs(given.get("metrics", [DEFAULT_METRIC]))
        self._scoring = segment_scores.SegmentScores(
            [*configs.values()], details=given.get("details", False)
        )

    def expand(self, rows: PCollection[Any]) -> PCollection[Row]:
        types = _checked_types(rows, self._fields)
        scores = {field.name: _OF_COLUMNS[field.type] for field in self._scoring.schema}
        for name in scores:
            if name in types:
                raise ValueError(f"the rows already have a field {name!r}: rename it before")
        result = RowTypeConstraint.from_fields([*types.items(), *scores.items()])
        fields = self._fields
        keyed = typehints.Tuple[rows.element_type, Any]
        return (
            rows
            | "Take segments"
            >> beam.Map(lambda row: (row, fields.segment_of(row)[1])).with_output_types(keyed)
            | "Score segments" >> self._scoring
            | "Make rows"
            >> beam.MapTuple(lambda row, scores: Row(**row._asdict(), **scores)).with_output_types(
                result
            )
        )


class _Evaluating(beam.PTransform):
    """Makes rows of each output of `Evaluate`. Keys are arguments of `READS` and of `Evaluate`."""

    READS: Callable[..., Any]  # makes the transform that reads the input

    _yaml_requires_inputs = False  # else Beam YAML requires one, since no name begins with Read

    def __init__(self, **config: Any) -> None:
        super().__init__()
        signature = inspect.signature(self.READS)
        given = _given(self, config, (*signature.parameters, "unpooled", *KEYWORDS))
        own = {key: given.pop(key) for key in signature.parameters if key in given}
        self._reading = self.READS(**own)
        columns = self._reading if isinstance(self._reading, ArrowColumns) else None
        self._evaluate = evaluate.Evaluate(columns=columns, **given)

    def expand(self, root: Any) -> dict[str, PCollection[Row]]:
        evaluated = self._segments(root) | "Evaluate" >> self._evaluate
        return {
            name: output
            | f"Make rows of {name}"
            >> beam.FlatMap(functools.partial(_rows_of_result, name)).with_output_types(
                RowTypeConstraint.from_fields(
                    [(field, _TYPES.get(field, str)) for field in _RESULTS[name]]
                )
            )
            for name, output in evaluated._asdict().items()
            if output is not None
        }

    def _segments(self, root: Any) -> Any:
        return root | self._reading


def _columns(
    candidates: Mapping[str, str],
    references: str | Sequence[str],
    labels: Sequence[str] = (),
    ids: str | None = None,
    kept: Sequence[str] = (),
) -> ArrowColumns:
    if not isinstance(candidates, Mapping):
        raise ValueError(f"candidates must have the field of each system, got {candidates!r}")
    return ArrowColumns(
        dict(candidates), references, labels=tuple(labels), ids=ids, kept=tuple(kept)
    )


class Evaluate(_Evaluating):
    """Evaluates rows that have a segment each."""

    READS = staticmethod(_columns)

    _yaml_requires_inputs = True

    def _segments(self, root: PCollection[Any]) -> PCollection[pa.Table]:
        columns = self._reading
        references = columns.references
        names = [references] if isinstance(references, str) else references
        read = [*dict.fromkeys([*columns.candidate.values(), *names, *columns.of_segments])]
        return (
            root
            | "Gather rows" >> beam.BatchElements(min_batch_size=64, max_batch_size=4096)
            | "Make tables" >> beam.Map(_table_of, read)
        )


class EvaluateLineParallel(_Evaluating):
    """Evaluates line-parallel text."""

    READS = reading.ReadLineParallel


class EvaluatePairedRecords(_Evaluating):
    """Evaluates records that have candidates and references side by side."""

    READS = reading.ReadPairedRecords


class EvaluateLongRecords(_Evaluating):
    """Evaluates records of one segment and one system each."""

    READS = reading.ReadLongRecords


class EvaluateJoinedRecords(_Evaluating):
    """Evaluates records of candidates and of references that are joined by an id."""

    READS = reading.ReadJoinedRecords


def _given(
    transform: beam.PTransform, config: Mapping[str, Any], keys: Sequence[str]
) -> dict[str, Any]:
    for key in config:
        if key not in keys:
            name = type(transform).__name__
            raise ValueError(f"{name} has no key {key!r}; it has {', '.join(keys)}")
    return {key: value for key, value in config.items() if value is not None}


def _configs(metrics: Any) -> dict[str, Any]:
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        raise ValueError(f"metrics must be a list, got {metrics!r}")
    return configs_by_word([_config(metric) for metric in metrics])


def _config(asked: Any) -> Any:
    keys: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {"metric": asked}
    for key in keys:
        require_choice("a key of a metric", key, ("metric", "definition"))
    metric = keys.get("metric")
    if not isinstance(metric, str):
        raise ValueError(f"metric must be the name of a metric, got {metric!r}")
    type_of_config = config_type(metric)
    fields = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in (keys.get("definition") or {}).items()
    }
    path = fields.get("spm_model")
    if path is not None:
        try:
            fields["spm_model"] = read_model(str(path))
        except InputError as error:
            raise ValueError(f"spm_model {path!r} {error.cause}") from error
    if type_of_config is BleuConfig:
        name: Any = fields.pop("preset", DEFAULT_PRESET)
        return preset(name, **fields)
    for key in fields:
        require_choice("a key of definition", key, _names(type_of_config))
    return type_of_config(**parameter_of(metric), **fields)


def _score_types(config: Any) -> dict[str, Any]:
    score_type = config.metric.score_type
    hints = typing.get_type_hints(score_type)
    types = {name: hints[name] for name in fields_in_order(score_type) if name != "interval"}
    if isinstance(config, BleuConfig):  # lengths are integers unless they are divided
        types["ref_len"] = float if REFERENCE_LENGTHS[config.reference_length].divisor > 1 else int
    in_row = {name: _type_in_row(hint) for name, hint in types.items()}
    return {**in_row, "interval_low": _NUMBER, "interval_high": _NUMBER}


def _type_in_row(hint: Any) -> Any:
    if typing.get_origin(hint) is tuple:
        return Sequence[typing.get_args(hint)[0]]  # type: ignore[misc]
    others = {int | float: float, float | None: _NUMBER, str | None: _TEXT}
    return others.get(hint, hint)


def _checked_types(rows: PCollection[Any], fields: RowFields) -> dict[str, Any]:
    try:
        types = dict(schemas.named_fields_from_element_type(rows.element_type))
    except TypeError as error:
        raise ValueError(f"the elements must be rows whose fields are known: {error}") from error
    fields.check(types)
    return types


def _row_of_scores(
    names: Sequence[str],
    prefixes: Mapping[str, str],
    key: tuple[Any, ...],
    scores: Mapping[str, Score],
) -> Row:
    row = dict(zip(names, key, strict=True))
    for metric, score in scores.items():
        values = {name: getattr(score, name) for name in fields_in_order(type(score))}
        low, high = values.pop("interval") or (None, None)
        for name, value in {**values, "interval_low": low, "interval_high": high}.items():
            row[prefixes[metric] + name] = list(value) if isinstance(value, tuple) else value
    return Row(**row)


def _table_of(rows: Sequence[Any], names: Sequence[str]) -> pa.Table:
    return pa.table({name: pa.array([getattr(row, name) for row in rows]) for name in names})


def _rows_of_result(name: str, element: Any) -> Iterator[Row]:
    fields = _RESULTS[name]
    if name == "document":
        yield Row(document=_json(element))
    elif name == "totals":
        yield Row(totals=element.decode("ascii"))
    elif name == "rejected":
        yield Row(**{field: getattr(element, field) for field in fields})
    elif name == "segment_scores":
        yield from (Row(**row) for row in element.select(list(fields)).to_pylist())
    else:
        low, high = element.get("interval") or (None, None)
        values = {**element, "interval_low": low, "interval_high": high, "details": _json(element)}
        if values.get("slice") is not None:
            values["slice"] = _json(values["slice"])
        yield Row(**{field: values.get(field) for field in fields})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
