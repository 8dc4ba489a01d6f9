"""Runs of the command that never end by themselves, however long the test takes to stop them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from command_line import BEFORE_BEAM, COMMAND, PROJECT, Argument, signals_begin_as

SCORING = "beam_bleu.transforms.statistics.batch_steps:CountMatches.work"
WRITING_PART_FILES = "beam_bleu.pipeline.folder.data_files:_PartFiles.add"

_PROGRAM = f"""{BEFORE_BEAM}
import importlib, os, sys, time
from beam_bleu.pipeline.main import command

module, _, place = sys.argv.pop(1).partition(":")
owner, method = place.split(".")
owner, parent = getattr(importlib.import_module(module), owner), os.getppid()
once, end = getattr(owner, method), time.monotonic() + 300

def again_and_again(*arguments):
    # It ends with the test, and a test that does not stop it must fail and not hang.
    while os.getppid() == parent and time.monotonic() < end:
        once(*arguments)

setattr(owner, method, again_and_again)
command()
"""


def endless_run(repeated: str, arguments: Sequence[Argument]) -> subprocess.Popen[bytes]:
    """Starts the command in a process that repeats one piece of its work until it is stopped.

    Args:
      repeated: the method that is called again and again: "module:Class.method".
      arguments: the arguments of the command.
    """
    with signals_begin_as(signal.SIG_DFL, signal.SIGINT):
        return subprocess.Popen(
            [COMMAND[0], "-c", _PROGRAM, repeated, *map(os.fsdecode, arguments)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
