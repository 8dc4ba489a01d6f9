"""Beam finds state where it can be, and the steps of the job have none."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import pytest
from apache_beam.coders import VarIntCoder
from apache_beam.transforms.core import CallableWrapperDoFn
from apache_beam.transforms.userstate import (
    BagStateSpec,
    get_dofn_specs,
    is_stateful_dofn,
    validate_stateful_dofn,
)

from beam_bleu.pipeline.errors.marked_steps import PlainDoFn, look_only_where_state_can_be

SEEN = BagStateSpec("seen", VarIntCoder())
STATE: Any = beam.DoFn.StateParam(SEEN)


class Counts(PlainDoFn):
    def process(self, element: Any, seen: Any = STATE) -> None:
        """Has state."""


class Doubles(PlainDoFn):
    def process(self, element: int) -> list[int]:
        return [2 * element]


@pytest.fixture
def _looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallableWrapperDoFn, "__dir__", CallableWrapperDoFn.__dir__)
    look_only_where_state_can_be()


@pytest.mark.usefixtures("_looking")
@pytest.mark.parametrize(
    ("step", "stateful"),
    [
        (beam.ParDo(Counts()), True),
        (beam.ParDo(Doubles()), False),
        (beam.Map(abs), False),
    ],
)
def test_beam_finds_the_state_of_a_step(step: beam.ParDo, stateful: bool) -> None:
    validate_stateful_dofn(step.fn)
    assert is_stateful_dofn(step.fn) == stateful
    states, timers = get_dofn_specs(step.fn)
    assert (states, timers) == ({SEEN} if stateful else set(), set())
