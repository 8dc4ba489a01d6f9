"""Pairing of rows: the fields of a record with a candidate and its references."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from beam_bleu.transforms.pairing.segments.batching import Segment, require_distinct

_TEXT = (str, str | None)
"""The types of a field with a text."""


@dataclasses.dataclass(frozen=True)
class RowFields:
    """The fields of a row that are read; `references` is a str for one field with a list."""

    candidate: str
    references: str | tuple[str, ...]
    group_by: tuple[str, ...]

    @classmethod
    def of(
        cls, candidate: Any, references: Any, group_by: Any, taken: Collection[str]
    ) -> RowFields:
        """The fields that a configuration names. The rows of scores have those `taken`, too."""
        if not isinstance(candidate, str):
            raise ValueError(f"candidate must be the name of a field, got {candidate!r}")
        named = _names("references", references)
        if not named:
            raise ValueError("references must be the names of one field or more, got none")
        require_distinct([candidate], named, "field")
        keys = _names("group_by", () if group_by is None else group_by)
        for place, name in enumerate(keys):
            if name in taken or name in keys[:place]:
                raise ValueError(
                    f"group_by {', '.join(keys)} would give the rows of scores two fields "
                    f"{name!r}; they also have {', '.join(taken)}"
                )
        return cls(candidate, references if isinstance(references, str) else named, keys)

    def check(self, types: Mapping[str, Any]) -> None:
        """Checks the fields of all rows by their types."""
        lists = [self.references] if isinstance(self.references, str) else []
        texts = [self.candidate, *(() if lists else self.references)]
        for name in (*texts, *lists, *self.group_by):
            if name not in types:
                raise ValueError(f"the rows have no field {name!r}; they have {', '.join(types)}")
            if name in texts and types[name] not in (*_TEXT, Any):
                raise ValueError(f"the field {name!r} must be a text, but it is {types[name]}")
            if name in lists and types[name] in _TEXT:
                raise ValueError(
                    f"the field {name!r} must be a list of texts, but it is one text (ReadFromJson "
                    "turns a list into one text); for fields with one reference each, list them: "
                    "references: [reference_a, reference_b]"
                )

    def segment_of(self, row: Any) -> tuple[tuple[Any, ...], Segment]:
        """A row's segment, with the values of its group."""
        if isinstance(self.references, str):
            references = getattr(row, self.references)
            if isinstance(references, tuple):  # in a field with a name, it is not a keyed segment
                references = [*references]
        else:
            references = [getattr(row, name) for name in self.references]
        key = tuple(getattr(row, name) for name in self.group_by)
        return key, (getattr(row, self.candidate), references)


def _names(key: str, value: Any) -> tuple[str, ...]:
    """The names in a configuration, which can be one name or a list."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} must be the name of a field or a list of names, got {value!r}")
    return tuple(names)
