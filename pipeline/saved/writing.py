"""Writes a result that was made of saved totals to an output folder, as a run does."""

from __future__ import annotations

from collections.abc import Sequence

from beam_bleu.pipeline.command_line.paths import check_output, checked_path
from beam_bleu.pipeline.job import new_run
from beam_bleu.pipeline.output.file_names import MANIFEST, SCORES, TOTALS
from beam_bleu.pipeline.output.manifest import manifest
from beam_bleu.pipeline.output.publication import commit, prepare
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.pipeline.result.saved_result import is_folder
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.pipeline.saved.totals_file import totals_bytes


def write_result(saved: SavedTotals, scores: bytes, output: str, files: Sequence[str]) -> None:
    """Writes scores.json, totals.json and manifest.json, and _SUCCESS last.

    The manifest lists the inputs of all partitions. run.json and metrics.prom of an earlier run are
    removed, because nothing ran.
    """
    output = checked_path("--output", output, anywhere=False)
    check_output(output, [("FILE", _file(path)) for path in files])
    read = [stream for partition in saved.partitions for stream in partition.inputs]
    documents = {
        MANIFEST: document_bytes(manifest(read, scores, ["form = totals"])),
        TOTALS: totals_bytes(saved, scores),
        SCORES: scores,
    }
    prepare(output)
    commit(output, new_run(), documents, ran=False)


def _file(path: str) -> str:
    """The file that is read if a user names a path."""
    path = path.removeprefix("file://")
    return f"{path.rstrip('/')}/{TOTALS}" if is_folder(path) else path
