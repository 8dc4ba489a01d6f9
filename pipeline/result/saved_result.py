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
    exists,
    read,
    require_same_scores,
    result_file,
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
      must_be_last: whether the result must be that of the last run, as in `result_file`.

    Raises:
      InputError: there is no such result, it cannot be read, it is damaged, or its folder has files
        of different results.
    """
    file = result_file(path, (SCORES, TOTALS), must_be_last=must_be_last)
    name = path.removeprefix("file://")
    with named_if_damaged(file.path):
        document = json.loads(file.data)
        if "scores" in document:
            if document["format"] != SCORES_FORMAT:
                raise InputError(
                    f"{file.path} has format {document['format']!r}, and beam-bleu {VERSION} knows "
                    f"only format {SCORES_FORMAT}",
                    "read it with the version of beam-bleu that wrote it, or with a newer one",
                )
            if (manifest := file.beside(MANIFEST)) is not None:
                is_same = belongs_to(manifest, file.data)
                require_same_scores(f"{file.folder}/{MANIFEST}", is_same=is_same)
            return SavedResult(name, read_result(document), file.folder)
        if "format" not in document:
            raise ValueError("neither a scores.json nor a totals.json")
        # This loads the kernel: a second.
        from beam_bleu.pipeline.saved.totals_file import totals_in

        totals = totals_in(file)
        return SavedResult(name, totals.result, file.folder, totals)


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
