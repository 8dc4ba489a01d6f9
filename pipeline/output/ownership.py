"""Finds out which files in an output folder are beam-bleu's.

Other programs also have files with names such as manifest.json, and many write a _SUCCESS. A run
must neither replace nor remove these. Only scores.json is replaced whatever is in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import (
    EXAMPLES,
    FIRST_BYTES_OF_EXAMPLES,
    FIRST_BYTES_OF_REPORT,
    FIRST_BYTES_OF_TOTALS,
    MANIFEST,
    METRICS,
    REJECTED,
    REPORT,
    RUN_RECORD,
    SCORES,
    SEGMENT_SCORES,
    SUCCESS,
    TOTALS,
    DataKind,
    run_of,
)
from beam_bleu.pipeline.output.metrics import FIRST_METRIC
from beam_bleu.transforms.errors import JobError, joined
from beam_bleu.transforms.wiring.filesystems import is_local, join

_BEGINNINGS = {
    MANIFEST: rb'\{\s*"scores_sha256":',
    TOTALS: re.escape(FIRST_BYTES_OF_TOTALS),
    EXAMPLES: re.escape(FIRST_BYTES_OF_EXAMPLES),
    RUN_RECORD: rb'\{\s*"state":',
    METRICS: rb"# HELP %b " % FIRST_METRIC.encode(),
    REPORT: re.escape(FIRST_BYTES_OF_REPORT),
}
"""How our files begin, as regular expressions."""

_LONGEST = 256
"""Bytes; no beginning is longer."""


def check_owned(output: str) -> None:
    """Checks that a run may replace and remove the files next to scores.json.

    Raises:
      JobError: one of them is not beam-bleu's, or cannot be read.
    """
    for name in _BEGINNINGS:
        is_owned(join(output, name))
    check_success(output)
    _beginning(join(output, SCORES))  # a folder cannot be replaced


def check_success(output: str) -> None:
    """Checks that a run may remove _SUCCESS, if it is there.

    Raises:
      JobError: it is not beam-bleu's, or cannot be read.
    """
    path = join(output, SUCCESS)
    # Beside a _SUCCESS of ours there is always a manifest.
    if _beginning(path) or (storage.exists(path) and not is_owned(join(output, MANIFEST))):
        raise JobError(
            f"{output} has a _SUCCESS that is not beam-bleu's, and the run would remove it",
            "name another folder with --output",
        )


def is_owned(path: str, name: str = "") -> bool:
    """Whether there is a file of ours, which a run may replace; False if there is none.

    Args:
      path: its path.
      name: the name that such a file has in an output folder; "" if the path ends with it.

    Raises:
      JobError: it is not beam-bleu's, or cannot be read.
    """
    beginning = _beginning(path)
    # After a crash of the machine, a new file can be empty or have only zero bytes.
    if not beginning.strip(b"\0"):
        return False
    if not re.match(_BEGINNINGS[name or os.path.basename(path)], beginning):
        raise JobError(
            f"{path} is not beam-bleu's, and the run would replace it",
            "name another folder with --output, or move the file to another folder",
        )
    return True


def _beginning(path: str) -> bytes:
    if not storage.exists(path):
        return b""
    with storage.reading(path):
        return storage.read(path, _LONGEST)


def data_files(output: str) -> list[str]:
    """The data files in an output folder, relative to it: all files that have such a name.

    Raises:
      JobError: a folder cannot be listed.
    """
    found = storage.names(output)
    folder = join(output, SEGMENT_SCORES)
    # A link can lead to the files of another output folder.
    if not (is_local(output) and os.path.islink(folder)):
        found += [f"{SEGMENT_SCORES}/{name}" for name in storage.names(folder)]
    return [name for name in found if run_of(name) is not None]


def check_places(output: str, kinds: Collection[DataKind]) -> None:
    """Checks that readers of a run's data files find no other files in their places.

    Args:
      output: the job's folder.
      kinds: the kinds of data files that the run writes.

    Raises:
      JobError: there are other files; or a folder cannot be listed, or is a link.
    """
    folder = join(output, SEGMENT_SCORES)
    foreign: list[str] = []
    if SEGMENT_SCORES in kinds:
        is_ours = os.path.isdir(folder) and not os.path.islink(folder)
        if is_local(output) and os.path.lexists(folder) and not is_ours:
            raise JobError(
                f"{folder} is a link, or not a folder", "move it, or name another --output"
            )
        foreign += [f"{SEGMENT_SCORES}/{name}" for name in storage.visible_files(folder)]
    if REJECTED in kinds:
        found = storage.names(output)
        foreign += [n for n in found if n.startswith(f"{REJECTED}-") and n.endswith(".jsonl")]
    foreign = [name for name in sorted(foreign) if run_of(name) is None]
    if foreign:
        raise JobError(
            f"{output} has files that beam-bleu did not write, and readers would take them for "
            f"those of the run: {joined(foreign)}",
            "move them to another folder, or name another --output",
        )
