"""Commits the result of a run: puts its files in place, with scores.json as the one atomic step.

When all data files are there, the last step writes manifest.json, which names them and has the
SHA-256 that scores.json will have. Then scores.json replaces the former one atomically, so nothing
ever has to be rolled back. Finally the run removes data files that its manifest does not name, and
writes the empty file _SUCCESS, which every run removes when it starts. A run that is killed just
before it writes scores.json leaves the former one beside a manifest.json with another SHA-256.

A lock stops two runs from doing this at the same time. In an object store, a run can lose it, so it
checks the lock before each step. HDFS has no locks, so a run checks at the end that the result is
its own. Files of other programs are never replaced or removed, except a scores.json.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.folder.file_names import (
    CONFUSIONS,
    DOCUMENTS,
    EXAMPLES,
    MANIFEST,
    METRICS,
    OF_RUN,
    REPORT,
    RUN_RECORD,
    SCORES,
    SEGMENT_SCORES,
    SUCCESS,
    TOTALS,
    run_of,
)
from beam_bleu.pipeline.folder.locking import SHORT_PATIENCE, locked
from beam_bleu.pipeline.folder.manifest import belongs_to
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import is_local, join

# How our files begin, as regular expressions, in the order in which they are checked.
_BEGINNINGS = {
    MANIFEST: rb'\{\s*"scores_sha256":',
    TOTALS: rb'\{\s*"format": "beam-bleu totals"',
    EXAMPLES: rb'\{"kind": ',
    CONFUSIONS: rb'\{"metric": ',
    RUN_RECORD: rb'\{\s*"state":',
    METRICS: rb"# HELP beam_bleu_run_exit_code ",
    REPORT: rb'<!doctype html>\s[^>]*>\s<meta name="generator" content="beam-bleu report">',
    SUCCESS: rb"(?!)",  # it is empty
    SCORES: rb"",  # replaced whatever it contains, unless it is a folder
}

_LONGEST = 256  # bytes; no beginning is longer


def prepare(output: str, begin: Callable[[], None] = lambda: None) -> None:
    with locked(output):
        check_owned(output)
        begin()
        remove(output, [SUCCESS])


def commit(
    output: str,
    run: str,
    documents: Mapping[str, bytes],
    data: Sequence[str] = (),
    *,
    ran: bool = True,
) -> None:
    """Replaces the result of an earlier run. An attempt that failed anywhere can be repeated.

    If the documents have no manifest, the folder is a temporary one, and gets no _SUCCESS. If the
    result is not that of a run (`ran`), run.json and metrics.prom of an earlier run are removed.
    """
    with locked(output, run=run) as lock:
        check_owned(output)
        remove(output, [SUCCESS])
        _require(output, data)
        for name in DOCUMENTS:
            if name in documents:
                lock.check()
                storage.write_atomically(join(output, name), documents[name])
        lock.check()
        of_others = {REPORT, TOTALS, EXAMPLES, CONFUSIONS} - documents.keys()
        outdated = [*of_others, *(() if ran else OF_RUN)]
        remove(output, [*outdated, *sorted({*data_files(output)} - {*data})])
        if is_local(output):
            with contextlib.suppress(OSError):  # it is not empty, or not there
                os.rmdir(join(output, SEGMENT_SCORES))
        for name, content in documents.items():
            if storage.read(join(output, name)) != content:
                raise JobError(
                    f"something else has replaced {join(output, name)} at the same time",
                    "run it again, and give each run its own --output",
                )
        _require(output, data)
        if MANIFEST in documents:
            lock.check()
            storage.write_atomically(join(output, SUCCESS), b"")


def discard(output: str, run: str) -> None:
    """Removes the data files of a failed run, which could fill the disk; ignores errors."""
    # A thread of the last step may still be running. The lock waits until its commit has ended.
    with contextlib.suppress(Exception), locked(output, SHORT_PATIENCE, run):
        own = {name for name in data_files(output) if run_of(name) == run}
        result = result_in(output)
        remove(output, own - {*(result[1].get("data_files", ()) if result else ())})


def remove(output: str, names: Collection[str]) -> None:
    storage.remove([join(output, name) for name in names])


def _require(output: str, data: Sequence[str]) -> None:
    missing = sorted({*data} - {*data_files(output)})
    if missing:
        raise JobError(
            f"{len(missing)} of {len(data)} data files of the run are not in {output}, for example "
            f"{missing[0]}",
            "run it again; check that all workers see the same --output, that nothing removes "
            "files from it, and that no other run writes to it",
        )


def result_in(output: str) -> tuple[bytes, Mapping[str, Any]] | None:
    """The bytes of scores.json, and its manifest; None if they do not match."""
    paths = [join(output, name) for name in (SCORES, MANIFEST)]
    if not all(map(storage.exists, paths)):
        return None
    scores, manifest = map(storage.read, paths)
    return (scores, json.loads(manifest)) if belongs_to(manifest, scores) else None


def check_owned(output: str, names: Iterable[str] = _BEGINNINGS) -> None:
    for name in names:
        is_owned(join(output, name))
    folder = join(output, SEGMENT_SCORES)
    if is_local(output) and os.path.islink(folder):
        raise JobError(
            f"{folder} is a link, and can lead to the files of another run",
            "remove the link, or name another folder with --output",
        )


def is_owned(path: str, name: str = "") -> bool:
    """Whether a file exists and is ours, so that a run may replace it; raises if it is not ours."""
    if not storage.exists(path):
        return False
    name = name or os.path.basename(path)
    beginning = storage.read(path, _LONGEST)
    # After the machine has crashed, a new file can be empty or have only zero bytes.
    is_empty = not beginning.strip(b"\0")
    # Our _SUCCESS always has a manifest beside it.
    is_foreign = name == SUCCESS and not is_owned(join(os.path.dirname(path), MANIFEST))
    if is_foreign or not (is_empty or re.match(_BEGINNINGS[name], beginning)):
        raise JobError(
            f"{path} is not beam-bleu's, and the run would replace or remove it",
            "name another folder with --output, or move the file to another folder",
        )
    return not is_empty


def data_files(output: str) -> list[str]:
    below = storage.visible_files(join(output, SEGMENT_SCORES), below=False)
    names = storage.visible_files(output, below=False)
    found = [*names, *(f"{SEGMENT_SCORES}/{name}" for name in below)]
    return [name for name in found if run_of(name) is not None]
