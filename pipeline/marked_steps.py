"""Steps of the command's job, which raise errors with their marks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import apache_beam as beam

from beam_bleu.pipeline.error_marks import marking

__all__ = ["marked"]


def marked(dofn: beam.DoFn) -> beam.DoFn:
    """A DoFn that does the same, and marks the errors that it raises.

    Args:
      dofn: its `process` takes an element, and perhaps its `window` and its `timestamp`.

    Raises:
      TypeError: its `process` takes something else.
    """
    return _Marked(dofn)


class _Marked(beam.DoFn):
    def __init__(self, dofn: beam.DoFn) -> None:
        self._dofn = dofn
        _, *asked = inspect.signature(dofn.process).parameters
        if not set(asked) <= {"window", "timestamp"}:
            raise TypeError(f"a marked step can have a window and a timestamp, not {asked}")
        self._asked = asked

    def setup(self) -> None:
        with marking():
            self._dofn.setup()

    def start_bundle(self) -> None:
        with marking():
            self._dofn.start_bundle()

    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Iterator[Any]:
        given = {"window": window, "timestamp": timestamp}
        with marking():
            outputs = self._dofn.process(element, **{name: given[name] for name in self._asked})
            yield from outputs or ()

    def finish_bundle(self) -> Iterator[Any]:
        with marking():
            yield from self._dofn.finish_bundle() or ()

    def teardown(self) -> None:
        with marking():
            self._dofn.teardown()

    # Beam asks these what goes in and out, and chooses coders by it.

    def default_type_hints(self) -> Any:
        return self._dofn.get_type_hints()

    def infer_output_type(self, input_type: Any) -> Any:
        return self._dofn.infer_output_type(input_type)

    def display_data(self) -> Any:
        return self._dofn.display_data()
