"""Paths on the command line: on this machine, in object stores, or on other filesystems of Beam.

An output that is also an input is refused: the run would overwrite what it reads.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Sequence

from apache_beam.io.filesystem import BeamIOError, FileSystem
from apache_beam.io.filesystems import FileSystems

from beam_bleu.pipeline.command_line.known_filesystems import FILESYSTEMS, has_module
from beam_bleu.pipeline.output.file_names import DATA_KINDS, WRITTEN, new_data_file
from beam_bleu.pipeline.output.ownership import data_files
from beam_bleu.transforms.errors import BleuError, UsageError, installing
from beam_bleu.transforms.pairing.files.listing import local_files
from beam_bleu.transforms.pairing.files.streams import is_pattern
from beam_bleu.transforms.pairing.files.tables import TableKind, table_kind
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local, join, kind_of


def checked_path(flag: str, path: str, anywhere: bool) -> str:
    """A path on a filesystem that is installed; absolute if it must mean the same `anywhere`."""
    path = path.removeprefix("file://")
    if not path:
        raise UsageError(f"{flag} is empty", "name a path")
    table = table_kind(path)
    if table is not None:
        return _checked_table(flag, path, table, anywhere)
    scheme = path.partition("://")[0]
    # Beam itself would notice some of the missing libraries only when it opens a file.
    if scheme in FILESYSTEMS and not has_module(FILESYSTEMS[scheme].library):
        raise UsageError(
            f"{flag} {path}: the library for {scheme}:// is not installed here: "
            f"there is no module {FILESYSTEMS[scheme].library}",
            FILESYSTEMS[scheme].remedy,
        )
    kind = kind_of(path)
    if kind is not None and kind.is_web and flag == "--output":
        raise UsageError(
            f"--output {path}: nothing can be written to a web server",
            "name a folder of this machine, or of an object store",
        )
    if kind is not None and kind.is_web and "@" in path.split("/")[2]:
        raise UsageError(
            f"{flag}: the address of a web server has a user or a password, and messages and "
            "manifest.json would show it",
            "download the file, or let the server give it without them",
        )
    try:
        filesystem_of(path)
    except (ValueError, BeamIOError) as error:
        known = ", ".join(f"{scheme}://" for scheme in FILESYSTEMS)
        raise UsageError(
            f"{flag} {path}: there is no such filesystem here: {error}",
            f"use a path of this machine, or one that begins with {known}",
        ) from error
    if anywhere and is_local(path):
        return os.path.abspath(path)  # an engine's workers run in other folders
    return path


def _checked_table(flag: str, path: str, table: TableKind, anywhere: bool) -> str:
    if not has_module(table.library):
        raise UsageError(
            f"{flag} {path}: the library for {table.label} tables is not installed here: there is "
            f"no module {table.library}",
            installing(table.extra),
        )
    prefix, _, place = path.partition(":")
    if not place:
        raise UsageError(f"{flag} {path} names no table", f"write {prefix}: and the path of one")
    is_name = prefix == "iceberg" and "/" not in place  # in a catalog
    if anywhere and "://" not in place and not is_name:
        place = os.path.abspath(place)
    return f"{prefix}:{place}"


def refuse_overlap(output: str, inputs: Sequence[tuple[str, str]]) -> None:
    """Checks that a run writes none of the files that it reads.

    Files of this machine are compared as files, so links do not matter. On other filesystems
    only paths and patterns can be compared.

    Args:
      output: the job's folder.
      inputs: (a name for messages, a path or a pattern) for everything that the job reads.

    Raises:
      UsageError: this run or the next one would overwrite an input.
    """
    if not is_local(output) and is_pattern(output):
        raise UsageError(
            f"--output {output} has wildcards, and its filesystem would read it as a pattern",
            "name a folder without the characters * ? [",
        )
    # Every run removes the data files of the run before it.
    names = [*WRITTEN, *(new_data_file(kind, "0") for kind in DATA_KINDS)]
    normal = [_normal(join(output, name)) for name in names]
    for label, pattern in inputs:
        if table_kind(pattern) is not None:
            continue  # only its own log says what it reads
        if FileSystems.get_scheme(pattern) != FileSystems.get_scheme(output):
            continue
        regex = FileSystem.translate_pattern(_normal(pattern))
        for path in normal:
            if _normal(pattern) == path or (is_pattern(pattern) and re.fullmatch(regex, path)):
                raise _refused(output, label, pattern, path)
        if is_local(output):
            _refuse_files(output, label, pattern)


def _refuse_files(output: str, label: str, pattern: str) -> None:
    """Does the same for the files that a local pattern matches now."""
    root = os.path.realpath(output)
    written = {}
    for name in (*WRITTEN, *data_files(output)):
        path = os.path.join(root, name)
        with contextlib.suppress(OSError):
            state = os.stat(path)
            written[state.st_dev, state.st_ino] = path
    if not written:
        return
    try:
        paths = [file.path for file in local_files(label, pattern)]
    except BleuError:
        return  # the job will report what is wrong with it
    for path in paths:
        state = os.stat(path)
        replaced = written.get((state.st_dev, state.st_ino))
        if replaced is not None:
            raise _refused(output, label, path, replaced)


def _normal(path: str) -> str:
    """One spelling of a path or pattern: without `.`, `..`, `//`, and links of this machine."""
    if not is_local(path):
        scheme, colon, rest = path.partition("://")
        return scheme + colon + posixpath.normpath(rest)
    parts = path.split("/")
    wild = next((i for i, part in enumerate(parts) if is_pattern(part)), len(parts))
    if wild == len(parts) or os.path.lexists(path):
        return os.path.realpath(path)
    folder = "/".join(parts[:wild]) or ("/" if path.startswith("/") else ".")
    return posixpath.join(os.path.realpath(folder), *parts[wild:])


def _refused(output: str, label: str, pattern: str, path: str) -> UsageError:
    return UsageError(
        f"--output {output}: {label} ({pattern}) would read {path}, where results are written",
        "name another folder for the results, or move the input",
    )
