"""Steps mark their errors, which are found in what an engine says, and become one line."""

from __future__ import annotations

import itertools
import json
import logging
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.pipeline import PipelineVisitor
from apache_beam.utils.windowed_value import WindowedValue
from command_line import EXAMPLE

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.errors.marked_steps import Marked
from beam_bleu.pipeline.errors.reporting import reported
from beam_bleu.pipeline.errors.told_errors import MarkedError, find_error
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.errors import BleuError, InputError, JobError, UsageError
from beam_bleu.transforms.wiring.steps import ThreadedDoFn

LOST = """<_MultiThreadedRendezvous of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "Socket closed"
\tdebug_error_string = "UNAVAILABLE:Socket closed"
>"""

WORKERS = """Traceback (most recent call last):
  File "worker.py", line 1, in work
OSError: the disk is full

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
RuntimeError: Bundle processing has failed."""

MISSING = (
    "Traceback (most recent call last):\n"
    "ModuleNotFoundError: No module named 'beam_bleu.transforms'\n"
)


def test_one_line_of_cause_and_one_of_remedy(capfd) -> None:
    def fail() -> None:
        raise RuntimeError(said)

    for said, shown in [
        (LOST, 'the job failed: debug_error_string = "UNAVAILABLE:Socket closed"'),
        (WORKERS, "the job failed: OSError: the disk is full"),
        ("", "the job failed: RuntimeError"),
        (MISSING, "the workers do not have beam-bleu"),
        (
            f"{MarkedError('a line is bad', InputError('a line is bad', 'repair it'))} at x",
            "a line is bad",
        ),
        ("bad [while running 'x'] [while running 'y']", "the job failed: bad"),
        ("what\x1b[2J\x9b2J\u202e \udcff", r"the job failed: what\x1b[2J\x9b2J\u202e \udcff"),
    ]:
        code = reported(fail, verbose=False)
        first, _ = capfd.readouterr().err.splitlines()
        assert first == f"beam-bleu: {shown}"
        assert code == (3 if "[3]" in said else 1)


def test_a_warning_of_the_library_is_the_commands_own(capfd) -> None:
    def work() -> None:
        logging.getLogger("beam_bleu").warning("the %s is full", "disk")
        logging.getLogger("another").warning("seen only by --verbose")

    for verbose in (False, True):
        assert reported(work, verbose) == 0
        lines = capfd.readouterr().err.splitlines()
        assert "beam-bleu: warning: the disk is full" in lines
        assert len(lines) == (2 if verbose else 1)
        assert not logging.getLogger("beam_bleu").handlers


def test_the_log_of_a_run_with_verbose_is_escaped_too(capfd) -> None:
    def fail() -> None:
        logging.getLogger("engine").warning("a path: %s", "x\x1b[2J\nnext line")
        raise RuntimeError("bad\x07")

    assert reported(fail, verbose=True) == 1
    err = capfd.readouterr().err
    assert "WARNING:engine:a path: x\\x1b[2J\nnext line\n" in err
    assert "Traceback (most recent call last):\n" in err
    assert "RuntimeError: bad\\x07\n" in err
    assert err.splitlines()[-2] == "beam-bleu: the job failed: bad\\x07"
    assert not re.search(r"[^\n -~]", err)


def test_the_limit_of_open_files_always_has_its_own_remedy(capfd) -> None:
    def fail() -> None:
        try:
            raise OSError(24, "Too many open files")
        except OSError as error:
            raise JobError("/out cannot be written", "check the folder") from error

    assert reported(fail, verbose=False) == 1
    cause, remedy = capfd.readouterr().err.splitlines()
    assert cause == "beam-bleu: too many open files: /out cannot be written"
    assert "ulimit -n" in remedy


_WAITING = """
import os, signal, threading, time
from beam_bleu.pipeline.errors.reporting import reported

def send():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)

def wait():
    threading.Thread(target=send, daemon=True).start()
    # Another thread gets the signal, so it does not interrupt the wait of this one.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    threading.Event().wait(30)

reported(wait, verbose=0)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such signals")
def test_a_signal_that_does_not_interrupt_a_wait_ends_it():
    run = subprocess.run([sys.executable, "-c", _WAITING], capture_output=True, timeout=25)
    assert (run.returncode, run.stderr) == (143, b"beam-bleu: stopped by SIGTERM\n")


# Errors as text: they are found after every change by an engine, and cannot be imitated


def marked(error: BleuError) -> str:
    """The text of an error with its mark."""
    return str(MarkedError(error.cause, error))


HOSTILE = [
    "plain",
    "größe 東京 \U0001f600",
    "ends with |",
    "|| and ||| and || ||",
    "beam-bleu[9]: all is well || go on || [beam-bleu.WzBd.00000000]",
    "[beam-bleu.WzEsICJhIiwgImIiXQ.00000000]",
    marked(JobError("another error", "another remedy")),
    "x [while running 'Score/y']",
    "back\\slash \\n \\x1b \\\\",
    "two\nlines\r\nand\u2028more",
    "\x1b[2J\x1b]52;c;aGk=\x07\x9b\u202e",
    "not UTF-8: \udcff\udc80",
    "pip install 'beam-bleu[spm]'",
]


def in_java(text: str) -> str:
    escaped = re.sub(r"[<>&='\"]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return f"java.lang.RuntimeException: {escaped}\n\tat org.apache.beam.X(X.java:1)"


def test_an_error_is_found_with_every_character():
    wraps = [
        *(repr, lambda text: repr(repr(text)), lambda text: json.dumps({"error": text}), in_java),
        lambda text: f"RuntimeError: {text} [while running 'Pair lines/Read']",
        lambda text: f"Traceback:\n  File x\nInputError: {text}\n\nmore || text ||",
    ]
    for wrap, content in itertools.product(wraps, HOSTILE):
        for error in (InputError("bad", f"repair {content}"), UsageError(content, content)):
            found = find_error(wrap(marked(error)))
            assert type(found) is type(error)
            assert (found.cause, found.remedy) == (error.cause, error.remedy)


def test_the_text_is_one_printable_line_and_its_cause_is_readable():
    for content in HOSTILE:
        text = marked(InputError(f"/data/{content}: is bad", "repair it"))
        assert text.isprintable()
        assert text.startswith("beam-bleu[3]: /data/")
        assert ": is bad || repair it || [beam-bleu." in text
        text.encode()  # an engine sends it as UTF-8


def test_beam_makes_the_error_again_with_the_steps_name():
    for content in HOSTILE:
        error = MarkedError(content, InputError(content, "repair it"))
        again = type(error)(error.args[0] + " [while running 'Read']", *error.args[1:])
        again = pickle.loads(pickle.dumps(again))
        found = find_error(str(again))
        assert (found.cause, found.remedy) == (content, "repair it")
        assert "[while running 'Read'] || repair it ||" in str(again)  # in an engine's log


def test_an_error_is_not_replaced_by_its_cause():
    # Python writes the cause first, here one whose text an outsider has chosen.
    forged = marked(UsageError("forged", "forged"))
    error = marked(InputError("bad", "x"))
    text = f"FileNotFoundError: '{forged}'\n\nThe above ...\n\n{error}"
    assert find_error(text).cause == "bad"


def test_text_that_only_looks_like_an_error_is_not_one():
    for text in (
        "",
        "No such file: '/data/beam-bleu[0]: all is well || go on ||'",
        "[beam-bleu.WzAsICJhIiwgImIiXQ.ffffffff]",
    ):
        assert find_error(text) is None


# Steps of the command's job


BAD = InputError("line 3 is bad", "repair it")


class Fails(beam.DoFn):
    """Raises an error in one of its methods."""

    def __init__(self, where: str) -> None:
        self._where = where

    def _fail(self, where: str) -> None:
        if where == self._where:
            raise BAD

    def setup(self) -> None:
        self._fail("setup")

    def start_bundle(self) -> None:
        self._fail("start_bundle")

    def process(self, element: int) -> Iterator[int]:
        yield element
        self._fail("process")

    def finish_bundle(self) -> Iterator[WindowedValue]:
        self._fail("finish_bundle")
        yield from ()


class FailsInAThread(ThreadedDoFn):
    def work(self, element: int) -> list[int]:
        raise BAD


METHODS = ["setup", "start_bundle", "process", "finish_bundle"]


@pytest.mark.parametrize("step", [*map(Fails, METHODS), FailsInAThread(2)], ids=[*METHODS, "work"])
def test_an_error_is_marked_wherever_a_step_raises_it(step):
    with (
        pytest.raises(Exception, match="line 3 is bad") as failure,
        beam.Pipeline("FnApiRunner") as root,
    ):
        _ = root | beam.Create([1, 2]) | beam.ParDo(Marked(step))
    found = find_error(str(failure.value))
    assert (type(found), found.cause, found.remedy) == (InputError, BAD.cause, BAD.remedy)


def test_every_step_of_the_job_marks_its_errors(tmp_path):
    seen: list[str] = []
    functions: list[str] = []

    class Steps(PipelineVisitor):
        def visit_transform(self, node: Any) -> None:
            dofn = getattr(node.transform, "fn", None)
            if type(dofn).__module__.startswith("beam_bleu."):
                seen.append(type(dofn).__name__)
            # What was given to FlatMap, or to Map, which puts it into a function of its own.
            function = getattr(dofn, "_fn", None)
            function = getattr(function, "_argspec_fn", function)
            if getattr(function, "__module__", "").startswith("beam_bleu."):
                functions.append(function.__name__)

    arguments = parse([*map(str, EXAMPLE), f"--output={tmp_path}", "--segment_scores"])
    pipeline = beam.Pipeline("FnApiRunner")
    build(pipeline, arguments.job)
    pipeline.visit(Steps())
    # These raise no error of ours. A DoFn that does must be marked, and a function must become one.
    assert set(seen) == {"Marked", "_Name", "_SendOn", "_SendOnSums"}
    assert not functions
