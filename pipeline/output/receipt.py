"""The receipt of a run: a file with the result, which the last step writes for the launcher.

Other runs may replace scores.json in the output folder. Only one run writes a receipt, so the
launcher reads the result of its own run from it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Sequence

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import RECEIPT
from beam_bleu.pipeline.output.output_folder import aside_folder, receipt_path, run_folder
from beam_bleu.pipeline.output.result_warnings import warnings_of_document


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
        found = json.loads(storage.read(path))
        return Receipt(found["document"].encode(), tuple(found["notes"]))


def remove_receipt(output: str, run: str) -> None:
    """Removes a run's receipt from the output folder, as far as that is possible."""
    folder = run_folder(output, run)
    with contextlib.suppress(Exception):
        if storage.exists(receipt_path(output, run)):
            storage.remove_files(folder, [RECEIPT])
    with contextlib.suppress(Exception):
        storage.remove_if_empty(folder)
        storage.remove_if_empty(aside_folder(output))
