"""The coder of batches, for engines that send them from one stage to the next.

The in-process runner encodes nothing. But Beam sometimes asks for the size of an element, and
without this coder it would encode a whole batch to find the size.
"""

from __future__ import annotations

import pickle
from typing import Any

import apache_beam as beam
from apache_beam.coders import Coder, typecoders
from apache_beam.pvalue import PCollection

__all__ = ["BatchCoder", "as_batches", "giving_batches"]


class BatchCoder(Coder):
    """Pickles a value. The value has its size in `nbytes`."""

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
    """The same for one output of a step that has several.

    A step declares one type for all of its outputs. With --runtime_type_check, Beam refuses outputs
    of other types.
    """
    typecoders.registry.register_coder(batch, BatchCoder)
    output.element_type = batch
    return output
