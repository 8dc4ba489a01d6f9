"""What transforms give in a pipeline of this process."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner

FOUND: list[Any] = []
"""What the last pipeline has given. Beam sends functions of a module by their names, so a test can
read it."""


def keep(element: Any) -> None:
    FOUND.append(element)


def found_in(source: list[Any] | beam.PTransform, *steps: beam.PTransform) -> list[Any]:
    """What steps give for elements, or for what a transform reads, in their order."""
    FOUND.clear()
    # Not reshuffled: all elements are in one bundle, in their order.
    create = beam.Create(source, reshuffle=False) if isinstance(source, list) else source
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        result = pipeline | "Source" >> create
        for number, step in enumerate(steps):
            result = result | f"Step {number}" >> step
        _ = result | "Keep" >> beam.Map(keep)
    return FOUND.copy()
