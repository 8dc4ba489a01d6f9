"""Runs of the command that never end by themselves, however long the test takes to stop them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from command_line import BEFORE_BEAM, COMMAND, PROJECT, Argument, signals_begin_as

_PROGRAM = f"""{BEFORE_BEAM}
import os, time
from beam_bleu.pipeline.folder.data_files import _PartFiles
from beam_bleu.pipeline.main import command

once, parent, end = _PartFiles.add, os.getppid(), time.monotonic() + 300

def again_and_again(*arguments):
    # It ends with the test, and a test that does not stop it must fail and not hang.
    while os.getppid() == parent and time.monotonic() < end:
        once(*arguments)

_PartFiles.add = again_and_again
command()
"""


def endless_run(arguments: Sequence[Argument]) -> subprocess.Popen[bytes]:
    """Starts the command in a process that writes one part file until it is stopped."""
    with signals_begin_as(signal.SIG_DFL, signal.SIGINT):
        return subprocess.Popen(
            [COMMAND[0], "-c", _PROGRAM, *map(os.fsdecode, arguments)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
