"""Tampered totals: a changed totals.json is refused, or its numbers are those of the right one."""

from __future__ import annotations

from case import Case
from saved_runs import RUN_NAMES, make_run
from tampering import Tampering, some_changes

_CHANGES = 25


def attack(case: Case) -> None:
    """Changes fields of the totals of a random run, with right digests."""
    name = case.random.choice(RUN_NAMES)
    case.what = f"the totals of the run {name!r} with changed fields"
    file = make_run(name, case.folder / "in", case.random, case.run)
    tampering = Tampering(name, file, case.folder / "changed", case.run)
    for change in some_changes(tampering.frame["content"], case.random, _CHANGES):
        tampering.try_change(change)
