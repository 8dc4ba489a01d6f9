"""Measures the data of the pipeline's shuffles, with the coders that Beam uses for them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.coders import Coder, IterableCoder, TupleCoder, WindowedValueCoder, typecoders
from apache_beam.coders.coders import GlobalWindowCoder
from apache_beam.pipeline import AppliedPTransform, PipelineVisitor
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import PANE_INFO_UNKNOWN

from beam_bleu.pipeline.graph import build
from beam_bleu.pipeline.job import Job


class Shuffle:
    """A shuffle, and the amount of data that has gone through it.

    Attributes:
      elements: how many elements.
      bytes: the bytes of all elements, as an engine gets them.
      largest: the bytes of the largest element; of the whole group, if all have one key.
    """

    def __init__(self, coder: Coder) -> None:
        self._coder = WindowedValueCoder(coder, GlobalWindowCoder())
        self._is_kv = isinstance(coder, TupleCoder)
        self._values = coder.value_coder()
        self.elements = self.bytes = self.largest = 0

    def carry(self, element: Any, times: int = 1) -> None:
        """Takes an element with its key, this number of times."""
        size = len(self._coder.encode(GlobalWindows.windowed_value(element)))
        self.elements += times
        self.bytes += times * size
        self.largest = max(self.largest, size)

    def spread(self, value: Any) -> None:
        """Takes an element as `beam.Reshuffle` would wrap it."""
        self.carry((random.getrandbits(32), (value, None, PANE_INFO_UNKNOWN)))

    def group(self, values: Iterable[Any]) -> Any:
        """Encodes the values of one key, as an engine does for the step after the shuffle."""
        encoded = IterableCoder(self._values).encode(_carried(self, values))
        self.largest = len(encoded)
        return encoded

    def ungroup(self, encoded: bytes) -> Any:
        """Decodes the values that `group` has encoded."""
        return IterableCoder(self._values).decode(encoded)

    @property
    def figures(self) -> dict[str, int]:
        """The attributes."""
        return {"elements": self.elements, "bytes": self.bytes, "largest": self.largest}


def _carried(shuffle: Shuffle, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        shuffle.carry((0, value))
        yield value


def shuffles_of(job: Job) -> dict[str, Shuffle]:
    """All shuffles of a job's pipeline, by the labels of their stages."""
    pipeline = beam.Pipeline()
    build(pipeline, job)
    groups = _Groups()
    pipeline.visit(groups)
    return groups.shuffles


class _Groups(PipelineVisitor):
    def __init__(self) -> None:
        self.shuffles: dict[str, Shuffle] = {}

    def visit_transform(self, node: AppliedPTransform) -> None:
        if isinstance(node.transform, beam.GroupByKey):
            label = node.full_label.removeprefix("Pair lines/").partition("/")[0]
            coder = typecoders.registry.get_coder(node.inputs[0].element_type)
            self.shuffles[label] = Shuffle(coder)
