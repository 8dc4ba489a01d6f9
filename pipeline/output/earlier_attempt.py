"""Finds the result that an earlier attempt of the same run has already written.

Flink starts a whole job again after any error, so also after a missed threshold, which is the same
each time. Without this, each attempt would score everything again before it fails.
"""

from __future__ import annotations

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.output_folder import scores_path, success_path
from beam_bleu.pipeline.output.receipt import read_receipt


def earlier_result(output: str, receipt: str) -> bytes | None:
    """The bytes of the scores.json of an earlier attempt; None if there is no complete result.

    Args:
      output: the job's folder.
      receipt: the path of the run's receipt; "" if it writes none. Only the run itself writes it.

    Raises:
      JobError: the folder cannot be read.
    """
    found = read_receipt(receipt) if receipt else None
    # An attempt writes its receipt first. It may have failed before its result was in place.
    if found is None or not storage.exists(success_path(output)):
        return None
    path = scores_path(output)
    with storage.reading(path):
        is_there = storage.exists(path) and storage.read(path) == found.document
    return found.document if is_there else None
