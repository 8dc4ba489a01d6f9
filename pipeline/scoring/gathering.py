"""Brings all ends of the job together, for its last step.

Beam's CoGroupByKey does the same with twice as many steps, and each step makes the start of every
run longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.pipeline.starting.plain_steps import PlainDoFn
from beam_bleu.transforms.wiring.steps import NamedSums

__all__ = ["Gathered", "bring_together", "by_end"]

Gathered = tuple[int, Iterable[tuple[str, Any]]]
"""The key that all values have, and each value with the name of its end."""


def bring_together(
    ends: Mapping[str, PCollection[Any]], sums: PCollection[NamedSums]
) -> PCollection[Gathered]:
    """One `Gathered` with the values of all ends, and all sums.

    Args:
      ends: the ends that give values, by name.
      sums: the sums of the whole corpus. Each of their names is that of an end.
    """
    # One type for all: otherwise the in-process runner encodes each element again.
    named = typehints.Tuple[int, typehints.Tuple[str, typehints.Any]]
    return (
        [
            *(
                end | f"Send on the {name}" >> beam.ParDo(_SendOn(name)).with_output_types(named)
                for name, end in ends.items()
            ),
            sums | "Send on the sums" >> beam.ParDo(_SendOnSums()).with_output_types(named),
        ]
        | "Collect the ends" >> beam.Flatten()
        | "Bring it together" >> beam.GroupByKey()
    )


def by_end(ends: Iterable[str], gathered: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """The values of each end."""
    values: dict[str, list[Any]] = {name: [] for name in ends}
    for name, value in gathered:
        values[name].append(value)
    return values


class _SendOn(PlainDoFn):
    def __init__(self, name: str) -> None:
        self._name = name

    def process(self, value: Any) -> Iterator[tuple[int, tuple[str, Any]]]:
        yield 0, (self._name, value)


class _SendOnSums(PlainDoFn):
    def process(self, named: NamedSums) -> Iterator[tuple[int, NamedSums]]:
        yield 0, named
