"""Runs the work of a command: reports its errors on stderr, handles signals, sets the exit code."""

from __future__ import annotations

import atexit
import contextlib
import datetime
import logging
import os
import re
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Set
from typing import Any, NamedTuple, NoReturn

from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.pipeline.errors.terminal import LogFormatName, formatted_log, log_line, say
from beam_bleu.pipeline.errors.told_errors import Failure, exit_code, find_error, known_failure
from beam_bleu.transforms.errors import (
    BleuError,
    JobError,
    causes,
    lacks_open_files,
    open_file_limit,
)

# Beam appends this to the message of an exception.
_STEP = re.compile(r"(?: \[while running '[^']*'\])+$")
# Python writes this between an exception and the one that it caused.
_CAUSED = re.compile(r"^(?:The above exception was|During handling of the above)", re.MULTILINE)
_BREAKS = "\n\t"  # not escaped in tracebacks and in log records of libraries
_BETWEEN_WAKES = 0.1  # seconds


class Ending(NamedTuple):
    code: int
    cause: str = ""
    remedy: str = ""


class _Interrupts:
    """Turns SIGINT, SIGTERM and SIGHUP into KeyboardInterrupt, and remembers those received."""

    def __init__(self) -> None:
        self.received: list[signal.Signals] = []
        self._held = False

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        self.received.clear()
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread can handle signals
            return
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup makes Python ignore it
            numbers.append(signal.SIGHUP)
        self._held = True
        before = {number: signal.signal(number, self._receive) for number in numbers}
        try:
            with self._noticed({*numbers}):
                yield
        finally:
            self._held = True
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def _noticed(self, numbers: Set[int]) -> Iterator[None]:
        """While the body runs, these signals interrupt any wait of the main thread.

        Python handles a signal when the main thread runs again, so one that arrives just before a
        wait does not end it. Therefore a thread sends harmless signals until it has been handled.
        """
        main, (reader, writer) = threading.get_ident(), socket.socketpair()

        def wake() -> None:
            with reader:
                while numbers_read := reader.recv(64):
                    if numbers.isdisjoint(numbers_read):
                        continue
                    while not self.received and writer.fileno() >= 0:
                        signal.pthread_kill(main, signal.SIGURG)
                        time.sleep(_BETWEEN_WAKES)

        writer.setblocking(False)
        former = signal.signal(signal.SIGURG, lambda number, frame: None)
        former_writer = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=wake, name="beam-bleu signals", daemon=True).start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(former_writer)
            writer.close()
            signal.signal(signal.SIGURG, former)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.released()

    def released(self) -> None:
        """Lets signals interrupt the main thread again; raises if one has arrived meanwhile."""
        self._held = False
        if self.received:
            raise KeyboardInterrupt

    def _receive(self, number: int, frame: object) -> None:
        self.received.append(signal.Signals(number))
        if not self._held:
            raise KeyboardInterrupt


_interrupts = _Interrupts()


# Delays an interrupt until the body of this context has ended: for example, so that all files are
# removed that the body removes. Imports need it, too: the imported library could swallow the
# interrupt, or Python could end as if nothing had handled it.
uninterrupted = _interrupts.held
_LOGGER = logging.getLogger("beam_bleu")

# How messages of Beam begin that are never shown, because users can do nothing about them.
_NOBODY_ACTS_ON = (
    "Converting string literal type hint to Any",  # about 60 lines for each job
    "apitools not found",  # BigQuery's libraries, which no job of ours needs
    "Could not find a compatible bson package",  # MongoDB's: see cheap_start.py
    "No semi_persistent_directory found",  # for each worker of --direct_running_mode
)

# The log levels of libraries: without --verbose, with it, and with it twice.
_LEVELS = (logging.CRITICAL, logging.WARNING, logging.INFO)


def warn(message: str) -> None:
    _LOGGER.warning("%s", message)


class _Log(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            if not any(words in record.getMessage() for words in _NOBODY_ACTS_ON):
                say(self.format(record))
        except Exception:  # as Python's own handlers do
            self.handleError(record)

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.name.partition(".")[0] != _LOGGER.name:
            text = printable(super().format(record), keep=_BREAKS)
        elif record.levelno >= logging.WARNING:
            text = f"beam-bleu: warning: {printable(message)}"
        else:
            time = datetime.datetime.fromtimestamp(record.created).astimezone()
            text = f"{time.isoformat(timespec='seconds')} beam-bleu: {printable(message)}"
        more = {"logger": record.name}
        if record.exc_info:
            more["traceback"] = logging.Formatter().formatException(record.exc_info)
        return log_line(record.levelname.lower(), message, text, **more)


def _log_thread(ended: threading.ExceptHookArgs) -> None:
    """Logs the exception that ended a thread, for example Beam's when an engine disconnects."""
    name = ended.thread.name if ended.thread else "a thread"
    # At the level of an error, so that --verbose shows it.
    logging.getLogger("threading").error(
        "%s ended with an exception", name, exc_info=ended.exc_value
    )


@contextlib.contextmanager
def _logged(level: int, level_of_libraries: int) -> Iterator[None]:
    # Beam logs a traceback for every exception of a worker, and, when it is imported, warnings
    # about optional packages that are missing.
    logging.basicConfig(
        level=level_of_libraries, format=logging.BASIC_FORMAT, handlers=[_Log()], force=True
    )
    before, hook = _LOGGER.level, threading.excepthook
    _LOGGER.setLevel(level)
    threading.excepthook = _log_thread
    try:
        yield
    finally:
        _LOGGER.setLevel(before)
        threading.excepthook = hook


def reported(
    work: Callable[[], None],
    verbose: int,
    quiet: bool = False,
    ended: Callable[[Ending], None] | None = None,
    log_format: LogFormatName = "text",
) -> int:
    """Does the work of a command, reports the error that it raises, and returns the exit code.

    `ended` is called when the work has ended, also after an error or a signal; it must not raise.
    """
    level = logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING
    with (
        formatted_log(log_format),
        _logged(level, _LEVELS[min(verbose, len(_LEVELS) - 1)]),
        _interrupts.handled(),
    ):
        try:
            _interrupts.released()
            work()
            ending = Ending(0)
        except (Exception, KeyboardInterrupt) as error:
            trace = traceback.format_exc().rstrip("\n") if verbose else ""
            if _interrupts.received:  # an engine may have turned it into another error
                first = _interrupts.received[0]
                ending = Ending(128 + first, f"stopped by {first.name}")
            else:
                known = as_bleu_error(error)
                ending = Ending(exit_code(known), printable(known.cause), printable(known.remedy))
            _say_error(ending, trace)
        if ended is not None:
            # A first signal no longer ends the run, which is done; a second one ends a stopped run.
            held = contextlib.nullcontext() if _interrupts.received else _interrupts.held()
            with contextlib.suppress(KeyboardInterrupt), held:
                ended(ending)
        if ending.code > 128:
            end(ending.code)
        return ending.code


def _say_error(ending: Ending, trace: str) -> None:
    more: dict[str, Any] = {"remedy": ending.remedy or None, "exit_code": ending.code}
    text = f"beam-bleu: {ending.cause}" + (f"\n  {ending.remedy}" if ending.remedy else "")
    if trace:
        more["traceback"] = trace
        text = f"{printable(trace, keep=_BREAKS)}\n{text}"
    say(log_line("error", ending.cause, text, **more))


def end(code: int) -> NoReturn:
    """Ends the process without waiting for threads that an engine has left behind.

    Some of them (Beam's samplers) never end. Besides, while Python unloads its modules, gRPC's
    streams can wait forever for a lock that a thread held when it ended.
    """
    atexit._run_exitfuncs()  # here Beam stops the programs that it has started
    with contextlib.suppress(OSError, AttributeError):
        sys.stdout.flush()
    os._exit(code)


def as_bleu_error(error: BaseException) -> BleuError:
    for cause in causes(error):
        bleu_error = cause if isinstance(cause, BleuError) else find_error(str(cause))
        if bleu_error is not None:
            return open_file_limit(bleu_error.cause) if lacks_open_files(cause) else bleu_error
    if lacks_open_files(error):
        return open_file_limit(f"the job failed: {error}")
    text = str(error)
    if known := known_failure([Failure(text)]):
        return known
    # An engine passes on a worker's traceback as text, which begins with the original cause.
    first = _CAUSED.split(text)[0]
    lines = [line.strip() for line in first.splitlines() if re.search("[A-Za-z]{3}", line)]
    last = lines[-1] if lines else type(error).__name__
    return JobError(
        f"the job failed: {_STEP.sub('', last)}", "run it again with --verbose to see the log"
    )
