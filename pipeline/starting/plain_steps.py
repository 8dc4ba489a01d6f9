"""Steps in which Beam looks for state and timers only where they can be.

Beam looks for them about eight times in each step, in the parameters of all methods that `dir`
lists: about 30. That would be a quarter of the time in which a job is built and translated.
"""

from __future__ import annotations

import apache_beam as beam
from apache_beam.transforms.core import CallableWrapperDoFn

__all__ = ["PlainDoFn", "look_only_where_state_can_be"]


class PlainDoFn(beam.DoFn):
    """A DoFn in which only `process` has parameters that Beam fills in."""

    def __dir__(self) -> list[str]:
        return ["process"]


def look_only_where_state_can_be() -> None:
    """Makes Beam look only at the function in steps by `Map` and `FlatMap`, also in its own.

    The function is the `process` of such a step. The other methods are Beam's, without parameters
    for state.
    """
    CallableWrapperDoFn.__dir__ = PlainDoFn.__dir__
