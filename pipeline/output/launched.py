"""The output folder, and how the launcher gets a run's result."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Iterator

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output.file_names import DOCUMENTS, RECEIPT, SUCCESS
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.output_folder import receipt_path, scores_path
from beam_bleu.pipeline.output.receipt import Receipt, read_receipt, remove_receipt
from beam_bleu.pipeline.output.storage import exists
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import is_local

_PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Seconds to wait between checks for a scores.json that another run may be replacing."""


@contextlib.contextmanager
def launched(job: Job, in_process: bool) -> Iterator[Job]:
    """The job with its output folder and its receipt, while a launcher waits for it.

    A job without an output folder gets a temporary one. If the job runs in this process, its
    receipt is in a temporary folder, too; on an engine, it is in the output folder. The
    receipt is removed afterwards.

    Raises:
      JobError: the output folder is on this machine and cannot be written.
    """
    if not in_process:
        try:
            yield dataclasses.replace(job, receipt=receipt_path(job.output, job.run))
        finally:
            remove_receipt(job.output, job.run)
        return
    if job.output and is_local(job.output):
        _check_writable(job.output)
    with tempfile.TemporaryDirectory(prefix="beam-bleu-") as temporary:
        receipt = os.path.join(temporary, RECEIPT)
        yield dataclasses.replace(job, output=job.output or temporary, receipt=receipt)


def _check_writable(folder: str) -> None:
    # It is better to find this out now than at the end of a long job.
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for name in (*DOCUMENTS, SUCCESS):
            if os.path.isdir(os.path.join(folder, name)):
                raise IsADirectoryError(None, f"its {name} is a folder")
    except OSError as error:
        raise JobError(
            f"--output {folder} cannot be written: {error.strerror}", "check the folder"
        ) from error


def result_of(job: Job) -> Receipt:
    """The receipt of a job that has ended.

    Only this run writes it, so it proves that the last step ran.

    Raises:
      JobError: there is no receipt, or no scores.json.
    """
    receipt = read_receipt(job.receipt)
    if receipt is None or not _is_written(job.output):
        raise JobError(
            f"the runner reported success, but the job wrote no {scores_path(job.output)}",
            "the runner lost the last step, or its workers write to another filesystem",
        )
    return receipt


def _is_written(folder: str) -> bool:
    # Another run may be replacing it, and first moves the previous one away. It holds the lock
    # while it does this. On a filesystem without locks, a short wait is enough.
    for pause in _PAUSES:
        time.sleep(pause)
        with locked(folder) as held:
            if exists(scores_path(folder)):
                return True
        if held:
            return False
    return False
