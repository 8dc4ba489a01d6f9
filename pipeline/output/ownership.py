"""Finds out which files in an output folder are beam-bleu's.

Other programs also have files with names such as manifest.json, and many write a _SUCCESS. A run
must neither replace nor remove these. Only scores.json is replaced whatever is in it.
"""

from __future__ import annotations

import os
import re

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import (
    EXAMPLES,
    FIRST_BYTES_OF_EXAMPLES,
    FIRST_BYTES_OF_REPORT,
    FIRST_BYTES_OF_TOTALS,
    MANIFEST,
    METRICS,
    REPORT,
    RUN_RECORD,
    SCORES,
    SEGMENT_SCORES,
    SUCCESS,
    TOTALS,
    run_of,
)
from beam_bleu.pipeline.output.metrics import FIRST_METRIC
from beam_bleu.transforms.errors import JobError
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
      JobError: one of them is not beam-bleu's, or cannot be read; or segment_scores is a link.
    """
    for name in _BEGINNINGS:
        is_owned(join(output, name))
    check_success(output)
    _beginning(join(output, SCORES))  # a folder cannot be replaced
    folder = join(output, SEGMENT_SCORES)
    if is_local(output) and os.path.islink(folder):
        raise JobError(
            f"{folder} is a link, and can lead to the files of another run",
            "remove the link, or name another folder with --output",
        )


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
    below = storage.names(join(output, SEGMENT_SCORES))
    found = [*storage.names(output), *(f"{SEGMENT_SCORES}/{name}" for name in below)]
    return [name for name in found if run_of(name) is not None]
