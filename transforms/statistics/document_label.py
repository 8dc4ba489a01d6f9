"""The label with the document of each segment: every segment must have one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import segment_name


@dataclasses.dataclass(frozen=True)
class DocumentLabel:
    """The label that has the document of each segment.

    Attributes:
      name: its name.
      position: its position in `SegmentBatch.labels`.
    """

    name: str
    position: int


def require_documents(batch: SegmentBatch, label: DocumentLabel) -> None:
    """Checks that each segment of a batch has a document.

    Segments without a document have nothing in common. So null and the empty text are no names:
    a document with one of these names would join unrelated segments.

    Raises:
      InputError: the document of a segment is null, or has an empty name. The message is about
        the first such segment of the batch.
    """
    column = batch.labels[label.position]
    names = column.dictionary
    is_missing = pc.fill_null(pc.equal(names, pa.scalar("", names.type)), True)
    if not pc.any(is_missing).as_py() and not column.indices.null_count:
        return
    missing = pc.fill_null(is_missing.take(column.indices), True)
    rows = np.flatnonzero(missing.to_numpy(zero_copy_only=False))
    if not len(rows):  # other batches have the value
        return
    row = int(rows[0])
    place = f": {batch.label_places[label.position].of(row)}" if batch.label_places else ""
    raise InputError(
        f"{segment_name(batch, row)} has no document in {label.name}{place}",
        "each segment needs the name of its document; give a segment that belongs to none a "
        "document of its own",
    )
