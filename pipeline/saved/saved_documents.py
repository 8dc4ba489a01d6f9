"""The result documents of saved totals. An error names the file whose sums contradict each other.

A job that finds such a contradiction accuses its runner. Here it is the file that is wrong.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from beam_bleu.pipeline.saved.partitions import Named
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.errors import InputError, JobError

_OF_WRONG_SUMS = (JobError, ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


def document_of(path: str, saved: SavedTotals) -> dict[str, Any]:
    """The result document of a file.

    Raises:
      InputError: its sums contradict each other.
    """
    try:
        return saved.document
    except _OF_WRONG_SUMS as error:
        cause = error.cause if isinstance(error, JobError) else repr(error)
        raise InputError(
            f"{path}: its sums contradict each other: {cause}",
            "another program has changed it: repeat the run with --save_totals",
        ) from error


@contextlib.contextmanager
def naming_wrong_sums(files: Sequence[Named]) -> Iterator[None]:
    """A context in which something is computed from several files.

    To make the document of each file takes long, so that is done only after a failure.

    Raises:
      InputError: it fails, because the sums of one of these files contradict each other.
    """
    try:
        yield
    except _OF_WRONG_SUMS:
        for path, saved in files:
            document_of(path, saved)
        raise
