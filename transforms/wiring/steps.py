"""Lets a pipeline change the DoFns of the transforms that it uses, and when they start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apache_beam as beam

__all__ = ["Step", "starting_with", "unchanged"]

Step = Callable[[beam.DoFn], beam.DoFn]
"""Returns a DoFn that does the same work, but for example raises the pipeline's own errors."""


def unchanged(dofn: beam.DoFn) -> beam.DoFn:
    """The DoFn itself: the default `Step`."""
    return dofn


def starting_with(value: Any, root: Any) -> beam.PTransform:
    """The transform that gives a pipeline its first element, a value.

    Args:
      value: the value.
      root: what the transform is applied to: a pipeline's root, or a PCollection of one element.
        Then the value takes the place of this element, so that nothing starts before it is there.
    """
    if isinstance(root, beam.pvalue.PCollection):
        return beam.Map(_instead, value)
    return beam.Create([value], reshuffle=False)


def _instead(_: Any, value: Any) -> Any:
    return value
