"""What a pipeline may do to the DoFns of a transform that it uses."""

from __future__ import annotations

from collections.abc import Callable

import apache_beam as beam

__all__ = ["Step", "unchanged"]

Step = Callable[[beam.DoFn], beam.DoFn]
"""Gives a DoFn that does the same in the pipeline's own way, such as with errors of its own."""


def unchanged(dofn: beam.DoFn) -> beam.DoFn:
    """The DoFn itself: what a transform does if its pipeline does not say otherwise."""
    return dofn
