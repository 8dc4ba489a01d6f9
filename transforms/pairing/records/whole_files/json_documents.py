"""Files with a single JSON value: rows, or the rows of each system."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.pairing.records.whole_files.whole_file import decoded


def document(data: bytes) -> Any:
    try:
        return json.loads(decoded(data))
    except json.JSONDecodeError as error:
        hint = " (JSON lines are --input_format jsonl)" if error.msg == "Extra data" else ""
        raise pa.ArrowInvalid(f"line {error.lineno} is not JSON: {error.msg}{hint}") from error


def rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a list; or those of the lists of an object, whose keys are the systems, as
    comet-score --to_json writes it. Columns `system` and `segment` of the objects are kept.
    """
    value = document(data)
    if _is_rows(value):
        yield from value
    elif isinstance(value, dict) and all(map(_is_rows, value.values())) and all(value.values()):
        for system, of_system in value.items():
            for segment, row in enumerate(of_system):
                yield {"system": system, "segment": segment, **row}
    else:
        raise pa.ArrowInvalid(
            "it is neither a list of objects, nor an object with a list of objects for each system"
        )


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)
