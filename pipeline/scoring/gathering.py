"""Brings all ends of the job together, for its last step.

Beam's CoGroupByKey does the same with twice as many steps, and each step makes the start of every
run longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.pipeline.starting.plain_steps import PlainDoFn

__all__ = ["Gathered", "bring_together", "by_end"]

Gathered = tuple[int, Iterable[tuple[str, Any]]]
"""The key that all values have, and each value with the name of its end."""


def bring_together(
    ends: Mapping[str, PCollection[Any]], sums: Mapping[str, PCollection[tuple[int, Any]]]
) -> PCollection[Gathered]:
    """One `Gathered` with the values of all ends and all sums, by name.

    Args:
      ends: the ends that give values.
      sums: the ends that give (key, value).
    """
    # One type for all: otherwise the in-process runner encodes each element again.
    named = typehints.Tuple[int, typehints.Tuple[str, typehints.Any]]
    return (
        [
            end | f"Send on the {name}" >> beam.ParDo(_SendOn(name, keyed)).with_output_types(named)
            for given, keyed in ((ends, False), (sums, True))
            for name, end in given.items()
        ]
        | "Collect the ends" >> beam.Flatten()
        | "Bring it together" >> beam.GroupByKey()
    )


def by_end(ends: Sequence[str], gathered: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """The values of each end."""
    found: dict[str, list[Any]] = {name: [] for name in ends}
    for name, value in gathered:
        found[name].append(value)
    return found


class _SendOn(PlainDoFn):
    def __init__(self, name: str, keyed: bool) -> None:
        self._name = name
        self._keyed = keyed

    def process(self, element: Any) -> Iterator[tuple[int, tuple[str, Any]]]:
        yield 0, (self._name, element[1] if self._keyed else element)
