"""Makes the parts of the JSON Schemas in docs/ that follow from the code.

These parts are the names and the types of fields, choices, and versions. A schema lists them in
`$comment`. Everything else in it is written by hand.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import pathlib
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.pipeline.output import file_names
from beam_bleu.pipeline.output.run_record import State, software_versions
from beam_bleu.pipeline.result.rows import FamilyName
from beam_bleu.pipeline.saved.codec import fields_of
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.pipeline.saved.totals_file import FORMAT_VERSION
from beam_bleu.transforms.definition.resampling import RESAMPLING_METHODS
from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.known_metrics import METRICS, MetricRow, config_type, metric_type
from beam_bleu.transforms.metrics.bleu.metric import LARGEST_NGRAM_ORDER, BleuConfig, BleuScore
from beam_bleu.transforms.metrics.chrf.metric import (
    LARGEST_BETA,
    LARGEST_CHAR_ORDER,
    LARGEST_WORD_ORDER,
    ChrfConfig,
)
from beam_bleu.transforms.metrics.metric import Config, Metric, Signatures
from beam_bleu.transforms.metrics.perplexity import PerplexityScore
from beam_bleu.transforms.metrics.rouge.metric import RougeScore
from beam_bleu.transforms.pairing.lines import text_digest
from beam_bleu.transforms.pairing.paired import InputRole
from beam_bleu.transforms.pairing.records.joins.findings import COVERAGE_NAMES
from beam_bleu.transforms.pairing.records.row_groups import record_digest
from beam_bleu.transforms.score.shown_score import own_fields
from beam_bleu.transforms.text.text import SACREBLEU, TextName
from beam_bleu.transforms.totals.group_totals import GroupTotals
from beam_bleu.transforms.totals.rejected import Rejected
from docs.pages import COMMAND

FOLDER = pathlib.Path(__file__).parent

Json = dict[str, Any]

_LARGEST_ORDER = max(LARGEST_NGRAM_ORDER, LARGEST_CHAR_ORDER)

_RANGES: Mapping[tuple[type, str], Json] = {
    (BleuScore, "bp"): {"type": "number", "minimum": 0, "maximum": 1},
    (RougeScore, "precision"): {"type": "number", "minimum": 0, "maximum": 100},
    (RougeScore, "recall"): {"type": "number", "minimum": 0, "maximum": 100},
    (PerplexityScore, "log_probability"): {"type": "number", "maximum": 0},
    (BleuConfig, "max_ngram_order"): {"$ref": "#/$defs/order"},
    (ChrfConfig, "char_order"): {"$ref": "#/$defs/order"},
    (ChrfConfig, "beta"): {"type": "integer", "minimum": 1, "maximum": LARGEST_BETA},
    (ChrfConfig, "word_order"): {"type": "integer", "minimum": 0, "maximum": LARGEST_WORD_ORDER},
    (Slicing, "most"): {"type": "integer", "minimum": 1},
    (Rejected, "files"): {"const": []},
    (Rejected, "first"): {"const": []},
}
"""The fields whose type does not say which numbers they can have. The other ones have numbers of 0
or more."""

_WIDTH = 120
"""The longest line."""


def made() -> dict[pathlib.Path, str]:
    """The schemas with new parts, by their paths."""
    paths = {name: FOLDER / f"{name}.schema.json" for name in _PARTS}
    return {
        path: _schema_of(name, path.read_text(encoding="utf-8")) for name, path in paths.items()
    }


def _schema_of(name: str, text: str) -> str:
    """The schema of a document with new parts.

    Args:
      name: a name in `_PARTS`.
      text: the schema with the former parts.
    """
    schema = json.loads(text)
    parts = _PARTS[name](schema)
    for path, value in parts.items():
        *parents, last = path.split("/")
        functools.reduce(lambda inner, key: inner[key], parents, schema)[last] = value
    comment = f"Made by {COMMAND}: {', '.join(parts)}"
    schema = {"$schema": schema.pop("$schema"), "$comment": comment} | {
        key: value for key, value in schema.items() if key != "$comment"
    }
    return _shown(schema) + "\n"


# The parts, by their paths


def _of_scores(schema: Json) -> Json:
    signatures = [_default_signatures(config_type(name)()) for name in METRICS]
    signature = _signature_pattern(
        [each.own for each in signatures], "[^|]+", r"(\|[a-z]+:[^|]+)*\|version:beam-bleu-[^|]+"
    )
    of_sacrebleu = _signature_pattern(
        [each.sacrebleu for each in signatures if each.sacrebleu is not None],
        "(mixed|lc)",
        rf"\|version:{re.escape(SACREBLEU)}",
    )
    return {
        "properties/format": {
            "type": "integer",
            "minimum": file_names.SCORES_FORMAT,
            "maximum": file_names.SCORES_FORMAT,
        },
        **{f"$defs/score/{key}": value for key, value in _score(schema["$defs"]["score"]).items()},
        "$defs/coverage/properties/rule/enum": [*COVERAGE_NAMES],
        "$defs/comparison/properties/family/enum": [*typing.get_args(FamilyName)],
        "$defs/family/properties/family/enum": [*typing.get_args(FamilyName)],
        "$defs/resampling/properties/method/enum": [*RESAMPLING_METHODS],
        "$defs/metric_name": _METRIC_WORD,
        "$defs/signature/pattern": signature,
        "$defs/common_signature/pattern": signature,
        "$defs/sacrebleu_signature/pattern": of_sacrebleu,
    }


def _default_signatures(config: Config) -> Signatures:
    return config.metric.signatures(config.text.name, 1, 1)


def _signature_pattern(signatures: Iterable[str], case: str, end: str) -> str:
    """The pattern of the signatures of all metrics.

    Args:
      signatures: one of each metric, whose fields all of its signatures have.
      case: the pattern of the case.
      end: the pattern of what follows these fields.
    """

    def pattern(field: str) -> str:
        name, _, value = field.partition(":")
        any_value = "(yes|no)" if value in ("yes", "no") else "[^|]+"
        return f"{name}:{case if name == 'case' else any_value}"

    of_metrics: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for signature in signatures:
        *fields, _ = signature.split("|")  # before the version
        has_references = fields[0].startswith("nrefs:")
        # Once for metrics with the same fields.
        of_metrics[has_references][r"\|".join(map(pattern, fields[has_references:]))] = None
    whole = rf"nrefs:([1-9][0-9]*|var)\|({'|'.join(of_metrics[True])})"
    if of_metrics[False]:
        whole = rf"({'|'.join([whole, *of_metrics[False]])})"
    return f"^{whole}{end}$"


def _of_manifest(_: Json) -> Json:
    methods = (text_digest.METHOD, record_digest.METHOD)
    return {
        "$defs/stream/properties/role/enum": [*typing.get_args(InputRole)],
        "$defs/stream/properties/digest/pattern": f"^({'|'.join(methods)}):[0-9a-f]{{32}}$",
    }


def _of_run(_: Json) -> Json:
    versions = [*software_versions()]
    return {
        "properties/state/enum": [*typing.get_args(State)],
        "$defs/versions/required": versions,
        "$defs/versions/properties": {key: {"type": "string", "minLength": 1} for key in versions},
    }


def _of_totals(_: Json) -> Json:
    return {
        "properties/format/const": file_names.TOTALS_FORMAT,
        "properties/version/const": FORMAT_VERSION,
        "properties/content": _object(SavedTotals),
        "$defs/order/maximum": _LARGEST_ORDER,
        "$defs/text": _object(TextName),
        "$defs/groups": _object(GroupTotals),
        "$defs/definition/anyOf": [{"$ref": f"#/$defs/{name}"} for name in METRICS],
        **{f"$defs/{name}": _object(metric_type(name)) for name in METRICS},
    }


_METRIC_WORD = {
    "type": "string",
    "pattern": "^({})$".format(
        "|".join(f"{row.name}:.+" if row.parameter else row.name for row in METRICS.values())
    ),
}
"""The metrics, as results write them."""

_PARTS: Mapping[str, Callable[[Json], Json]] = {
    "scores": _of_scores,
    "manifest": _of_manifest,
    "run": _of_run,
    "totals": _of_totals,
}


# The scores of each metric


def _score(score: Json) -> Json:
    """What the definition of a score says about the fields of each metric.

    Args:
      score: the former definition. The fields that are not of one metric are written by hand.
    """
    own = {name: own_fields(metric_type(name).score_type) for name in METRICS}
    fields = {
        field: _field_of_score(metric_type(name).score_type, field)
        for name in METRICS
        for field in own[name]
    }
    everywhere = set.intersection(*map(set, own.values()))
    former = score["properties"]
    first = dict(itertools.takewhile(lambda item: item[0] != "score", former.items()))
    last = {name: former[name] for name in ("standard_error", "interval")}
    order = _in_one_order(own.values())
    always = [field for field in order if field in everywhere]
    return {
        "required": [*first, "score", *always],
        "oneOf": [
            {
                "properties": _of_metric(row)
                | {field: False for field in order if field not in own[name]},
                "required": [field for field in own[name] if field not in everywhere],
            }
            for name, row in METRICS.items()
        ],
        "properties": {
            **first,
            "score": former["score"],
            **{field: fields[field] for field in order},
            **last,
        },
    }


def _of_metric(row: MetricRow) -> Json:
    """What is true of the metric and of the score in an entry of this metric."""
    metric = {"pattern": f"^{row.name}:"} if row.parameter else {"const": row.name}
    return (
        {"metric": metric} if row.can_be_negative else {"metric": metric, "score": {"minimum": 0}}
    )


def _in_one_order(lists: Iterable[Iterable[str]]) -> list[str]:
    """The fields of all lists, in the order of the first one, then in that of the next one."""
    order: list[str] = []
    for fields in lists:
        new: list[str] = []
        for field in fields:
            if field in order:
                at = order.index(field)
                order[at:at] = new
                new = []
            else:
                new.append(field)
        order += new
    return order


def _field_of_score(score_type: type, name: str) -> Json:
    if (score_type, name) in _RANGES:
        return _RANGES[score_type, name]
    hint = typing.get_type_hints(score_type)[name]
    if typing.get_origin(hint) is tuple:
        items = _number(typing.get_args(hint)[0])
        return {"type": "array", "minItems": 1, "maxItems": _LARGEST_ORDER, "items": items}
    return _number(hint)


def _number(hint: Any) -> Json:
    types_of_it = typing.get_args(hint) or (hint,)
    kind = "number" if float in types_of_it else "integer"
    return {"type": [kind, "null"] if type(None) in types_of_it else kind, "minimum": 0}


# Objects from dataclasses


def _object(of: type) -> Json:
    hints = fields_of(of)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*hints],
        "properties": {
            name: _RANGES.get((of, name)) or _schema(hint) for name, hint in hints.items()
        },
    }


_SCALARS = {bool: "boolean", str: "string", float: "number", type(None): "null"}

_NAMED = {
    int: "count",
    tuple[int, ...]: "integers",
    tuple[str, ...]: "names",
    Mapping[str, int]: "counts",
    Metric: "definition",
    TextName: "text",
    SliceKey: "key",
    GroupTotals: "groups",
}


def _schema(hint: Any) -> Json:
    """The values of a type, as totals.json has them.

    Choices are any text there, because later versions may have more of them.
    """
    if hint in _NAMED:
        return {"$ref": f"#/$defs/{_NAMED[hint]}"}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if hint is Any:
        return {}
    if dataclasses.is_dataclass(hint):
        return _object(typing.cast(type, hint))
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return _schema(type(arguments[0]))
    if origin is np.ndarray:
        return {"$ref": "#/$defs/array"}
    if origin is Mapping and arguments[0] is not str:
        pair = [_schema(argument) for argument in arguments]
        return {"type": "array", "items": {"type": "array", "prefixItems": pair}}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if origin in (tuple, Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    if origin in (types.UnionType, typing.Union):
        # An array of large integers is like any other one.
        different = {str(schema): schema for schema in map(_schema, arguments)}
        first, *others = different.values()
        if all("type" in schema for schema in different.values()):
            # An alternative is a scalar, except the first one.
            return {**first, "type": [schema["type"] for schema in different.values()]}
        return {"anyOf": [first, *others]} if others else first
    raise TypeError(f"no schema for {hint}")


# JSON with short lines


def _shown(value: Any, indent: str = "", before: int = 0) -> str:
    """JSON in which a value is on one line if that is short.

    Args:
      value: the value.
      indent: what each line of it begins with, except the first one.
      before: the number of characters before it on its first line, with those after it.
    """
    line = json.dumps(value, ensure_ascii=False)
    if before + len(line) <= _WIDTH or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        keys = [f"{json.dumps(key)}: " for key in value]
        parts = [
            key + _shown(field, inner, len(inner + key) + 1)
            for key, field in zip(keys, value.values(), strict=True)
        ]
        opening, closing = "{", "}"
    else:
        parts = [_shown(item, inner, len(inner) + 1) for item in value]
        opening, closing = "[", "]"
        if not any(isinstance(item, (dict, list)) for item in value):
            parts = _filled(parts, _WIDTH - len(inner) - 1)
    separator = f",\n{inner}"
    return f"{opening}\n{inner}{separator.join(parts)}\n{indent}{closing}"


def _filled(parts: Iterable[str], width: int) -> list[str]:
    """Lines that have as many of the parts as fit."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(", ") + len(part) <= width:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return lines
