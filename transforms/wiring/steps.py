"""What the steps of all rooms share: starts, the coder of batches, adding up."""

from __future__ import annotations

import functools
import operator
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import apache_beam as beam
from apache_beam.coders import Coder, typecoders
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.wiring.sums import Sums

Step = Callable[[beam.DoFn], beam.DoFn]
"""Returns a DoFn that does the same work, but for example raises the pipeline's own errors."""

NamedSums = tuple[str, Sums]
"""(what was added up, sums)."""

_NAMED_SUMS = typehints.Tuple[str, Sums]


def unchanged(dofn: beam.DoFn) -> beam.DoFn:
    """The DoFn itself: the default `Step`."""
    return dofn


def starting_with(value: Any, root: Any) -> beam.PTransform:
    """The transform that gives a pipeline its first element, a value.

    If `root` is a PCollection of one element, the value takes its place, so that nothing starts
    before it is there.
    """
    if isinstance(root, beam.pvalue.PCollection):
        return beam.Map(lambda _, value: value, value)
    return beam.Create([value], reshuffle=False)


class OfSource(beam.PTransform):
    """What is made of a source of segments, at the root of a pipeline.

    With `describe`, it also describes the inputs, by their files and by digests of their texts.
    """

    def __init__(self, source: Any, threads: int, step: Step, describe: bool) -> None:
        super().__init__(self.LABEL)
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe

    LABEL: str


class BatchCoder(Coder):
    """Pickles a value. The value has its size in `nbytes`.

    The in-process runner encodes nothing. But Beam sometimes asks for the size of an element, and
    without this coder it would encode a whole batch to find the size.
    """

    def encode(self, value: Any) -> bytes:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> Any:
        return pickle.loads(encoded)

    def estimate_size(self, value: Any) -> int:
        return int(value.nbytes)

    def is_deterministic(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def giving_batches(dofn: beam.DoFn, batch: type) -> beam.ParDo:
    """A step whose outputs are batches of this type, with `BatchCoder` as their coder."""
    typecoders.registry.register_coder(batch, BatchCoder)
    return beam.ParDo(dofn).with_output_types(batch)


def as_batches(output: PCollection[Any], batch: type) -> PCollection[Any]:
    """The same for one output of a step that has several, and can declare no type for one."""
    typecoders.registry.register_coder(batch, BatchCoder)
    output.element_type = batch
    return output


class AddUp(beam.CombineFn):
    """Adds up sums of any kind; those with the same key are of the same kind.

    Sums are frozen, so any split and order gives the same. The sum of nothing is None.
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
    """Adds up the parts of all that a job adds up, in one shuffle: each makes the start longer."""
    return (
        list(parts)
        | "Collect the sums" >> beam.Flatten()
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(_NAMED_SUMS)
    )
