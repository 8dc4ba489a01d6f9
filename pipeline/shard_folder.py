"""Whose the files in a folder of segment scores are: beam-bleu's, or somebody else's."""

from __future__ import annotations

import os

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from pipeline import storage
from pipeline.segment_shards import ASIDE, RUN_KEY, final_folder, metadata_of, run_of
from transforms.errors import JobError

_PARQUET = (".parquet", ".parq", ".pq")
_SHOWN = 3
"""How many files a message names."""


def own_shards(output: str, asked: bool, every: bool = True) -> list[str]:
    """The shards in the folder of segment scores that are certainly beam-bleu's.

    Args:
      output: the job's folder.
      asked: whether the job writes segment scores.
      every: whether each file that is called like a shard is opened; if not, one of each run:
        on an object store thousands take a while.

    Raises:
      JobError: segment scores were asked for, and would be among files that are not
        beam-bleu's; or the folder is a link, and shards behind it may be another folder's.
    """
    folder = final_folder(output)
    _refuse_links(output, asked)
    shards: list[str] = []
    links: list[str] = []
    others: list[str] = []
    for entry in storage.listed(folder):
        if any(part.startswith((".", "_")) for part in entry.name.split("/")):
            continue  # readers of Parquet leave these out
        of = links if entry.is_link else others if run_of(entry.name) is None else shards
        of.append(entry.name)
    opened = shards if every else list({run_of(name): name for name in shards}.values())
    marked = storage.each(lambda name: _is_marked(folder, name), opened)
    unmarked = {name for name, is_marked in zip(opened, marked, strict=True) if not is_marked}
    if asked:
        is_parquet = storage.each(lambda name: _is_parquet(folder, name), others)
        others = [name for name, is_one in zip(others, is_parquet, strict=True) if is_one]
        _refuse_foreign(folder, sorted([*links, *unmarked, *others]))
    return [name for name in shards if name not in unmarked]


def _refuse_links(output: str, asked: bool) -> None:
    final = final_folder(output)
    # Without segment scores a link is somebody's own, unless results of a run are behind it:
    # they would stay beside a scores.json of another.
    aside = [final, FileSystems.join(output, ASIDE)] if asked else [final]
    for folder in aside:
        if not storage.is_local(folder) or not os.path.islink(folder):
            continue
        if asked or any(run_of(name) is not None for name in storage.names(folder)):
            raise JobError(
                f"{folder} is a link to {os.path.realpath(folder)}",
                "remove the link, or name another --output: "
                "segment scores must be in a folder of their own",
            )


def _refuse_foreign(folder: str, foreign: list[str]) -> None:
    if foreign:
        more = f" and {len(foreign) - _SHOWN} more" if len(foreign) > _SHOWN else ""
        raise JobError(
            f"{folder} has files that this version of beam-bleu did not write, and that would be "
            f"read with the segment scores: {', '.join(foreign[:_SHOWN])}{more}",
            "move them to another folder, or name another --output",
        )


def _is_marked(folder: str, name: str) -> bool:
    """Whether a file is a shard of the run that its name says."""
    path = FileSystems.join(folder, name)
    if not _is_file(path):
        return False
    try:
        metadata = metadata_of(path).metadata or {}
    except Exception:  # not Parquet, or not readable: not known to be ours
        return False
    run: bytes = metadata.get(RUN_KEY.encode(), b"")
    return run.decode(errors="replace") == run_of(name)


def _is_parquet(folder: str, name: str) -> bool:
    """Whether a file is Parquet by its name or by its first bytes."""
    if name.lower().endswith(_PARQUET):
        return True
    path = FileSystems.join(folder, name)
    if not _is_file(path):
        return False
    try:
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return bool(file.read(4) == b"PAR1")
    except Exception:  # whoever reads the folder cannot read it either
        return False


def _is_file(path: str) -> bool:
    """Whether a path is not a pipe or a device, which can block whoever opens it."""
    return not storage.is_local(path) or os.path.isfile(path)
