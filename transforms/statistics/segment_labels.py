"""The labels that every segment must have for some runs: its document, and its language."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.canonical import nulls
from beam_bleu.transforms.text.languages import EXAMPLES_OF_CODES, tokenizer_of
from beam_bleu.transforms.text.tokenizers import TokenizerName


@dataclasses.dataclass(frozen=True)
class SegmentLabel:
    """A label that each segment of a batch has, at its position in `SegmentBatch.labels`."""

    name: str
    position: int


def segment_name(batch: SegmentBatch, row: int) -> str:
    """The name of a segment for messages. Numbers begin with 1, like lines in editors."""
    return "a segment" if batch.numbers is None else f"segment {batch.numbers[row] + 1}"


def require_documents(batch: SegmentBatch, label: SegmentLabel) -> None:
    """Checks that each segment has a document: those without have nothing in common."""
    rows = np.flatnonzero(nulls(batch.labels[label.position].indices))
    if not len(rows):
        return
    row = int(rows[0])
    raise InputError(
        f"{segment_name(batch, row)} has no document in {label.name}{_place(batch, label, row)}",
        "each segment needs the name of its document; give a segment that belongs to none a "
        "document of its own",
    )


def rows_by_tokenizer(batch: SegmentBatch, label: SegmentLabel) -> dict[TokenizerName, Integers]:
    """The rows of each tokenizer, ascending; none for a batch without segments.

    Raises:
      InputError: the language of a segment is missing or unknown.
    """
    languages = batch.labels[label.position]
    indexes = languages.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    _, first_rows = np.unique(indexes, return_index=True)
    by_tokenizer: dict[TokenizerName, list[int]] = {}
    # In the order of the rows, so that the message is about the first wrong one.
    for row in np.sort(first_rows).tolist():
        code = languages[row].as_py()
        by_tokenizer.setdefault(_tokenizer(code, batch, row, label), []).append(indexes[row])
    if len(by_tokenizer) <= 1:
        return dict.fromkeys(by_tokenizer, np.arange(len(batch)))
    return {
        tokenizer: np.flatnonzero(np.isin(indexes, of_tokenizer))
        for tokenizer, of_tokenizer in by_tokenizer.items()
    }


def _tokenizer(
    code: str | None, batch: SegmentBatch, row: int, label: SegmentLabel
) -> TokenizerName:
    segment, place = segment_name(batch, row), _place(batch, label, row)
    try:
        if code is not None:
            return tokenizer_of(code)
        cause = f"{segment} has no language in {label.name}{place}"
    except ValueError as error:
        cause = f"{segment}: {label.name}: {error}{place}"
    raise InputError(cause, f"each segment needs in {label.name} {EXAMPLES_OF_CODES}")


def batch_of_rows(batch: SegmentBatch, rows: Integers) -> SegmentBatch:
    """What is counted in rows of a batch."""
    chosen = pa.array(rows)
    return dataclasses.replace(
        batch,
        candidates=tuple(column.take(chosen) for column in batch.candidates),
        references=tuple(column.take(chosen) for column in batch.references),
        numbers=None if batch.numbers is None else batch.numbers[rows],
        values={column: values[:, rows] for column, values in batch.values.items()},
    )


def _place(batch: SegmentBatch, label: SegmentLabel, row: int) -> str:
    """Where a label of a segment is in the input, for the end of a message; "" if unknown."""
    return f": {batch.label_places[label.position].of(row)}" if batch.label_places else ""
