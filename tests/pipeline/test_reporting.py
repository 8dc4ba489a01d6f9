"""What an engine says of a failure becomes one line."""

from __future__ import annotations

import logging

import pytest

from pipeline.reporting import reported

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

MISSING = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'transforms'\n"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (LOST, "the job failed: Socket closed"),
        (WORKERS, "the job failed: OSError: the disk is full"),
        ("[Internal server error.\n]", "the job failed: [Internal server error."),
        ("", "the job failed: RuntimeError"),
        (MISSING, "the workers do not have beam-bleu"),
        ("beam-bleu[3]: a line is bad || mend it || at x", "a line is bad"),
    ],
)
def test_one_line_of_cause_and_one_of_remedy(said, shown, capfd) -> None:
    def fail() -> None:
        raise RuntimeError(said)

    code = reported(fail, verbose=False)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == f"beam-bleu: {shown}"
    assert len(lines) == 2
    assert code == (3 if "[3]" in said else 1)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_warning_of_the_library_is_the_commands_own(verbose: bool, capfd) -> None:
    def work() -> None:
        logging.getLogger("beam_bleu").warning("the %s is full", "disk")
        logging.getLogger("another").warning("seen only by --verbose")

    assert reported(work, verbose) == 0
    lines = capfd.readouterr().err.splitlines()
    assert [line for line in lines if "another" not in line] == [
        "beam-bleu: warning: the disk is full"
    ]
    assert len(lines) == (2 if verbose else 1)
    assert not logging.getLogger("beam_bleu").handlers
