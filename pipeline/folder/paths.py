"""Checks the paths of a command line, before the job starts; imports Beam only when necessary."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import posixpath
import re
from collections.abc import Sequence

from beam_bleu.pipeline.folder.file_names import DATA_KINDS, WRITTEN, new_data_file
from beam_bleu.pipeline.folder.publication import data_files
from beam_bleu.transforms.errors import BleuError, UsageError
from beam_bleu.transforms.pairing.files.listing import local_files
from beam_bleu.transforms.pairing.files.streams import is_pattern
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.wiring.filesystems import (
    OBJECT_STORES,
    filesystem_of,
    is_local,
    join,
    kind_of,
)

HADOOP = "hdfs"  # the module for Hadoop's filesystem, and the scheme of its paths

INSTALL_HADOOP = "pip install 'apache-beam[hadoop]'"


def has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def require_module(used_by: str, name: str, remedy: str) -> None:
    if not has_module(name):
        raise UsageError(
            f"{used_by} needs a library that is not installed here: there is no module {name}",
            remedy,
        )


def checked_path(flag: str, path: str, anywhere: bool) -> str:
    """A path on an installed filesystem; absolute if it must mean the same on other machines."""
    path = path.removeprefix("file://")
    prefix, place = "", path
    if table_kind(path) is not None:
        name, colon, place = path.partition(":")
        prefix = name + colon
        if name == "iceberg" and "/" not in place:  # a name in a catalog
            anywhere = False
    if not place:
        raise UsageError(f"{flag} is empty", "name a path")
    if not prefix:
        _check_filesystem(flag, path)
    if anywhere and is_local(place):
        place = os.path.abspath(place)  # an engine's workers run in other folders
    return prefix + place


def _check_filesystem(flag: str, path: str) -> None:
    if path.startswith(f"{HADOOP}://"):  # Beam would notice it only when it opens a file
        require_module(f"{flag} {path}", HADOOP, INSTALL_HADOOP)
    kind = kind_of(path)
    if kind is not None and kind.is_web:
        if flag == "--output":
            raise UsageError(
                f"--output {path}: nothing can be written to a web server",
                "name a folder of this machine, or of an object store",
            )
        if "@" in path.split("/")[2]:
            raise UsageError(
                f"{flag}: the address of a web server has a user or a password, and messages and "
                "manifest.json would show it",
                "download the file, or let the server give it without them",
            )
    from apache_beam.io.filesystem import BeamIOError

    try:
        filesystem_of(path)
    except (ValueError, BeamIOError) as error:
        schemes = ", ".join(f"{scheme}://" for scheme in (*OBJECT_STORES, HADOOP))
        raise UsageError(
            f"{flag} {path}: there is no such filesystem here: {error}",
            f"use a path of this machine, or one that begins with {schemes}",
        ) from error


def check_output(output: str, inputs: Sequence[tuple[str, str]]) -> None:
    """Checks that a folder can be written to, and that a run would not overwrite its own input.

    Symbolic links are followed. A hard link to the input is safe: a run replaces only its name.
    """
    if is_local(output) and os.path.isfile(output.rstrip("/")):
        raise UsageError(f"--output {output} is a file", "name a folder")
    if not is_local(output) and is_pattern(output):
        raise UsageError(
            f"--output {output} has wildcards, and its filesystem would read it as a pattern",
            "name a folder without the characters * ? [",
        )
    # Every run removes the data files of the run before it.
    names = [*WRITTEN, *(new_data_file(kind, "0") for kind in DATA_KINDS)]
    if is_local(output):
        names += data_files(output)
    written = [normal(join(output, name)) for name in names]
    from apache_beam.io.filesystem import FileSystem

    for label, pattern in inputs:
        if table_kind(pattern) is not None:  # only the table's log says which files would be read
            continue
        read = {normal(pattern)}
        regex = FileSystem.translate_pattern(normal(pattern))
        if is_local(pattern):
            with contextlib.suppress(BleuError):  # the job will report what is wrong with the input
                read |= {normal(file.path) for file in local_files(label, pattern)}
        for path in written:
            if path in read or (is_pattern(pattern) and re.fullmatch(regex, path)):
                raise UsageError(
                    f"--output {output}: {label} ({pattern}) would read {path}, where results are "
                    "written",
                    "name another folder for the results, or move the input",
                )


def normal(path: str) -> str:
    """The normal form of a path or pattern: no `.`, `..`, `//`, and no symbolic links if local."""
    if is_local(path):
        return os.path.realpath(path)
    scheme, colon, rest = path.partition("://")
    return scheme + colon + posixpath.normpath(rest)
