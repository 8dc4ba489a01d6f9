"""Writes a result that was made of saved totals to an output folder, as a run does."""

from __future__ import annotations

import os

from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.job import new_run
from beam_bleu.pipeline.output.document import document_bytes
from beam_bleu.pipeline.output.manifest import manifest
from beam_bleu.pipeline.output.output_folder import MANIFEST, SCORES, TOTALS
from beam_bleu.pipeline.output.publication import in_place, prepare, write_documents
from beam_bleu.pipeline.output.storage import make_folder
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.pipeline.saved.totals_file import totals_bytes
from beam_bleu.transforms.errors import JobError, UsageError


def write_result(saved: SavedTotals, scores: bytes, output: str) -> None:
    """Writes scores.json, totals.json and manifest.json, and _SUCCESS last.

    The manifest lists the inputs of all partitions.

    Args:
      saved: the totals.
      scores: the bytes of scores.json.
      output: the folder.

    Raises:
      UsageError: the folder is a file, or of a filesystem that is not installed.
      JobError: the files cannot be written.
    """
    output = checked_path("--output", output, anywhere=False)
    if os.path.isfile(output.rstrip("/")):
        raise UsageError(f"--output {output} is a file", "name a folder")
    read = [each for partition in saved.partitions for each in partition.inputs]
    documents = {
        MANIFEST: document_bytes(manifest(read, scores)),
        TOTALS: totals_bytes(saved, scores),
        SCORES: scores,
    }
    try:
        make_folder(output)
    except OSError as error:
        raise JobError(
            f"--output {output} cannot be written: {error.strerror}", "check the folder"
        ) from error
    prepare(output, asked=False)
    with in_place(output, new_run(), (), documents):
        write_documents(output, documents)
