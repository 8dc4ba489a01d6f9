"""Which labels of segments, and names of systems, are missing. All readers ask here."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def without_blanks(texts: pa.Array) -> pa.Array:
    """The texts, with null in place of each one that is empty or has only white space.

    Such a text names nothing, so segments that have it in common do not belong together.
    """
    is_blank = pc.equal(pc.utf8_trim_whitespace(texts), pa.scalar("", texts.type))
    return pc.if_else(is_blank, pa.scalar(None, texts.type), texts)


def label_column(texts: pa.Array) -> pa.DictionaryArray:
    """A column of `SegmentBatch.labels`: a segment whose text names nothing has a null."""
    column = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    values, indices = column.dictionary.cast(pa.string()), column.indices.cast(pa.int32())
    missing = without_blanks(values).is_null()
    if pc.any(missing).as_py():
        indices = pc.if_else(missing.take(indices), pa.scalar(None, pa.int32()), indices)
    return pa.DictionaryArray.from_arrays(indices, values.fill_null(""))
