"""Reads saved results: a scores.json, a totals.json, or a folder with one of them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.gates.results import GatedResults, gated
from beam_bleu.pipeline.output.file_names import MANIFEST, SCORES, SCORES_FORMAT, TOTALS
from beam_bleu.pipeline.output.result_files import (
    NAME_A_RESULT,
    beside,
    exists,
    is_folder,
    read,
    require_last,
    require_same_scores,
)
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.saved_totals import SavedTotals


@dataclasses.dataclass(frozen=True)
class ReadResult:
    """A result that was read.

    Attributes:
      name: its path, as the user gave it.
      document: the result document.
      metrics: what gates see of its metrics.
      totals: everything that was added up; None if the file is a scores.json.
    """

    name: str
    document: Mapping[str, Any]
    metrics: GatedResults
    totals: SavedTotals | None = None


def read_result(path: str, *, with_totals: bool = False, must_be_last: bool = True) -> ReadResult:
    """The result at a path.

    Args:
      path: a scores.json, a totals.json or a folder with one.
      with_totals: whether to read the totals.json of a folder that has both. It says the same and
        more, but takes longer to read.
      must_be_last: whether a folder, or the folder of a totals.json, must have the file _SUCCESS.
        Without it, its result can be that of an earlier run.

    Raises:
      InputError: there is no such result, it cannot be read, it is damaged, or its folder has files
        of different results.
    """
    path = path.removeprefix("file://")
    names = (TOTALS, SCORES) if with_totals else (SCORES, TOTALS)
    file = _file_of(path, names)
    is_named = file == path
    data = read(file)
    if must_be_last:
        require_last(file, is_named=is_named)
    with named_if_damaged(file):
        document = json.loads(data)
        if not isinstance(document, dict) or not {"scores", "format"} & document.keys():
            raise TypeError(document)
        if "scores" in document:
            _require_format(file, document)
            if not is_named:
                _require_manifest(file, data)
            return ReadResult(path, document, gated(document, path))
        # This loads the kernel: a second.
        from beam_bleu.pipeline.saved.totals_file import totals_in

        totals = totals_in(data, file, in_folder=not is_named)
        document = totals.document
        return ReadResult(path, document, gated(document, path), totals)


@contextlib.contextmanager
def named_if_damaged(path: str) -> Iterator[None]:
    """A context that reads a result document.

    Raises:
      InputError: what was read is not such a document; the message names the path.
    """
    try:
        yield
    except (
        *(ValueError, KeyError, TypeError, AttributeError, IndexError),
        *(OverflowError, RecursionError),
    ) as error:
        raise InputError(
            f"{path} is not a result of beam-bleu, or it is damaged", NAME_A_RESULT
        ) from error


def _file_of(path: str, names: tuple[str, str]) -> str:
    """The file with the result at a path."""
    if not is_folder(path):
        if not exists(path):
            raise InputError(f"there is no {path}", NAME_A_RESULT)
        return path
    for name in names:
        file = f"{path.rstrip('/')}/{name}"
        if exists(file):
            return file
    raise InputError(f"{path} has neither {SCORES} nor {TOTALS}", NAME_A_RESULT)


def _require_format(file: str, document: Mapping[str, Any]) -> None:
    """Checks that this version knows the format of a result document.

    Raises:
      InputError: it is another format.
      KeyError: the document does not name its format.
    """
    if document["format"] != SCORES_FORMAT:
        raise InputError(
            f"{file} has format {document['format']!r}, and beam-bleu {VERSION} knows only format "
            f"{SCORES_FORMAT}",
            "read it with the version of beam-bleu that wrote it, or with a newer one",
        )


def _require_manifest(file: str, scores: bytes) -> None:
    """Checks that the manifest.json beside a scores.json is of the same result, if there is one."""
    path = beside(file, MANIFEST)
    if not exists(path):
        return
    try:
        named = json.loads(read(path))["scores_sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        named = None
    require_same_scores(path, named, scores)
