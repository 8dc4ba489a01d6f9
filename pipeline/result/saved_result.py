"""Reads the results of earlier runs: a scores.json, a totals.json, or a folder with one of them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.output.file_names import MANIFEST, SCORES, SCORES_FORMAT, TOTALS
from beam_bleu.pipeline.output.manifest import belongs_to, digests_of
from beam_bleu.pipeline.output.result_files import (
    NAME_A_RESULT,
    beside,
    exists,
    is_folder,
    read,
    require_last,
    require_same_scores,
)
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.saved_totals import SavedTotals


@dataclasses.dataclass(frozen=True)
class SavedResult:
    """A result, and what the files beside it say.

    Attributes:
      name: its path, as the user gave it; "" for the result of this run.
      result: its rows.
      folder: the folder, if the user has named it; "" beside a file that is named, because other
        files there can be those of another result.
      totals_named: the content of the totals.json that the result was read from; None if it was
        read from a scores.json.
    """

    name: str
    result: Result
    folder: str = ""
    totals_named: SavedTotals | None = None

    @property
    def has_totals(self) -> bool:
        """Whether everything was saved that was added up."""
        return self.totals_named is not None or self._has(TOTALS)

    @functools.cached_property
    def totals(self) -> SavedTotals:
        """Everything that was added up, if `has_totals`. The first access takes long.

        Raises:
          InputError: it is damaged, or cannot be used with the libraries that are installed.
        """
        # This loads the kernel: a second.
        from beam_bleu.pipeline.saved.totals_file import read_totals

        return self.totals_named or read_totals(self.folder)

    def digests(self, role: str) -> tuple[str, ...]:
        """The digests of the streams with a role, such as "references"; () if they are unknown."""
        return digests_of(self.streams, role)

    @functools.cached_property
    def streams(self) -> Sequence[Mapping[str, Any]]:
        """What was read, as manifest.json has it; () if that is not known.

        Raises:
          InputError: manifest.json is damaged.
        """
        if self.totals_named is not None:
            return [stream for part in self.totals_named.partitions for stream in part.inputs]
        if not self._has(MANIFEST):
            return ()
        path = f"{self.folder}/{MANIFEST}"
        with named_if_damaged(path):
            streams: Sequence[Mapping[str, Any]] = json.loads(read(path))["streams"]
            digests_of(streams, "")
            return streams

    def _has(self, name: str) -> bool:
        return bool(self.folder) and exists(f"{self.folder}/{name}")


def result_at(path: str, *, must_be_last: bool = True) -> SavedResult:
    """The result at a path.

    Args:
      path: a scores.json, a totals.json or a folder with one; of a folder with both, scores.json is
        read, which is faster.
      must_be_last: whether a folder, or the folder of a totals.json, must have the file _SUCCESS.
        Without it, its result can be that of an earlier run.

    Raises:
      InputError: there is no such result, it cannot be read, it is damaged, or its folder has files
        of different results.
    """
    path = path.removeprefix("file://")
    file = _file_of(path)
    folder = "" if file == path else path.rstrip("/")
    data = read(file)
    if must_be_last:
        require_last(file, is_named=not folder)
    with named_if_damaged(file):
        document = json.loads(data)
        if "scores" in document:
            if document["format"] != SCORES_FORMAT:
                raise InputError(
                    f"{file} has format {document['format']!r}, and beam-bleu {VERSION} knows only "
                    f"format {SCORES_FORMAT}",
                    "read it with the version of beam-bleu that wrote it, or with a newer one",
                )
            if folder and exists(manifest := beside(file, MANIFEST)):
                require_same_scores(manifest, is_same=belongs_to(read(manifest), data))
            return SavedResult(path, read_result(document), folder)
        if "format" not in document:
            raise ValueError("neither a scores.json nor a totals.json")
        # This loads the kernel: a second.
        from beam_bleu.pipeline.saved.totals_file import totals_in

        totals = totals_in(data, file, in_folder=bool(folder))
        return SavedResult(path, totals.result, folder, totals)


@contextlib.contextmanager
def named_if_damaged(path: str) -> Iterator[None]:
    """A context that reads a file of a result.

    Raises:
      InputError: what was read is not such a file; the message names the path.
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


def _file_of(path: str) -> str:
    """The file with the result at a path."""
    if not is_folder(path):
        if not exists(path):
            raise InputError(f"there is no {path}", NAME_A_RESULT)
        return path
    for name in (SCORES, TOTALS):
        file = f"{path.rstrip('/')}/{name}"
        if exists(file):
            return file
    raise InputError(f"{path} has neither {SCORES} nor {TOTALS}", NAME_A_RESULT)
