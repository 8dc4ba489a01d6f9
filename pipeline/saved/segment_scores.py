"""Reads scores of segments: those of a run, and files of mt-metrics-eval, `NAME.seg.score`."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beam_bleu.pipeline.folder.file_names import MANIFEST, SEGMENT_SCORES
from beam_bleu.pipeline.saved.saved_result import beside, named_if_damaged, read, result_at
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.wiring.filesystems import is_local

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset

SEGMENT_FILE = ".seg.score"

_AGAIN = "copy all files of one result again, or run it again with --segment_scores"


def manifest_of(folder: str) -> Mapping[str, Any]:
    manifest: Mapping[str, Any] = json.loads(beside(folder, MANIFEST) or "{}")
    return manifest


def segment_files(folder: str) -> list[str]:
    """The files of the scores of all segments that this machine has."""
    if not is_local(folder):
        return []
    names = manifest_of(folder).get("data_files", ())
    paths = [os.path.join(folder, name) for name in names if name.startswith(SEGMENT_SCORES)]
    return [path for path in paths if os.path.exists(path)]


@contextlib.contextmanager
def opened(files: Sequence[str], rows: int) -> Iterator[pyarrow.dataset.Dataset]:
    """The rows of these files, of which there must be so many."""
    import pyarrow as pa
    import pyarrow.dataset

    folder = os.path.dirname(files[0])
    try:
        data = pyarrow.dataset.dataset(list(files))
        count = data.count_rows()
        if count != rows:
            raise InputError(f"{folder} has {count} rows, and scores.json says {rows}", _AGAIN)
        yield data
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{folder} cannot be read: {error}", _AGAIN) from error


class SegmentScores(NamedTuple):
    """The scores of each system, NaN where one is missing; `source` names them in messages."""

    source: str
    segments: int
    by_system: Mapping[str, Floats]


def scores_in_file(path: str) -> SegmentScores:
    """The scores in a file of mt-metrics-eval."""
    import pyarrow as pa

    from beam_bleu.transforms.pairing.records.whole_files.wmt import score_rows

    by_system: dict[str, list[float]] = {}
    try:
        for row in score_rows(read(path)):
            score = math.nan if row["score"] is None else row["score"]
            by_system.setdefault(row["system"], []).append(score)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: {error}", "write SYSTEM, a tab, and a number or None") from error
    numbers = {len(scores): system for system, scores in by_system.items()}
    if len(numbers) != 1:
        shown = joined([f"{system} has {number}" for number, system in numbers.items()])
        raise InputError(
            f"{path} does not have as many scores of each system: {shown or 'it is empty'}",
            "give every system a line for each segment, with None for a missing score",
        )
    return SegmentScores(path, min(numbers), {s: np.array(own) for s, own in by_system.items()})


def scores_in_run(folder: str) -> dict[MetricWord, SegmentScores]:
    """The scores of each metric of a run. Higher ones are better: others change their sign."""
    folder = folder.removeprefix("file://")
    result = result_at(folder).result
    files = segment_files(folder)
    if not files or result.segment_scores is None:
        raise InputError(
            f"{folder} has no scores of all segments, or is not on this machine",
            "run it again with --segment_scores, or copy its files to this machine",
        )
    with named_if_damaged(folder), opened(files, result.segment_scores["rows"]) as data:
        table = data.to_table(["index", "system", "metric", "score"])
    segments, places = np.unique(table["index"].to_numpy(), return_inverse=True)
    (words, of_metric), (systems, of_system) = _codes(table["metric"]), _codes(table["system"])
    scores = np.full((len(words), len(systems), len(segments)), np.nan)
    scores[of_metric, of_system, places] = table["score"].to_numpy()
    by_metric = {}
    for word in result.words:
        own = scores[words.index(word)] * (-1 if row_of(word).lower_is_better else 1)
        by_metric[word] = SegmentScores(folder, len(segments), dict(zip(systems, own, strict=True)))
    return by_metric


def _codes(column: pa.ChunkedArray) -> tuple[list[str], Integers]:
    import pyarrow as pa

    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
