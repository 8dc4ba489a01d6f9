"""Makes batches of segments that a pipeline already has, as elements or as rows with fields."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup, SegmentBatch
from beam_bleu.transforms.pairing.canonical import lengths, row_parts, spread

# A reference that is None is missing. Not a tuple, which would look like a segment with a key.
References = list[str] | list[str | None]

Segment = tuple[str, References]  # (candidate, [reference, ...])

SegmentOfSystems = tuple[Mapping[str, str], References]

_PLACES = "give segments to Globally, (key, segment) to PerKey, both to SegmentScores"

# With 2,048, adding up a batch that has a hundred keys takes several times as long as counting.
_BATCH_SEGMENTS = 16384

_BATCH_CHARACTERS = 1 << 22


class GatheredSegments:
    """Segments that wait for their batch, of one system if there are no `systems`. Only their texts
    are kept: Python's garbage collector would look at tuples and lists again and again.
    """

    def __init__(self, systems: tuple[str, ...] | None = None) -> None:
        self._systems = systems
        self._candidates: list[list[str]] = [[] for _ in systems or [""]]
        self._references: list[str | None] = []
        self._reference_counts: list[int] = []
        self._characters = 0  # of all texts, with one more for each

    @property
    def is_full(self) -> bool:
        return (
            len(self._reference_counts) >= _BATCH_SEGMENTS or self._characters >= _BATCH_CHARACTERS
        )

    def add(self, segment: Any) -> None:
        texts, references, characters = _checked(segment, self._systems)
        for column, text in zip(self._candidates, texts, strict=True):
            column.append(text)
        self._characters += characters
        self._references += references
        self._reference_counts.append(len(references))

    def batches(
        self, numbers: Integers | None = None, groups: Sequence[tuple[Any, ...]] = ()
    ) -> Iterator[SegmentBatch]:
        ends = np.cumsum([0, *self._reference_counts])
        references = pa.LargeListArray.from_arrays(ends, _column(self._references))
        candidates = [*map(_column, self._candidates)]
        of_parts = column_batches(candidates, [references], self._systems or (), numbers, groups)
        return (batch for _, batch in of_parts)


def column_batches(
    candidates: Sequence[pa.LargeStringArray],
    references: Sequence[pa.Array],
    systems: tuple[str, ...] = (),
    numbers: Integers | None = None,
    groups: Sequence[tuple[Any, ...]] = (),
) -> Iterator[tuple[slice, SegmentBatch]]:
    """One batch and its rows, or several if references would make too many columns. `numbers`, int
    (rows,), are the groups of rows, which become neighbours; `groups` have keys, and perhaps
    windows and timestamps.
    """
    for rows in row_parts(len(candidates[0]), len(candidates), [*map(lengths, references)]):
        columns = [column[rows] for column in candidates]
        columns += (text for column in references for text in spread(column[rows]))
        row_groups: tuple[RowGroup, ...] = ALL_ROWS
        if numbers is not None:
            of_rows = numbers[rows]
            if np.any(np.diff(of_rows) < 0):
                # Numbers of 16 bits are sorted much faster.
                order = np.argsort(of_rows.astype(np.uint16), kind="stable")
                of_rows = of_rows[order]
                columns = [column.take(pa.array(order)) for column in columns]
            starts = [0, *(np.flatnonzero(np.diff(of_rows)) + 1).tolist(), len(of_rows)]
            row_groups = tuple(
                RowGroup(start, stop, *groups[of_rows[start]])
                for start, stop in itertools.pairwise(starts)
            )
        columns = [*map(padded, columns)]
        count = len(candidates)
        batch = SegmentBatch(
            tuple(columns[:count]), tuple(columns[count:]), groups=row_groups, systems=systems
        )
        yield rows, batch


def to_batch(
    segments: Sequence[Segment | SegmentOfSystems], systems: tuple[str, ...] | None = None
) -> SegmentBatch:
    gathered = GatheredSegments(systems)
    for segment in segments:
        gathered.add(segment)
    (batch,) = gathered.batches()
    return batch


def require_distinct(candidates: Sequence[str], references: Sequence[str], kind: str) -> None:
    """Checks that no column or field has two uses: a candidate that is its reference gets 100."""
    for place, name in enumerate(names := [*candidates, *references]):
        if name in names[:place]:
            both = name in candidates and name in references
            raise ValueError(
                f"the {kind} {name!r} is given "
                + ("as a candidate and as a reference" if both else "twice")
            )


def key_or_itself(element: Any) -> tuple[Any, Any]:
    """The key and the segment of an element; a segment without a key is its own key."""
    key, second = pair_of(element, _EITHER_FORM)
    return (key, second) if isinstance(second, tuple) else (element, element)


_EITHER_FORM = "an element is (candidate, [reference, ...]) or (key, (candidate, [reference, ...]))"


def _checked(
    segment: Any, systems: tuple[str, ...] | None
) -> tuple[Sequence[str], References, int]:
    """The candidates and references of a segment, and how many characters and texts they have."""
    if systems is None:
        form = "a segment is (candidate, [reference, ...])"
        candidate, references = pair_of(segment, form)
        candidates: Sequence[str] = (candidate,)
    else:
        form = "a segment is ({system: candidate, ...}, [reference, ...])"
        named, references = pair_of(segment, form)
        if not isinstance(named, Mapping) or {*named} != {*systems}:
            must_be = f"the candidates must be a dict with those of {', '.join(systems)}"
            raise _other_form(must_be, named, form)
        candidates = [named[name] for name in systems]
    characters = 0
    for candidate in candidates:
        if not isinstance(candidate, str):
            raise _other_form("the candidate must be a str", candidate, form)
        characters += len(candidate) + 1
    # A tuple could hold references, or be the segment of a key: "x" against two references in ("x",
    # ("a candidate", "its reference")) would be a plausible score.
    if not isinstance(references, list):
        raise _other_form("the references must be a list of str", references, form)
    is_missing = True
    for reference in references:
        characters += 1
        if isinstance(reference, str):
            characters += len(reference)
            is_missing = False
        elif reference is not None:
            raise _other_form("a reference must be a str or None", reference, form)
    if is_missing:
        what = f"the segment with the candidate {shortened(candidates[0])} has no reference"
        raise InputError(what, "give it one (perhaps an empty string), or leave the segment out")
    return candidates, references, characters


def pair_of(segment: Any, form: str) -> tuple[Any, Any]:
    try:
        first, second = segment
    except (TypeError, ValueError):
        raise InputError(f"{form}, got {shortened(segment)}", _PLACES) from None
    return first, second


def _other_form(must_be: str, value: object, form: str) -> InputError:
    return InputError(
        f"{must_be}, got {shortened(value)}, of type {type(value).__name__}", f"{form}: {_PLACES}"
    )


def _column(texts: Sequence[str | None]) -> pa.LargeStringArray:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as error:
        what = f"not Unicode text: {shortened(error.object)} has a lone surrogate at {error.start}"
        raise InputError(what, "decode the text with its real encoding") from None


def shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


_TEXT = (str, str | None)  # the types of a field with a text


@dataclasses.dataclass(frozen=True)
class RowFields:
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
        lists = [self.references] if isinstance(self.references, str) else []
        texts = [self.candidate, *(() if lists else self.references)]
        for name in (*texts, *lists, *self.group_by):
            if name not in types:
                raise ValueError(f"the rows have no field {name!r}; they have {', '.join(types)}")
            if name in texts and types[name] not in (*_TEXT, Any):
                raise ValueError(f"the field {name!r} must be a text, but it is {types[name]}")
            if name in lists and types[name] in _TEXT:
                raise ValueError(
                    f"the field {name!r} must be a list of texts, but it is one text; for fields "
                    "with one reference each, list them: references: [reference_a, reference_b]"
                )

    def segment_of(self, row: Any) -> tuple[tuple[Any, ...], Segment]:
        if isinstance(self.references, str):
            references = getattr(row, self.references)
            if isinstance(references, tuple):  # in a field with a name, it is not a keyed segment
                references = [*references]
        else:
            references = [getattr(row, name) for name in self.references]
        key = tuple(getattr(row, name) for name in self.group_by)
        return key, (getattr(row, self.candidate), references)


def _names(key: str, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} must be the name of a field or a list of names, got {value!r}")
    return tuple(names)
