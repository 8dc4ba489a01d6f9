"""The systems of a command line: their streams, and their names, which are all different."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.paths import checked_path, normal
from beam_bleu.pipeline.command_line.temporary_files import is_pipe, system_of_pipe
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.shards import in_order
from beam_bleu.transforms.pairing.files.streams import Stream, compression, is_pattern
from beam_bleu.transforms.shown_names import can_be_shown
from beam_bleu.transforms.wiring.filesystems import is_local

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

_STDIN = "-"

Named = tuple[str, str]
"""The name of a stream, of a system or for messages; and its path or pattern."""


def references(flags: Config) -> list[Named]:
    """Each stream of references."""
    patterns = flags.references or flags.refs
    return [
        (f"references {number}" if len(patterns) > 1 else "references", pattern)
        for number, pattern in enumerate(patterns, 1)
    ]


def systems(flags: Config, others: Sequence[Named]) -> tuple[str, list[Named]]:
    """The systems in the order of the command line. Without a flag it is stdin, as in sacreBLEU.

    Args:
      flags: the parsed flags.
      others: all other streams. If a pattern of -i matches one of their files, too, this file is
        left out, with a warning. A pattern of one system must not match them.

    Returns:
      The flag that names them, for messages, and each system. The names are not checked yet.

    Raises:
      UsageError: a system has no name, or has a file of another stream.
      InputError: a pattern of -i matches nothing.
    """
    if flags.candidates:
        flag, named = "--candidates", [_named(text) for text in flags.candidates]
    else:
        flag, words = "-i", flags.systems or [_STDIN]
        named = [system for text in words for system in _each_file(text, others)]
    of_others = {pattern for _, pattern in others}
    for name, pattern in named:
        # A file of records can have candidates and references, and a stream that is named twice is
        # meant. Files of another machine are looked at when the job runs.
        is_told = flags.join_on is not None or pattern in of_others
        if is_told or not is_pattern(pattern) or not is_local(pattern):
            continue
        with contextlib.suppress(InputError):  # the job will report it
            found = find_files(Stream(name, checked_path(flag, pattern, False)))
            for path, label in _shared([file.path for file in found], others).items():
                raise UsageError(
                    f"{flag} {name}={pattern}: the pattern also matches {path} ({label})",
                    "change the pattern so that it matches only files of the system",
                )
    return flag, named


def _each_file(text: str, others: Sequence[Named]) -> list[Named]:
    """The systems of a word of -i: a pattern without NAME is one system for each file."""
    if name_and_pattern(text)[0] is not None or not is_pattern(text):
        return [_named(text)]
    paths = [file.path for file in find_files(Stream("-i", checked_path("-i", text, False)))]
    if not paths:
        raise InputError(f"-i: nothing matches {text}", "check the path")
    shared = _shared(paths, others)
    paths = [path for path in paths if path not in shared]
    if not paths:
        raise UsageError(
            f"-i: {text} matches only the files of {joined(sorted({*shared.values()}))}",
            "check the pattern, or name the files of the systems",
        )
    if shared:
        shown = joined([f"{path} ({label})" for path, label in shared.items()])
        warn(f"-i: {text} also matches {shown}: not scored as the output of a system")
    for path in filter(is_pattern, paths):
        raise UsageError(
            f"-i: the name of a file has wildcards, so it could be mistaken for a pattern: {path}",
            "rename the file",
        )
    return [(_stem(path), path) for path in in_order(paths)]


def _shared(paths: Sequence[str], others: Sequence[Named]) -> dict[str, str]:
    """Those of some files that other streams have, too, and the stream of each one."""
    streams: dict[str, str] = {}
    for label, pattern in others:
        # A file of another machine is none of this one.
        if paths and not is_pipe(pattern) and is_local(pattern) == is_local(paths[0]):
            for file in find_files(Stream(label, pattern)):
                streams.setdefault(normal(file.path), label)
    labels = {path: streams.get(normal(path)) for path in paths}
    return {path: label for path, label in labels.items() if label is not None}


def _named(text: str) -> Named:
    """The system of [NAME=]PATTERN."""
    name, pattern = name_and_pattern(text)
    if name is not None:
        return name, pattern
    if is_pattern(text):
        raise UsageError(
            f"--candidates {text}: the system has no name, because this is a pattern as a whole, "
            "with wildcards",
            "give the system a name without *, ? and [: --candidates NAME=PATTERN; or -i PATTERN, "
            "which makes each file a system",
        )
    return _stem(text), text


def name_and_pattern(text: str) -> tuple[str | None, str]:
    """NAME and PATTERN of [NAME=]PATTERN; a NAME has no slash and no wildcard."""
    name, equals, pattern = text.partition("=")
    is_named = equals and "/" not in name and not is_pattern(name)
    return (name, pattern) if is_named else (None, text)


def _stem(path: str) -> str:
    """A file's name without compression suffix and extension, or the name of a pipe."""
    of_pipe = system_of_pipe(path)
    if of_pipe is not None:
        return of_pipe
    # Beam knows only the paths of filesystems that are installed.
    name = path.rstrip("/").rpartition("/")[2]
    return os.path.splitext(name.removesuffix(compression(name) or ""))[0]


def check_names(named: Sequence[Named], flag: str) -> None:
    """Checks the names of all systems.

    Args:
      named: the systems.
      flag: the flag that names systems: -i or --candidates.

    Raises:
      UsageError: a name cannot be printed, or is there twice.
    """
    patterns: dict[str, str] = {}
    for name, pattern in named:
        if not can_be_shown(name) or name != name.strip():
            wrong = "begins or ends with white space" if can_be_shown(name) else "cannot be shown"
            raise UsageError(
                f"the system name {name!r} {wrong}",
                f"choose a name of printable characters: {flag} NAME=PATTERN",
            )
        if name in patterns:
            raise UsageError(
                f"two systems are called {name}: {patterns[name]}, {pattern}",
                f"give each system its own name: {flag} NAME=PATTERN",
            )
        patterns[name] = pattern
