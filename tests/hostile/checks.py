"""Checks that every run of the command must pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from command_line import Run, without_progress

_WARNING = "beam-bleu: warning: "


class DifferenceError(Exception):
    """The command's result is not what the oracle says."""


def complaints(run: Run) -> list[str]:
    """The lines on stderr that are neither warnings nor progress."""
    lines = without_progress(run.err).split("\n")[:-1]
    return [line for line in lines if not line.startswith(_WARNING)]


def check(holds: bool, difference: str) -> None:
    """Raises a `DifferenceError` unless the condition holds."""
    if not holds:
        raise DifferenceError(difference)


def check_success(run: Run) -> dict[str, Any]:
    """Checks that the run succeeded and printed only warnings; returns its document."""
    check(run.code == 0, f"exit code {run.code}, expected 0: {run.err.strip()}")
    check(complaints(run) == [], f"exit code 0, but on stderr: {run.err.strip()}")
    return run.document


def check_refusal(run: Run, codes: Sequence[int] = (3,), names: Sequence[str] = ()) -> None:
    """Checks that the run ended with one of these codes, no result, a cause and a remedy.

    Args:
      run: the run.
      codes: the exit codes that fit.
      names: the message has to contain one of these, if there are any.
    """
    allowed = " or ".join(map(str, codes))
    check(run.code in codes, f"exit code {run.code}, expected {allowed}: {run.err.strip()}")
    check(run.out == b"", f"exit code {run.code}, but on stdout: {run.out[:200]!r}")
    check("Traceback" not in run.err, f"a traceback: {run.err}")
    lines = complaints(run)
    told = len(lines) == 2 and lines[0].startswith("beam-bleu: ") and lines[1].startswith("  ")
    check(told and bool(lines[1].strip()), f"stderr is not a cause and a remedy: {run.err!r}")
    named = not names or any(name in run.err for name in names)
    check(named, f"the message names none of {', '.join(names)}: {run.err.strip()}")
