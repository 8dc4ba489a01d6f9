"""What people do with a cluster on hosts: they run the command, and move files."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from deploy.local.hosts import first_process
from deploy.local.processes import ClusterError

_COPY = """
import shutil, sys, tarfile
from apache_beam.io.filesystem import CompressionTypes
from beam_bleu.transforms.wiring.filesystems import filesystem_of
action, folder, name = sys.argv[1:]
files = filesystem_of(folder)
as_it_is = {"compression_type": CompressionTypes.UNCOMPRESSED}
try:
    if action == "put":
        with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
            for member in archive:
                if member.isdir():
                    continue
                if not member.isreg():
                    sys.exit(f"{member.name} is neither a file nor a folder")
                with files.create(f"{folder}/{member.name}", **as_it_is) as file:
                    shutil.copyfileobj(archive.extractfile(member), file, 1 << 20)
    else:
        found = files.match([f"{folder}/{name or '**'}"])[0].metadata_list
        if not found:
            sys.exit(f"there is no {folder}/{name}")
        with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
            for each in found:
                member = tarfile.TarInfo(each.path[len(folder) + 1:])
                member.size = each.size_in_bytes
                with files.open(each.path, **as_it_is) as file:
                    archive.addfile(member, file)
except Exception as error:
    sys.exit(f"{folder}: {error}")
"""
"""Copies between the object store and an archive, on stdin or stdout."""

_PIPE = subprocess.PIPE


def run(state: dict[str, Any], arguments: Sequence[str]) -> None:
    """Runs beam-bleu on head, in place of this process.

    Args:
      state: what is known of the cluster.
      arguments: those of beam-bleu. A run gets the engine's flags, too, and so does `doctor` with
        the flags of a run; other subcommands do not.
    """
    subcommand = arguments[0] if arguments and arguments[0] in SUBCOMMANDS else None
    has_job = subcommand is None or (subcommand == "doctor" and len(arguments) > 1)
    flags = state["flags"] if has_job else []
    # A SIGTERM reaches only the program that enters the host; then this one gets it, too.
    told = ["setpriv", "--pdeathsig", "TERM", "--"]
    command = [*_command(state), *told, "beam-bleu", *arguments, *flags]
    os.execvp(command[0], command)


def put(state: dict[str, Any], path: pathlib.Path, url: str) -> None:
    """Copies a file of this machine, or all files of a folder, to the object store.

    Args:
      state: what is known of the cluster.
      path: the file or the folder.
      url: what the file or the folder is there.
    """
    if not path.exists():
        raise ClusterError(f"there is no {path}")
    folder, _, name = url.rstrip("/").rpartition("/")
    with _copying(state, "put", folder, name) as stream:
        # Otherwise the archive would have links, and not the contents of the second name of a file.
        with tarfile.open(fileobj=stream, mode="w|", dereference=True) as archive:
            archive.add(path, name)
        stream.close()


def get(state: dict[str, Any], url: str, path: pathlib.Path) -> None:
    """Copies an object, or all objects of a folder, to this machine.

    Args:
      state: what is known of the cluster.
      url: the object, or the folder with a `/` at its end.
      path: the file or the folder.
    """
    folder, _, name = url.rpartition("/")
    with (
        _copying(state, "get", folder, name) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in archive:
            target = path if name else path / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None  # our own archives have only files
            with open(target, "wb") as file:
                shutil.copyfileobj(content, file)


@contextlib.contextmanager
def _copying(state: dict[str, Any], action: str, folder: str, name: str) -> Iterator[IO[bytes]]:
    """The program on head that copies, as the stream of its archive."""
    python = f"{first_process.PYTHON}/bin/python"
    command = [*_command(state), python, "-c", _COPY, action, folder, name]
    with tempfile.TemporaryFile() as errors:
        stdin, stdout = (_PIPE, None) if action == "put" else (None, _PIPE)
        copying = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=errors)
        stream = copying.stdin or copying.stdout
        assert stream is not None
        try:
            # If the program ends early, its message says more than this end of the stream does.
            with contextlib.suppress(BrokenPipeError, tarfile.ReadError):
                yield stream
        finally:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
            code = copying.wait()
        if code:
            errors.seek(0)
            said = errors.read().decode().strip().splitlines()[-1:]
            raise ClusterError(" ".join(said) or f"exit code {code}")


def _command(state: dict[str, Any]) -> list[str]:
    """The command that runs another one on head."""
    if state["command"] is None:
        raise ClusterError("this needs a cluster that was started with --hosts")
    words: list[str] = state["command"]
    return words
