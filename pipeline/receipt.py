"""The receipt of a run: a file with the result, which the last step writes for the launcher.

Other runs may replace scores.json in the output folder. Only one run writes a receipt, so the
launcher reads the result of its own run from it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Sequence

from apache_beam.io.filesystems import FileSystems

from beam_bleu.pipeline import storage
from beam_bleu.pipeline.segment_shards import ASIDE

RECEIPT = "receipt.json"


@dataclasses.dataclass(frozen=True)
class Receipt:
    """The result of a run.

    Attributes:
      document: the bytes of its scores.json.
      notes: remarks for the person who started it.
    """

    document: bytes
    notes: tuple[str, ...] = ()


def receipt_path(output: str, run: str) -> str:
    """The path of a run's receipt if workers and launcher share only the output folder."""
    return FileSystems.join(output, ASIDE, run, RECEIPT)


def write_receipt(path: str, document: bytes, notes: Sequence[str]) -> None:
    """Writes a receipt.

    Raises:
      JobError: it cannot be written.
    """
    text = json.dumps({"document": document.decode(), "notes": list(notes)})
    storage.write_atomically(path, text.encode())


def read_receipt(path: str) -> Receipt | None:
    """The receipt at a path; None if there is none.

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
    run_folder = FileSystems.join(output, ASIDE, run)
    with contextlib.suppress(Exception):
        if FileSystems.exists(receipt_path(output, run)):
            storage.remove_files(run_folder, [RECEIPT])
    with contextlib.suppress(Exception):
        storage.remove_if_empty(run_folder)
        storage.remove_if_empty(FileSystems.join(output, ASIDE))
