"""The short way of a call with one short segment, for programs that make one for each sentence."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import without_nan
from beam_bleu.transforms.native.memory import READ_AHEAD
from beam_bleu.transforms.segment_columns import SegmentColumns
from beam_bleu.transforms.statistics.counting import MOST_BYTES_OF_ONE, PreparedBatch


def texts_of_one(
    candidates: Any, references: Any, references_per_segment: Any
) -> list[bytes] | None:
    """The references and then the candidate in UTF-8, if a call has one short segment in lists.

    Returns:
      None if it has something else, also if that is wrong: `Segments` tells what is.
    """
    if type(candidates) is not list or len(candidates) != 1:
        return None
    texts = []
    if references_per_segment is None:
        if type(references) is not list:
            return None
        for stream in references:
            if type(stream) is not list or len(stream) != 1:
                return None
            texts += stream
    else:
        if references is not None or type(references_per_segment) is not list:
            return None
        if len(references_per_segment) != 1 or type(references_per_segment[0]) is not list:
            return None
        texts += references_per_segment[0]
    texts += candidates
    if len(texts) < 2 or {*map(type, texts)} != {str}:
        return None
    try:
        encoded = [*map(str.encode, texts)]
    except UnicodeEncodeError:
        return None
    return encoded if sum(map(len, encoded)) <= MOST_BYTES_OF_ONE else None


def one_row(columns: SegmentColumns, texts: Sequence[bytes]) -> pa.RecordBatch:
    """The scores of one segment.

    Args:
      columns: scores it.
      texts: the references and then the candidate, as `texts_of_one` gives them.
    """
    scorers = _KEPT.of(columns, len(texts) - 1)
    if scorers is not None:
        data = pa.py_buffer(b"".join((*texts, _PADDING)))
        place = data.address
        bounds = [place, *(place := place + len(text) for text in texts)]
        scores = [scorer.score((bounds[:-1], bounds[1:])) for scorer in scorers]
        if None not in scores:
            arrays = [without_nan(np.array([score])) for score in scores]
            return pa.record_batch(arrays, schema=columns.schema)
    *references, candidate = texts
    return columns.of_prepared(PreparedBatch.of_one_segment(candidate, references))


_PADDING = bytes(READ_AHEAD)


class _Kept(threading.local):
    """What each thread scores single segments with."""

    def __init__(self) -> None:
        self.of = functools.lru_cache(maxsize=32)(SegmentColumns.of_one_segment)


_KEPT = _Kept()
