"""Generates the parts of the JSON Schemas in docs/ that follow from the code.

They are names and types of fields, choices, and versions. Each schema lists its generated parts in
`$comment`; the rest is written by hand.
"""

from __future__ import annotations

import functools
import itertools
import json
import pathlib
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beam_bleu.pipeline.folder import file_names
from beam_bleu.pipeline.output.run_record import State
from beam_bleu.pipeline.result.rows import FamilyName
from beam_bleu.transforms.definition.resampling import RESAMPLING_METHODS
from beam_bleu.transforms.known_metrics import METRICS, MetricRow, metric_type
from beam_bleu.transforms.metrics.bleu.metric import LARGEST_NGRAM_ORDER, BleuScore
from beam_bleu.transforms.metrics.chrf.metric import LARGEST_CHAR_ORDER
from beam_bleu.transforms.metrics.numbers import PerplexityScore
from beam_bleu.transforms.metrics.rouge.metric import RougeScore
from beam_bleu.transforms.pairing.lines import text_digest
from beam_bleu.transforms.pairing.paired import COVERAGES, InputRole
from beam_bleu.transforms.score.score import own_fields
from beam_bleu.transforms.version import software_versions
from docs.pages import COMMAND

FOLDER = pathlib.Path(__file__).parent

Json = dict[str, Any]

_LARGEST_ORDER = max(LARGEST_NGRAM_ORDER, LARGEST_CHAR_ORDER)

_RANGES: Mapping[tuple[type, str], Json] = {
    (BleuScore, "bp"): {"type": "number", "minimum": 0, "maximum": 1},
    (RougeScore, "precision"): {"type": "number", "minimum": 0, "maximum": 100},
    (RougeScore, "recall"): {"type": "number", "minimum": 0, "maximum": 100},
    (PerplexityScore, "log_probability"): {"type": "number", "maximum": 0},
}
"""The ranges of fields whose numbers are not just 0 or more."""


def made() -> dict[pathlib.Path, str]:
    """The schemas with new parts, by path."""
    paths = {name: FOLDER / f"{name}.schema.json" for name in _PARTS}
    return {
        path: _schema_of(name, path.read_text(encoding="utf-8")) for name, path in paths.items()
    }


def _schema_of(name: str, text: str) -> str:
    """A schema with new parts.

    Args:
      name: a name in `_PARTS`.
      text: the schema with its former parts.
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
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# The parts of each schema, by their paths in it


def _of_scores(schema: Json) -> Json:
    return {
        "properties/format": {
            "type": "integer",
            "minimum": file_names.SCORES_FORMAT,
            "maximum": file_names.SCORES_FORMAT,
        },
        **{f"$defs/score/{key}": value for key, value in _score(schema["$defs"]["score"]).items()},
        "$defs/coverage/properties/rule/enum": [*COVERAGES],
        "$defs/comparison/properties/family/enum": [*typing.get_args(FamilyName)],
        "$defs/family/properties/family/enum": [*typing.get_args(FamilyName)],
        "$defs/resampling/properties/method/enum": [*RESAMPLING_METHODS],
        "$defs/metric_name": _METRIC_WORD,
    }


def _of_manifest(_: Json) -> Json:
    methods = (text_digest.METHOD, text_digest.OF_RECORDS)
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


_METRIC_WORD = {
    "type": "string",
    "pattern": "^({})$".format(
        "|".join(f"{row.name}:.+" if row.parameter else row.name for row in METRICS.values())
    ),
}
"""The names of metrics in results."""

_PARTS: Mapping[str, Callable[[Json], Json]] = {
    "scores": _of_scores,
    "manifest": _of_manifest,
    "run": _of_run,
}


# The definition of a score, which depends on its metric


def _score(score: Json) -> Json:
    """The parts of the definition of a score that say which fields each metric has.

    Args:
      score: the former definition. Fields that all metrics have are written by hand.
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
    shared = [*first, "score", *last]  # the fields of every score, by hand
    order = _in_one_order(own.values())
    always = [field for field in order if field in everywhere]
    return {
        "required": [*first, "score", *always],
        "oneOf": [
            {
                "properties": _of_metric(row),
                "propertyNames": {"pattern": f"^({'|'.join(_possible(name, shared, own[name]))})$"},
                "required": [field for field in own[name] if field not in everywhere],
            }
            for name, row in METRICS.items()
        ],
        "properties": {
            **first,
            "score": former["score"],
            **{field: _description(former.get(field, {})) | fields[field] for field in order},
            **last,
            "wilson_interval": former["wilson_interval"],
        },
    }


def _possible(metric: str, shared: Iterable[str], own: Iterable[str]) -> list[str]:
    """The names of all fields that a score of this metric can have."""
    has_outcome = metric_type(metric).OUTCOME is not None
    return [*shared, *own, *(["wilson_interval"] if has_outcome else [])]


def _description(field: Json) -> Json:
    """The description of a field, which is kept because it is written by hand."""
    return {key: value for key, value in field.items() if key == "description"}


def _of_metric(row: MetricRow) -> Json:
    """What must hold for `metric` and `score` in an entry of this metric."""
    metric = {"pattern": f"^{row.name}:"} if row.parameter else {"const": row.name}
    return {"metric": metric} | ({} if row.can_be_negative else {"score": {"minimum": 0}})


def _in_one_order(lists: Iterable[Iterable[str]]) -> list[str]:
    """The fields of all lists, in the order of the first list, then of the next, and so on."""
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
    types = typing.get_args(hint) or (hint,)
    kind = "number" if float in types else "integer"
    return {"type": [kind, "null"] if type(None) in types else kind, "minimum": 0}
