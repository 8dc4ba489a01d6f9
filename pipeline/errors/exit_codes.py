"""The exit codes of the command, for errors and for people."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.errors import BleuError, GateError, InputError, JobError, UsageError

USAGE = 2
MISSED = 4


@dataclasses.dataclass(frozen=True)
class ExitCode:
    """An exit code.

    Attributes:
      codes: the code. Signals have several.
      meaning: what it means, for --help and the README.
      error: the type of the errors that have it, if it is for errors.
    """

    codes: tuple[int, ...]
    meaning: str
    error: type[BleuError] | None = None


EXIT_CODES = (
    ExitCode((0,), "done"),
    ExitCode((1,), "the job failed: the engine, or writing the output", JobError),
    ExitCode((USAGE,), "usage: an option or a combination of options is impossible", UsageError),
    ExitCode((3,), "the input is missing, unreadable, truncated or bad", InputError),
    ExitCode((MISSED,), "the result is written, but a threshold is missed", GateError),
    ExitCode((129, 130, 143), "stopped by SIGHUP, SIGINT or SIGTERM"),
)
