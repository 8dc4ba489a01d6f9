"""Reads what a report shows: a result, and the files beside it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.examples.segments import read_examples
from beam_bleu.pipeline.output.file_names import RUN_RECORD, SCORES
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.pipeline.result.saved_result import SavedResult, named_if_damaged, result_at


@dataclasses.dataclass(frozen=True)
class ReportedResult:
    """A result, with what the files beside it say.

    Attributes:
      saved: the result.
      examples: the lines of the file of examples; none if there is no such file.
      versions: of the software that made it, by name; none if there is no run.json.
    """

    saved: SavedResult
    examples: Sequence[Mapping[str, Any]] = ()
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)


def reported_result(path: str, *, must_be_last: bool = True) -> ReportedResult:
    """The result at a path.

    Args:
      path: a scores.json, a totals.json, or a folder with one. Only of a folder, the other files
        are read: beside a file, they can be those of another result.
      must_be_last: whether the folder must have the file _SUCCESS.

    Raises:
      InputError: there is no such result, or one of its files cannot be read, is damaged, or
        belongs to another result.
    """
    saved = result_at(path, must_be_last=must_be_last)
    if not saved.folder or not exists(f"{saved.folder}/{SCORES}"):
        return ReportedResult(saved)
    examples = read_examples(saved.folder) or ()
    record = f"{saved.folder}/{RUN_RECORD}"
    if not exists(record):
        return ReportedResult(saved, examples)
    with named_if_damaged(record):
        versions = dict(json.loads(read(record))["versions"])
    return ReportedResult(saved, examples, versions)
