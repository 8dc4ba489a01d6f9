"""Writes the page of a result into a file, which can be on any of Beam's filesystems."""

from __future__ import annotations

from beam_bleu.pipeline.output.file_names import REPORT, SCORES
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.ownership import is_owned
from beam_bleu.pipeline.output.result_files import read
from beam_bleu.pipeline.output.storage import write_atomically
from beam_bleu.pipeline.report.page import page
from beam_bleu.pipeline.report.results import reported_result
from beam_bleu.transforms.errors import JobError


def write_report(output: str) -> str:
    """Makes the page of the result in an output folder; returns its path.

    Args:
      output: the folder. Its last run may still be judging its result, so _SUCCESS can be missing.

    Raises:
      BleuError: the result cannot be read or was replaced, or the page cannot be written.
    """
    folder = output.rstrip("/")
    scores, path = f"{folder}/{SCORES}", f"{folder}/{REPORT}"
    before = read(scores)
    made = page(reported_result(output, must_be_last=False))
    # A run that replaces the result while the page is drawn must not keep a page about this one.
    with locked(folder):
        if read(scores) != before:
            raise JobError(
                f"another run has replaced the result in {output}",
                "give each run a folder of its own",
            )
        write_page(path, made)
    return path


def write_page(path: str, data: bytes) -> None:
    """Writes a page. It replaces an earlier page, but no other file.

    Raises:
      JobError: there is another file at this path, or it cannot be written.
    """
    is_owned(path, REPORT)
    write_atomically(path, data)
