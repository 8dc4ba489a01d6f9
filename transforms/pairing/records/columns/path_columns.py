"""Columns of labels that come from the paths of files, beside those that a reader has read."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords


def with_path_columns(read: ReadRecords, chosen: Chosen, label: str) -> ReadRecords:
    """The records with a column for each of `Chosen.path_labels`.

    Args:
      read: the records.
      chosen: the columns.
      label: the stream in messages.

    Raises:
      InputError: the path of the file does not match a pattern.
    """
    if not chosen.path_labels:
        return read
    same = pa.array(np.zeros(len(next(iter(read.columns.values()))), np.int32))
    columns = {
        path: pa.DictionaryArray.from_arrays(
            same, pa.array([each.required(label, read.path)], pa.large_string())
        )
        for path, each in chosen.path_labels
    }
    return dataclasses.replace(read, columns={**read.columns, **columns})
