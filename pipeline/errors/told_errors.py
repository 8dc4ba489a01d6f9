"""Exit codes, and how errors survive an engine: marks on ours, and what an engine's words mean.

The launcher of a distributed job gets exceptions as text, among an engine's own words. So the text
of our errors ends with a mark, made of characters that no quoting changes:

    beam-bleu[3]: CAUSE || REMEDY || [beam-bleu.PAYLOAD.CHECKSUM]

A path or a name can look like a mark, too, but it comes before the mark of its error.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.metadata
import json
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.transforms.errors import BleuError, GateError, InputError, JobError, UsageError
from beam_bleu.transforms.version import VERSION

USAGE = 2
MISSED = 4


class ExitCode(NamedTuple):
    """A row of the table of exit codes. Signals have several codes, and no type of error."""

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

_KINDS = {row.codes[0]: row.error for row in EXIT_CODES if row.error is not None}
_MARK = re.compile(r"\[beam-bleu\.([A-Za-z0-9_-]+)\.([0-9a-f]{8})\]")


class MarkedError(Exception):
    def __init__(self, cause: str, error: BleuError) -> None:
        # Beam creates the error anew, with the step's name added to its first argument.
        super().__init__(cause, error)
        self.error = error

    def __str__(self) -> str:
        code, cause, remedy = exit_code(self.error), self.error.cause, self.error.remedy
        content = json.dumps([code, cause, remedy]).encode()
        payload = base64.urlsafe_b64encode(content).decode().rstrip("=")
        told = printable(f"beam-bleu[{code}]: {self.args[0]} || {remedy}")
        return f"{told} || [beam-bleu.{payload}.{_checksum(payload)}]"


@contextlib.contextmanager
def marking() -> Iterator[None]:
    try:
        yield
    except BleuError as error:
        marked = MarkedError(error.cause, error).with_traceback(error.__traceback__)
        # Not from the error itself: a path in its text could look like a mark and come first.
        raise marked from error.__cause__


def exit_code(error: BleuError) -> int:
    return next(code for code, kind in _KINDS.items() if isinstance(error, kind))


def error_of_code(code: int, cause: str, remedy: str) -> BleuError:
    return _KINDS[code](cause, remedy)


def find_error(text: str) -> BleuError | None:
    """The error of the last mark in a text: Python writes an exception after its cause."""
    for payload, checksum in reversed(_MARK.findall(text)):
        if checksum == _checksum(payload):
            code, cause, remedy = json.loads(base64.urlsafe_b64decode(f"{payload}==="))
            return error_of_code(code, cause, remedy)
    return None


def _checksum(payload: str) -> str:
    return f"{zlib.crc32(payload.encode()):08x}"


_SENDING = "or send it with the job: --extra_package beam_bleu-....whl"


class Failure(NamedTuple):
    text: str
    host: str = ""


class _Known(NamedTuple):
    """What a failure means if an engine's text matches `words`, a regular expression.

    The cause can contain `{words}`, the text that matched, and `{last}`, the last line of what the
    engine said. After `most` such failures, further attempts are hopeless; 0: they never are.
    """

    words: str
    cause: str
    remedy: str
    most: int = 0


# The first row that matches a failure counts.
_KNOWN = (
    _Known(
        "BeamFnExternalWorkerPoolGrpc",
        "the engine finds no pool of Python workers: {last}",
        "start one on each machine of the engine, or correct --environment_config: see "
        "docs/operating.md",
    ),
    _Known(
        r"ExternalEnvironmentFactory\.createEnvironment",
        "the pool could not start a Python worker: {last}",
        "look at the log of the pool",
    ),
    _Known(
        r"TaskManager with id \S+ (?:is no longer reachable|timed out)"
        r"|Connection unexpectedly closed by remote task manager '[^']*'"
        r"|Lost connection to task manager '[^']*'"
        r"|Connection for partition \S+ not reachable"
        r"|Lost executor \S+ on [^:\s]+: [^\n]*"
        r"|ExecutorLostFailure \(executor [^)\n]*\)?[^\n]*",
        "a worker of the engine was lost: {words}",
        "look at its log and at the memory of its machine, and start the job again when enough "
        "workers run",
    ),
    _Known(
        r"Insufficient number of network buffers: [^\n]*",
        "a TaskManager of Flink has too few network buffers: {words}",
        "raise taskmanager.memory.network.min and .max in Flink's configuration, or give the job a "
        "lower --parallelism",
    ),
    _Known(
        "Could not acquire the minimum required resources|NoResourceAvailable",
        "Flink has too few free slots for the job",
        "lower --parallelism, start more TaskManagers, or raise taskmanager.numberOfTaskSlots",
    ),
    _Known(
        r"No module named 'beam_bleu(?:\.transforms|\.pipeline)?'",
        "the workers do not have beam-bleu",
        f"install it where they run, {_SENDING}",
        most=1,
    ),
    _Known(
        r"No module named 'beam_bleu\.|Can't get attribute '\w+' on <module 'beam_bleu\b"
        r"|module 'beam_bleu[\w.]*' has no attribute",
        f"the workers have a different version of beam-bleu from this command's, {VERSION}",
        f"install the same version where they run, {_SENDING}",
        most=1,
    ),
    _Known(
        # A Beam worker with another version of Python or Beam starts, but does not begin to work.
        "No client connected within timeout",
        "the workers have started, but have not begun any work for three minutes",
        "look at their log, or at that of their pool: do they have Python "
        f"{sys.version_info[0]}.{sys.version_info[1]} and apache-beam "
        f"{importlib.metadata.version('apache-beam')}, as here?",
        most=2,  # a second attempt can succeed: by then, the worker has installed its packages
    ),
    _Known(
        r"[^\n]*No space left on device[^\n]*",
        "a disk is full where the job runs: {words}",
        "free space there: an engine and its Python workers also write temporary files",
    ),
)

# The class names of exceptions that precede the message of a Java exception.
_JAVA_CLASSES = re.compile(r"^(?:(?:\w+\.)+[\w$]+: )+")


def known_failure(failures: Sequence[Failure], said: str = "") -> JobError | None:
    """The error that explains the failures of a job; None if they match no known words."""
    for known in _KNOWN:
        for failure in reversed(failures):
            if match := re.search(known.words, failure.text):
                return _error(known, match[0].strip(), failure.host, said)
    return None


def hopeless(failures: Sequence[Failure]) -> BleuError | None:
    marked = next(filter(None, (find_error(failure.text) for failure in failures)), None)
    if marked is not None:
        return marked
    for known in _KNOWN:
        hosts = [failure.host for failure in failures if re.search(known.words, failure.text)]
        if 0 < known.most <= len(hosts):
            return _error(known, "", hosts[-1], "")
    return None


def _error(known: _Known, words: str, host: str, said: str) -> JobError:
    *_, last = said.strip().splitlines() or [""]
    cause = known.cause.format(words=words, last=_JAVA_CLASSES.sub("", last.strip()))
    return JobError(f"on {host}: {cause}" if host else cause, known.remedy)
