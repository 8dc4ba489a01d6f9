"""Reads results of earlier runs. A failed run leaves the earlier result, but without _SUCCESS."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import glob
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.folder.file_names import (
    MANIFEST,
    RUN_RECORD,
    SCORES,
    SCORES_FORMAT,
    SUCCESS,
    TOTALS,
)
from beam_bleu.pipeline.folder.manifest import belongs_to, digests_of
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.definition.choices import natural_order
from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.version import VERSION
from beam_bleu.transforms.wiring.filesystems import is_local

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.saved_totals import SavedTotals

_NAME_A_RESULT = "name a scores.json or a totals.json of beam-bleu, or a folder with one"


def is_folder(path: str) -> bool:
    # An object store has no folders, so only the name can tell.
    return os.path.isdir(path) if is_local(path) else not path.endswith(".json")


def named(word: str) -> list[str]:
    """The paths that an argument names, which can be a pattern, in natural order."""
    path = word.removeprefix("file://")
    if glob.escape(path) == path or (is_local(path) and os.path.exists(path)):
        return [path]
    with of_input():
        paths = glob.glob(path, recursive=True) if is_local(path) else storage.paths_matching(path)
    if not paths:
        raise InputError(f"nothing matches {path}", "check the path")
    return [*natural_order(paths)]


@contextlib.contextmanager
def of_input() -> Iterator[None]:
    try:
        yield
    except JobError as error:
        raise InputError(error.cause, error.remedy) from error


def exists(path: str) -> bool:
    with of_input():
        return storage.exists(path)


def read(path: str) -> bytes:
    with of_input():
        return storage.read(path)


class ResultFile(NamedTuple):
    """A file with a result, and its folder; "" if the folder's other files may not belong to it."""

    path: str
    data: bytes
    folder: str


def beside(folder: str, name: str) -> bytes | None:
    path = f"{folder.rstrip('/')}/{name}"
    return read(path) if folder and exists(path) else None


def result_file(path: str, names: Sequence[str], *, must_be_last: bool = True) -> ResultFile:
    """The file of a result: at this path, or, in a folder, the first of the names that exists.

    With `must_be_last`, it must be the last run's, not an earlier one's: _SUCCESS must exist.
    """
    path = path.removeprefix("file://")
    folder, file = "", path
    if is_folder(path):
        folder = path.rstrip("/")
        existing = [name for name in names if exists(f"{folder}/{name}")]
        if not existing:
            raise InputError(f"{path} has no {' and no '.join(names)}", _NAME_A_RESULT)
        file = f"{folder}/{existing[0]}"
    elif not exists(path):
        raise InputError(f"there is no {path}", _NAME_A_RESULT)
    data = read(file)
    where, name = os.path.split(file)
    # A totals.json that is named may be a copy. If so, it has no run.json, which only runs write.
    is_of_run = folder or (name == TOTALS and exists(os.path.join(where, RUN_RECORD)))
    # Checked after reading the file, because a run removes _SUCCESS before it replaces the file.
    if must_be_last and is_of_run and not exists(os.path.join(where, SUCCESS)):
        raise InputError(
            f"{where or '.'} has no {SUCCESS}: the last run into it failed, or is under way, and "
            f"the {name} can be that of an earlier run",
            f"run it again; or, to use it anyway, name the {SCORES}, or copy {file} elsewhere",
        )
    return ResultFile(file, data, folder)


def require_same_scores(path: str, data: bytes | None, scores: bytes | None) -> None:
    if data is not None and scores is not None and not belongs_to(data, scores):
        raise InputError(
            f"{path} does not belong to the {SCORES} beside it: its scores_sha256 does not match",
            "run it again, or copy the files of one result again",
        )


@dataclasses.dataclass(frozen=True)
class SavedResult:
    """A saved result, and the files beside it. `name` is its path; "" for the result of this run.

    `totals_named` is the content of the totals.json from which it was read, if it was.
    """

    name: str
    result: Result
    folder: str = ""
    totals_named: SavedTotals | None = None

    @property
    def has_totals(self) -> bool:
        in_folder = bool(self.folder) and exists(f"{self.folder}/{TOTALS}")
        return self.totals_named is not None or in_folder

    @functools.cached_property
    def totals(self) -> SavedTotals:
        # This loads the kernel: a second.
        from beam_bleu.pipeline.saved.totals_file import read_totals

        return self.totals_named or read_totals(self.folder)

    @functools.cached_property
    def streams(self) -> Sequence[Mapping[str, Any]]:
        """The streams that were scored, as in manifest.json; () if they are not known."""
        if self.totals_named is not None:
            return [stream for part in self.totals_named.partitions for stream in part.inputs]
        data = beside(self.folder, MANIFEST)
        if data is None:
            return ()
        with named_if_damaged(f"{self.folder}/{MANIFEST}"):
            streams: Sequence[Mapping[str, Any]] = json.loads(data)["streams"]
            digests_of(streams, "")
            return streams


def result_at(path: str, *, must_be_last: bool = True) -> SavedResult:
    """The result at a path. In a folder, scores.json is preferred to totals.json."""
    file = result_file(path, (SCORES, TOTALS), must_be_last=must_be_last)
    name = path.removeprefix("file://")
    with named_if_damaged(file.path):
        document = json.loads(file.data)
        if "scores" in document:
            if document["format"] != SCORES_FORMAT:
                raise InputError(
                    f"{file.path} has format {document['format']!r}, and beam-bleu {VERSION} knows "
                    f"only format {SCORES_FORMAT}",
                    "read it with the version of beam-bleu that wrote it, or with a newer one",
                )
            manifest = beside(file.folder, MANIFEST)
            require_same_scores(f"{file.folder}/{MANIFEST}", manifest, file.data)
            return SavedResult(name, read_result(document), file.folder)
        if "format" not in document:
            raise ValueError("neither a scores.json nor a totals.json")
        # This loads the kernel: a second.
        from beam_bleu.pipeline.saved.totals_file import totals_in

        totals = totals_in(file)
        return SavedResult(name, totals.result, file.folder, totals)


@contextlib.contextmanager
def named_if_damaged(path: str) -> Iterator[None]:
    try:
        yield
    except (
        *(ValueError, KeyError, TypeError, AttributeError, IndexError),
        *(OverflowError, RecursionError),
    ) as error:
        raise InputError(
            f"{path} is not a result of beam-bleu, or it is damaged", _NAME_A_RESULT
        ) from error
