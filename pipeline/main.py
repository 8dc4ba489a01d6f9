"""The command `beam-bleu`: parse, run, print, and end with the right exit code."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import logging
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence

from transforms.errors import BleuError, JobError, find_error

_STEP = re.compile(r" \[while running '[^']*'\]")
"""What Beam adds to the message of an exception."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code (see the README)."""
    argv = sys.argv[1:] if argv is None else argv
    return reported(lambda: _show(_run(argv)), verbose="--verbose" in argv)


def reported(work: Callable[[], None], verbose: bool) -> int:
    """Does the work of a command, tells on stderr what went wrong; returns the exit code."""
    # Beam logs a traceback for every exception of a worker, and warns of
    # optional packages when it is imported.
    logging.basicConfig(
        level=logging.INFO if verbose else logging.CRITICAL, stream=sys.stderr, force=True
    )
    with _signals() as received:
        try:
            work()
            return 0
        except (Exception, KeyboardInterrupt) as error:
            if verbose:
                traceback.print_exc()
            if received:  # whatever an engine has made of it
                _say(f"beam-bleu: stopped by {received[0].name}")
                return 128 + received[0]
            found = _as_bleu_error(error)
            _say(f"beam-bleu: {_STEP.sub('', found.cause)}\n  {found.remedy}")
            return found.exit_code


@contextlib.contextmanager
def _signals() -> Iterator[list[signal.Signals]]:
    """Turns SIGINT and SIGTERM into a KeyboardInterrupt, and notes them."""
    received: list[signal.Signals] = []

    def receive(number: int, frame: object) -> None:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield received  # only the main thread can handle signals
        return
    before = {each: signal.signal(each, receive) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _show(result: bytes) -> None:
    """Writes the result to stdout."""
    if sys.stdout is None:
        raise JobError("stdout is closed", "redirect it to a file or to /dev/null")
    try:
        sys.stdout.buffer.write(result)
        sys.stdout.flush()
    except OSError as error:
        # Python would try again, and fail again, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise JobError(f"stdout cannot be written: {error.strerror}", "check it") from error


def _say(message: str) -> None:
    """Writes a message to stderr, if that is possible."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            print(message, file=sys.stderr, flush=True)


def _run(argv: Sequence[str]) -> bytes:
    """Runs the job of a command line; returns what stdout shows."""
    # Beam takes half a second to import, and logs while it does. A fifth of this
    # went into collecting garbage among a million objects of which none is.
    gc.disable()
    from apache_beam.runners.runner import PipelineState

    from pipeline.graph import build
    from pipeline.options import parse
    from pipeline.output import last_written, output_folder, read_scores
    from pipeline.table import table

    arguments = parse(argv)
    with output_folder(arguments.job.output, arguments.runner.in_process) as folder:
        written_before = last_written(folder)
        pipeline = arguments.runner.pipeline(arguments.beam)
        build(pipeline, dataclasses.replace(arguments.job, output=folder))
        gc.freeze()
        gc.enable()
        state = pipeline.run().wait_until_finish()
        if state not in (None, PipelineState.DONE):
            raise JobError(f"the job ended as {state}", "look at the engine's log")
        scores = read_scores(folder, written_before)
    if arguments.format == "json":
        return scores
    return table(json.loads(scores)).encode()


def _as_bleu_error(error: BaseException) -> BleuError:
    """What went wrong, found by its marker wherever an engine has put it."""
    cause: BaseException | None = error
    while cause is not None:
        found = cause if isinstance(cause, BleuError) else find_error(str(cause))
        if found is not None:
            return found
        cause = cause.__cause__ or cause.__context__
    lines = [line for line in str(error).splitlines() if line.strip()]
    last = lines[-1].strip() if lines else type(error).__name__
    return JobError(f"the job failed: {last}", "run it again with --verbose to see the log")
