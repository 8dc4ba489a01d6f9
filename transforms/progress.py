"""How far a run has come: its phase, and the bytes that are done and planned in this phase.

`PROGRESS` is an attribute of this module, because Beam pickles a module by its name. So steps that
run in the launcher's process write to the same object that the launcher reads.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal

Phase = Literal[
    "starting",  # the launcher builds the job
    "submitting",  # the launcher sends the job to an engine
    "running",  # an engine or other processes run the job, and its steps write elsewhere
    "listing",
    "counting lines",
    "planning",
    "scoring",
    "writing",
]
"""What a run is doing, in this order. No run has all phases."""

COMPILING = "compiling for this machine, which takes up to 10 seconds; later runs use the result"
"""The detail of a phase in which a process compiles."""


@dataclasses.dataclass(frozen=True)
class State:
    """A run at one moment. Bytes are `done` and `planned`, which is None if it is not known."""

    phase: Phase
    detail: str
    done: int
    planned: int | None
    phase_seconds: float
    run_seconds: float


class Progress:
    """How far a run has come. Every method can be called on any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        with self._lock:
            self._run_begin = self._clock()
            self._seconds: dict[Phase, float] = {}
            self._enter("starting", None)

    def begin(self, phase: Phase, planned: int | None = None) -> None:
        """Begins another phase, or an earlier one, because Beam may repeat a step."""
        with self._lock:
            self._seconds = self._seconds_until_now()
            self._enter(phase, planned)

    def add(self, done: int) -> None:
        """Adds bytes that are done in the current phase. Call it about once per megabyte."""
        with self._lock:
            self._done += done

    def tell(self, detail: str) -> None:
        """Sets the text about the current phase; "" removes it. `begin` removes it, too."""
        with self._lock:
            self._detail = detail

    @property
    def state(self) -> State:
        with self._lock:
            now = self._clock()
            # Beam may repeat a step, and then its bytes are added twice.
            done = self._done if self._planned is None else min(self._done, self._planned)
            return State(
                self._phase,
                self._detail,
                done,
                self._planned,
                now - self._phase_begin,
                now - self._run_begin,
            )

    @property
    def seconds(self) -> Mapping[Phase, float]:
        with self._lock:
            return self._seconds_until_now()

    def _enter(self, phase: Phase, planned: int | None) -> None:
        self._phase, self._phase_begin = phase, self._clock()
        self._detail, self._done, self._planned = "", 0, planned

    def _seconds_until_now(self) -> dict[Phase, float]:
        seconds = self._clock() - self._phase_begin
        return {**self._seconds, self._phase: self._seconds.get(self._phase, 0.0) + seconds}


PROGRESS = Progress()  # the progress of the run in this process
