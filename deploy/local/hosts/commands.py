"""For a cluster on hosts: runs beam-bleu there, and copies files to and from its object store."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Sequence
from typing import IO, Any

from beam_bleu.pipeline.command_line.help import SUBCOMMANDS
from deploy.local.processes import ClusterError


def run(state: dict[str, Any], arguments: Sequence[str]) -> None:
    """Replaces this process by beam-bleu on the host head."""
    subcommand = arguments[0] if arguments and arguments[0] in SUBCOMMANDS else None
    has_job = subcommand is None or (subcommand == "doctor" and len(arguments) > 1)
    flags = state["flags"] if has_job else []
    # A SIGTERM reaches only the program that enters the host; this passes it on to beam-bleu.
    told = ["setpriv", "--pdeathsig", "TERM", "--"]
    command = [*_command(state), *told, "beam-bleu", *arguments, *flags]
    os.execvp(command[0], command)


def put(state: dict[str, Any], path: pathlib.Path, url: str) -> None:
    """Copies a file of this machine, or all files in a folder, to the object store."""
    if not path.exists():
        raise ClusterError(f"there is no {path}")
    target = url.rstrip("/")
    for file in filter(pathlib.Path.is_file, [path, *sorted(path.rglob("*"))]):
        name = target if file == path else f"{target}/{file.relative_to(path)}"
        with open(file, "rb") as content:
            _beam_bleu(state, "copy", "-", name, stdin=content)


def get(state: dict[str, Any], url: str, path: pathlib.Path) -> None:
    """Copies an object, or all objects in a folder, to this machine."""
    is_folder = url.endswith("/")
    found = _beam_bleu(state, "files", f"{url}**").decode().splitlines() if is_folder else [url]
    for each in found:
        target = path / each.removeprefix(url) if is_folder else path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_beam_bleu(state, "copy", each, "-"))


def _beam_bleu(state: dict[str, Any], *words: str, stdin: IO[bytes] | None = None) -> bytes:
    """What a subcommand of beam-bleu on head prints."""
    command = [*_command(state), "beam-bleu", *words]
    done = subprocess.run(command, stdin=stdin or subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise ClusterError(done.stderr.decode().strip() or f"exit code {done.returncode}")
    return done.stdout


def _command(state: dict[str, Any]) -> list[str]:
    """The command that runs another one on head."""
    if state["command"] is None:
        raise ClusterError("this needs a cluster that was started with --hosts")
    words: list[str] = state["command"]
    return words
