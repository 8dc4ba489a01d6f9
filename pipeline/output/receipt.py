"""The receipt of a run: a file with the result, which the last step writes for the launcher.

Other runs may replace scores.json in the output folder. Only one run writes a receipt, so the
launcher reads the result of its own run from it.

Flink starts a whole job again after any error, so also after a missed threshold, which is the same
each time. The next attempt finds the receipt, and does not score everything again before it fails.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import DOCUMENTS, RECEIPT, SUCCESS, WORKERS
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.metric_views import warnings_of_document
from beam_bleu.pipeline.output.output_folder import (
    aside_folder,
    receipt_path,
    run_folder,
    scores_path,
    success_path,
    workers_path,
)
from beam_bleu.pipeline.output.storage import exists
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import is_local

_PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Seconds to wait between checks for a scores.json that another run may be replacing."""


@dataclasses.dataclass(frozen=True)
class Receipt:
    """The result of a run.

    Attributes:
      document: the bytes of its scores.json.
      notes: remarks for the person who started it.
    """

    document: bytes
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """All that a reader of the scores must know: the notes, and the warnings of the result."""
        return [*self.notes, *warnings_of_document(json.loads(self.document))]


def write_receipt(path: str, document: bytes, notes: Sequence[str]) -> None:
    """Writes a receipt.

    Raises:
      JobError: it cannot be written.
    """
    text = json.dumps({"document": document.decode(), "notes": list(notes)})
    storage.write_atomically(path, text.encode())


def read_receipt(path: str) -> Receipt | None:
    """The receipt at a path; None if there is no receipt.

    Raises:
      JobError: it cannot be read.
    """
    if not storage.exists(path):
        return None
    with storage.reading(path):
        fields = json.loads(storage.read(path))
        return Receipt(fields["document"].encode(), tuple(fields["notes"]))


def remove_receipt(output: str, run: str) -> None:
    """Removes what a run wrote for its launcher from the output folder, as far as possible."""
    folder = run_folder(output, run)
    for name, path in ((RECEIPT, receipt_path), (WORKERS, workers_path)):
        with contextlib.suppress(Exception):
            if storage.exists(path(output, run)):
                storage.remove_files(folder, [name])
    with contextlib.suppress(Exception):
        storage.remove_if_empty(folder)
        storage.remove_if_empty(aside_folder(output))


def earlier_result(output: str, receipt: str) -> bytes | None:
    """The bytes of the scores.json of an earlier attempt; None if there is no complete result.

    Args:
      output: the job's folder.
      receipt: the path of the run's receipt; "" if it writes none. Only the run itself writes it.

    Raises:
      JobError: the folder cannot be read.
    """
    written = read_receipt(receipt) if receipt else None
    # An attempt writes its receipt first. It may have failed before its result was in place.
    if written is None or not storage.exists(success_path(output)):
        return None
    path = scores_path(output)
    with storage.reading(path):
        is_there = storage.exists(path) and storage.read(path) == written.document
    return written.document if is_there else None


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
