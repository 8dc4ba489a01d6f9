"""The systems of a command line: their streams, and their names, which are all different."""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.command_line.temporary_files import system_of_pipe
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.shards import order_keys
from beam_bleu.transforms.pairing.files.streams import Stream, compression, is_pattern
from beam_bleu.transforms.shown_names import can_be_shown
from beam_bleu.transforms.wiring.filesystems import is_local

_STDIN = "-"


def references(flags: argparse.Namespace) -> list[tuple[str, str]]:
    """(name for messages, path or pattern) of each stream of references."""
    patterns = flags.references or flags.refs
    return [
        (f"references {number}" if len(patterns) > 1 else "references", pattern)
        for number, pattern in enumerate(patterns, 1)
    ]


def systems(
    flags: argparse.Namespace, others: Sequence[tuple[str, str]]
) -> tuple[str, list[tuple[str, str]]]:
    """The systems in the order of the command line. Without a flag it is stdin, as in sacreBLEU.

    Args:
      flags: the parsed flags.
      others: (name for messages, path or pattern) of all other streams. If a pattern of -i matches
        one of their files, too, this file is left out, with a warning.

    Returns:
      The flag that names them, for messages, and (name, path or pattern) of each system. The
      names are not checked yet.

    Raises:
      UsageError: a system has no name or no path.
      InputError: a pattern of -i matches nothing.
    """
    if flags.candidates:
        flag, named = "--candidates", [_named(text) for text in flags.candidates]
    else:
        flag, words = "-i", flags.systems or [_STDIN]
        named = [system for text in words for system in _each_file(text, others)]
    if not all(pattern for _, pattern in named):
        raise UsageError(f"{flag} is empty", "name a path")
    if flags.join_on is None:  # a file of records can have candidates and references
        _refuse_files_of_others(flag, named, others)
    return flag, named


def _each_file(text: str, others: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(name, pattern) of a word of -i: a pattern without NAME is one system for each file."""
    name, pattern = name_and_pattern(text)
    if name is not None or not is_pattern(text):
        return [_named(text)]
    paths = [file.path for file in find_files(Stream("-i", checked_path("-i", pattern, False)))]
    if not paths:
        raise InputError(f"-i: nothing matches {pattern}", "check the path")
    paths = _without(paths, pattern, others)
    for path in filter(is_pattern, paths):
        raise UsageError(
            f"-i: the name of a file has wildcards, so it could be mistaken for a pattern: {path}",
            "rename the file",
        )
    keys = order_keys(paths)
    return [(_stem(path), path) for path in sorted(paths, key=lambda path: (keys[path], path))]


def _refuse_files_of_others(
    flag: str, named: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]
) -> None:
    """Refuses a pattern of one system that also matches a file of another stream.

    A stream that is named twice, in the same words, is meant. And a pattern that cannot be listed
    here is looked at when the job runs.
    """
    of_others = {pattern for _, pattern in others}
    patterns = [
        (name, pattern)
        for name, pattern in named
        if is_pattern(pattern) and is_local(pattern) and pattern not in of_others
    ]
    if not patterns:
        return
    with contextlib.suppress(InputError):
        streams = _files_of([other for other in others if is_local(other[1])])
        for name, pattern in patterns:
            for file in find_files(Stream(name, checked_path(flag, pattern, False))):
                if label := streams.get(_identity(file.path)):
                    raise UsageError(
                        f"{flag} {name}={pattern}: the pattern also matches {file.path} ({label})",
                        "change the pattern so that it matches only files of the system",
                    )


def _without(paths: list[str], pattern: str, others: Sequence[tuple[str, str]]) -> list[str]:
    """The files of a pattern that no other stream has."""
    streams = _files_of(others)
    kept = [path for path in paths if _identity(path) not in streams]
    left_out = [path for path in paths if _identity(path) in streams]
    if not kept:
        raise UsageError(
            f"-i: {pattern} matches only the files of "
            f"{joined(sorted({streams[_identity(path)] for path in left_out}))}",
            "check the pattern, or name the files of the systems",
        )
    if left_out:
        shown = [f"{path} ({streams[_identity(path)]})" for path in left_out]
        warn(f"-i: {pattern} also matches {joined(shown)}: not scored as the output of a system")
    return kept


def _files_of(others: Sequence[tuple[str, str]]) -> dict[object, str]:
    """By the identity of each file of other streams, the name of its stream."""
    streams: dict[object, str] = {}
    for label, pattern in others:
        # A pattern of files never matches a pipe.
        if pattern != _STDIN and (
            is_pattern(pattern) or not is_local(pattern) or os.path.isfile(pattern)
        ):
            for file in find_files(Stream(label, pattern)):
                streams.setdefault(_identity(file.path), label)
    return streams


def _identity(path: str) -> object:
    """What is equal for all names of a file: links do not matter on this machine."""
    if not is_local(path):
        return path
    try:
        state = os.stat(path)
    except OSError:
        return path  # the run will say what is wrong with it
    return state.st_dev, state.st_ino


def _named(text: str) -> tuple[str, str]:
    """(name, pattern) of [NAME=]PATTERN."""
    name, pattern = name_and_pattern(text)
    if name is not None:
        if _is_there(text):
            folder = "" if pattern.startswith("/") else "./"
            raise UsageError(
                f"{text} is a path of this machine, and can be the system {name} at {pattern}, too",
                f"write ./{text} for the path, or {name}={folder}{pattern} for the system",
            )
        return utf8(name), pattern
    if is_pattern(text):
        before, equals, _ = text.partition("=")
        why = "this is a pattern"
        if equals and "/" not in before:
            why = f"{before} has wildcards, so this is a pattern as a whole"
        raise UsageError(
            f"--candidates {text}: the system has no name, because {why}",
            "give the system a name without *, ? and [: --candidates NAME=PATTERN; or -i PATTERN, "
            "which makes each file a system",
        )
    return _stem(text), text


def _is_there(path: str) -> bool:
    """Whether a path of this machine is a file, or a pattern that matches something."""
    return os.path.isfile(path) or (is_pattern(path) and any(glob.iglob(path)))


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
    stem = path.rstrip("/").rpartition("/")[
        2
    ]  # Beam knows only the paths of filesystems that are installed
    stem = stem[: len(stem) - len(compression(stem) or "")]
    return utf8(os.path.splitext(stem)[0])


def check_names(named: Sequence[tuple[str, str]], flag: str) -> None:
    """Checks the names of all systems.

    Args:
      named: each system's name and its path or pattern.
      flag: the flag that names systems: -i or --candidates.

    Raises:
      UsageError: a name cannot be printed, or is there twice.
    """
    patterns: dict[str, str] = {}
    for name, pattern in named:
        if not can_be_shown(name):
            raise UsageError(
                f"the system name {name!r} cannot be shown",
                f"choose a name of printable characters: {flag} NAME=PATTERN",
            )
        if name != name.strip():
            raise UsageError(
                f"the system name {name!r} begins or ends with white space",
                f"remove the white space: {flag} NAME=PATTERN",
            )
        if name in patterns:
            raise UsageError(
                f"two systems are called {name}: {patterns[name]}, {pattern}",
                f"give each system its own name: {flag} NAME=PATTERN, such as "
                f"{flag} {name}-2={'<(COMMAND)' if pattern.startswith('/dev/fd/') else pattern}",
            )
        patterns[name] = pattern
