"""Adds up all values of a PCollection, as steps with labels."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection

__all__ = ["added_up", "keyed"]


def added_up(
    values: PCollection[Any], combine: Any, *, name: str, add: str, take: str
) -> PCollection[Any]:
    """One value for all values of the global window, or none if there are none.

    `CombineGlobally` would give a value for none, too.

    Args:
      values: the values.
      combine: adds them up: a CombineFn, or a function of an iterable.
      name: the label of the step that gives all of them the same key.
      add: the label of the step that adds them up.
      take: the label of the step that takes the sum without its key.
    """
    return (
        values
        | name >> beam.Map(keyed)
        | add >> beam.CombinePerKey(combine)
        | take >> beam.Values()
    )


def keyed(value: Any) -> tuple[int, Any]:
    """A value with the key that all values have."""
    return 0, value
