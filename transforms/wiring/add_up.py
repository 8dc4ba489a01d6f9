"""Adds up sums of all kinds: one CombineFn, and one step for everything that a job adds up."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.wiring.coders import BatchCoder
from beam_bleu.transforms.wiring.sums import Sums

__all__ = ["AddUp", "NamedSums", "add_up", "giving_sums"]

NamedSums = tuple[str, Sums]
"""(what was added up, sums)."""


class AddUp(beam.CombineFn):
    """Adds up sums of any kind; those with the same key are of the same kind.

    Sums are frozen, so neither an input nor another accumulator is ever changed, and any split and
    order gives the same sum. The sum of nothing is None.
    """

    def create_accumulator(self) -> Any:
        return None

    def add_input(self, accumulator: Any, sums: Any) -> Any:
        return sums if accumulator is None else accumulator + sums

    def merge_accumulators(self, accumulators: Iterable[Any]) -> Any:
        there = [accumulator for accumulator in accumulators if accumulator is not None]
        return functools.reduce(operator.add, there) if there else None

    def extract_output(self, accumulator: Any) -> Any:
        return accumulator


def giving_sums(dofn: beam.DoFn) -> beam.ParDo:
    """A step whose outputs are `NamedSums`."""
    # Beam sometimes asks for the size of an element. The coder knows that of large arrays.
    typecoders.registry.register_coder(Sums, BatchCoder)
    return beam.ParDo(dofn).with_output_types(_NAMED_SUMS)


def add_up(parts: Iterable[PCollection[NamedSums]]) -> PCollection[NamedSums]:
    """Adds the steps from the sums of parts of a corpus to those of the whole corpus.

    There is one shuffle for all that a job adds up: each one takes memory of an engine's network,
    and makes the start of a run longer.
    """
    return (
        list(parts)
        | "Collect the sums" >> beam.Flatten()
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(_NAMED_SUMS)
    )


_NAMED_SUMS = typehints.Tuple[str, Sums]
