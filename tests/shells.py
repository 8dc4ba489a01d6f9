"""Runs shells and scripts. The process of the tests runs the command for them, as they ask for it.

This saves the start of a process, which takes longer than a short run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from command_line import called

BEAM_BLEU = """#!/bin/sh
cd '{folder}'
printf '%s\\0' $$ "$@" > asked
code=$(cat answered)
[ $code != 0 ] || cat err >&2
cat out
[ $code = 0 ] || cat err >&2
exit $code
"""
"""In place of the command. Warnings come before a result, and an error after what is shown."""


def run_shell(
    words: Sequence[str | Path], folder: Path, env: Mapping[str, str], stderr: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program. In this folder it finds the command, `beam-bleu`."""
    folder.mkdir()
    (folder / "beam-bleu").write_text(BEAM_BLEU.format(folder=folder))
    (folder / "beam-bleu").chmod(0o755)
    asked = folder / "asked"
    for pipe in (asked, folder / "answered"):
        os.mkfifo(pipe)
    script = f"\"$@\"; code=$?; : > '{asked}'; exit $code"
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(
            ["sh", "-c", script, "sh", *words],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=stderr or err,
        ) as shell:
            try:
                while data := asked.read_bytes():
                    _answer(data.decode(), folder)
                code = shell.wait()
            finally:
                shell.kill()  # if the command has raised something
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def _answer(asked: str, folder: Path) -> None:
    """Runs the command with the stdin and the pipes of the process that asks for it."""
    process, *arguments = asked.split("\0")[:-1]
    streams = f"/proc/{process}/fd/"
    before, stdin = os.dup(0), os.open(f"{streams}0", os.O_RDONLY)
    os.dup2(stdin, 0)
    code = 1
    try:
        run = called(*(word.replace("/dev/fd/", streams) for word in arguments))
        (folder / "err").write_text(run.err)
        (folder / "out").write_bytes(run.out)
        code = run.code
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(stdin)
        (folder / "answered").write_text(str(code))
