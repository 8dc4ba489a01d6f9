"""Frozen dataclasses as values of JSON, and back: their fields, by the types that they declare.

A tuple is a list, an array of integers is `{"shape", "columns", "values"}`, and a mapping whose
keys are no texts is a list of pairs.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Compact
from beam_bleu.transforms.text.text import TextName


def encoded(value: Any) -> Any:
    """A dataclass, or the value of one of its fields, as JSON."""
    if dataclasses.is_dataclass(value):
        names = fields_of(value.__class__)
        return {name: encoded(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        array = Compact.of(value)
        return {
            "shape": list(array.shape),
            "columns": array.columns.tolist(),
            "values": array.values.ravel().tolist(),
        }
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: encoded(item) for key, item in value.items()}
        return [[encoded(key), encoded(item)] for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [encoded(item) for item in value]
    return value


def decoded(hint: Any, value: Any, owner: Mapping[str, Any] | None = None) -> Any:
    """The value of this type that `encoded` has made into JSON.

    `owner` is the JSON of the dataclass: that of a `Metric` has its name.
    """
    if value is None or hint is Any:
        return value
    if hint is Metric:
        assert owner is not None
        return decoded(metric_type(owner["name"]), value)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        if not isinstance(value, Mapping):  # a named tuple
            value = dict(zip(fields_of(hint), value, strict=True))
        hints = fields_of(hint)
        return hint(**{name: decoded(hints[name], item, value) for name, item in value.items()})
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        alternatives = [each for each in inner if each is not type(None)]
        return decoded(alternatives[0], value, owner)
    if origin is np.ndarray:
        return _array(value)
    if origin is Mapping:
        pairs = value.items() if isinstance(value, Mapping) else value
        return {decoded(inner[0], key): decoded(inner[1], item, owner) for key, item in pairs}
    if origin is tuple:
        return tuple(decoded(inner[0], item, owner) for item in value)
    if origin is Sequence:
        return [decoded(inner[0], item, owner) for item in value]
    return value


@functools.cache
def fields_of(of: type) -> dict[str, Any]:
    """The fields of a class, with their types; of a metric without its choices of texts."""
    # known_metrics.py does not load the types of its fields.
    hints = typing.get_type_hints(of, None, {"Metric": Metric, "TextName": TextName})
    of_text = of.text_fields() if issubclass(of, Metric) else ()
    return {
        name: hint
        for name, hint in hints.items()
        if typing.ClassVar not in (hint, typing.get_origin(hint)) and name not in of_text
    }


def _array(value: Mapping[str, Any]) -> np.ndarray:
    """An array: int64, or Python's integers if one of them is too large."""
    shape, columns = tuple(value["shape"]), np.array(value["columns"], np.int64)
    try:
        values = np.array(value["values"], np.int64)
    except OverflowError:
        values = np.array(value["values"], object)
    return Compact(shape, columns, values.reshape(shape[0] * shape[1], len(columns))).array
