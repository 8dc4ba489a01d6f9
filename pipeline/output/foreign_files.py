"""Finds out which files in a folder of segment scores are beam-bleu's and which are not."""

from __future__ import annotations

import dataclasses
import os
import re

from apache_beam.io.filesystems import FileSystems

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.output_folder import (
    REJECTED_FILES,
    aside_folder,
    final_folder,
    run_of,
    run_of_rejected,
)
from beam_bleu.pipeline.output.parquet_shards import RUN_KEY, metadata_of
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import is_local

_PARQUET = (".parquet", ".parq", ".pq")
_OF_OLD_VERSIONS = re.compile(r"part-[0-9a-f]{32}\.parquet")

_SHOWN = 3
"""The largest number of files that a message names."""


@dataclasses.dataclass(frozen=True)
class FolderContents:
    """What is in a folder of segment scores, without the files that readers of Parquet ignore.

    Attributes:
      own: the shards that are certainly beam-bleu's.
      foreign: links, and Parquet files that are not beam-bleu's.
    """

    own: list[str]
    foreign: list[str]


def look_through(output: str, asked: bool) -> FolderContents:
    """Finds out which files in the folder of segment scores are beam-bleu's.

    On this machine it opens each file with the name of a shard. On other filesystems it opens
    only one of each run, because opening thousands of files takes a long time there.

    Args:
      output: the job's folder.
      asked: whether the job writes segment scores.

    Raises:
      JobError: the job writes segment scores, and the folder has files that are not
        beam-bleu's; or the folder, or a file with the name of a shard, cannot be read.
    """
    folder = final_folder(output)
    shards: list[str] = []
    links: list[str] = []
    others: list[str] = []
    for entry in storage.listed(folder, hidden=False):
        of = links if entry.is_link else others if run_of(entry.name) is None else shards
        of.append(entry.name)
    every = is_local(output)
    opened = {name if every else run_of(name): name for name in shards}
    marks = storage.each(lambda name: _is_marked(folder, name), list(opened.values()))
    of_opened = dict(zip(opened, marks, strict=True))
    marked = {name: of_opened[name if every else run_of(name)] for name in shards}
    unmarked = [name for name in shards if marked[name] is False]
    is_parquet = storage.each(lambda name: _is_parquet(folder, name, asked), others)
    parquet = [name for name, is_one in zip(others, is_parquet, strict=True) if is_one]
    linked = [name for name in links if asked or name.lower().endswith(_PARQUET)]
    foreign = sorted([*linked, *unmarked, *parquet])
    if asked:
        _refuse_foreign(folder, foreign)
    return FolderContents([name for name in shards if marked[name]], foreign)


def rejected_files(output: str, asked: bool) -> list[str]:
    """The files of rejected records in an output folder, by their names.

    Raises:
      JobError: the job rejects records, and the folder has files that readers would take for
        rejected records, although beam-bleu did not write them; or the folder cannot be read.
    """
    found = storage.matching(output, REJECTED_FILES)
    own = [name for name in found if run_of_rejected(name) is not None]
    foreign = sorted(set(found) - set(own))
    if asked and foreign:
        raise JobError(
            f"{output} has files that beam-bleu did not write, and readers would take them for "
            f"rejected records: {_shown(foreign)}",
            "move them to another folder, or name another --output",
        )
    return own


def check_places(output: str, asked: bool) -> None:
    """Checks that the folders for segment scores are the output folder's own.

    Raises:
      JobError: one of them is a link, so its files may belong to another output folder; or the
        job writes segment scores, and one of them is a file.
    """
    if not is_local(output):
        return
    final = final_folder(output)
    for folder in (final, aside_folder(output)):
        if not os.path.islink(folder):
            if asked and storage.exists(folder) and not storage.is_folder(folder):
                raise JobError(
                    f"{folder} is not a folder",
                    "move it to another folder, or name another --output",
                )
        # If the job writes no segment scores, the visible folder may be a link that a user made.
        # But it must not lead to the shards of a run: they would stay next to the scores.json of
        # another run.
        elif folder != final or asked or any(map(run_of, storage.names(folder))):
            raise JobError(
                f"{folder} is a link to {os.path.realpath(folder)}",
                "remove the link, or name another --output: "
                "segment scores must be in a folder of their own",
            )


def notes_on(output: str, found: FolderContents) -> list[str]:
    """Notes for a user whose job leaves foreign Parquet files in the folder."""
    if not found.foreign:
        return []
    folder = final_folder(output)
    return [
        f"{folder} has Parquet files that this run did not write: {_shown(found.foreign)}"
        f"{_told_of_old_versions(found.foreign)}"
    ]


def _refuse_foreign(folder: str, foreign: list[str]) -> None:
    if foreign:
        raise JobError(
            f"{folder} has files that this version of beam-bleu did not write, and readers would "
            f"take them for segment scores: {_shown(foreign)}{_told_of_old_versions(foreign)}",
            "move them to another folder, or name another --output",
        )


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _told_of_old_versions(names: list[str]) -> str:
    old = [name for name in names if _OF_OLD_VERSIONS.fullmatch(name)]
    return f"; an older version of beam-bleu wrote {_shown(old)}" if old else ""


def _is_marked(folder: str, name: str) -> bool | None:
    """Whether a file is a shard of the run in its name; None if another run has removed it.

    Raises:
      JobError: it cannot be read. It may be an old shard, which must not stay in place.
    """
    path = FileSystems.join(folder, name)
    with storage.reading(path):
        try:
            if not storage.is_regular(path):
                return False
            metadata = metadata_of(path).metadata or {}
        except Exception:
            if storage.exists(path):
                raise
            return None  # another run has just removed it
    run: bytes = metadata.get(RUN_KEY.encode(), b"")
    return run.decode(errors="replace") == run_of(name)


def _is_parquet(folder: str, name: str, asked: bool) -> bool:
    """Whether a file is Parquet by its name or by its first bytes.

    Raises:
      JobError: the job writes segment scores, and the first bytes cannot be read.
    """
    if name.lower().endswith(_PARQUET):
        return True
    path = FileSystems.join(folder, name)
    try:
        with storage.reading(path):
            if not storage.is_regular(path):
                return False
            with storage.opened(path) as file:
                return bool(file.read(4) == b"PAR1")
    except JobError:
        # It does not have the name of a shard: a run without segment scores does not touch it.
        if not asked or not storage.exists(path):
            return False
        raise
