"""Makes batches of single segments: each record has its own references."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup, SegmentBatch
from beam_bleu.transforms.pairing.canonical import spread

References = list[str] | list[str | None]
"""[reference, ...]; one that is None is missing. A tuple would look like a segment with a key."""

Segment = tuple[str, References]
"""(candidate, [reference, ...])."""

SegmentOfSystems = tuple[Mapping[str, str], References]
"""({name of a system: its candidate, ...}, [reference, ...])."""

SEGMENT_PLACES = (
    "give segments to Globally, and (key, segment) to PerKey and SumSegments"
    "; SegmentScores takes both"
)
"""The remedy for elements of another form: perhaps the other transform was meant."""


class GatheredSegments:
    """Segments that wait for their batch. Mutable.

    It keeps their texts and not the elements. If many tuples and lists are kept, Python's garbage
    collector looks at them again and again, which takes longer than all else that is done here.

    Args:
      systems: the systems' names, if each segment has a candidate of every one; None if each
        segment is `(candidate, references)` of one system.
      most_texts: the largest number of texts of the batch, missing ones included, if it has more
        than one row; None if it is not limited.

    Attributes:
      most_rows: how many rows the batch may have, if no segment has more references than now.
      characters: the number of characters of the texts.
    """

    def __init__(
        self, systems: tuple[str, ...] | None = None, most_texts: int | None = None
    ) -> None:
        self._systems = systems
        self._most_texts = sys.maxsize if most_texts is None else most_texts
        self._candidates: list[list[str]] = [[] for _ in systems or [""]]
        self._references: list[str | None] = []
        self._reference_counts: list[int] = []
        self._most_references = 0
        self.most_rows = self._most_texts
        self.characters = 0

    def __len__(self) -> int:
        return len(self._reference_counts)

    def add(self, segment: Any) -> bool:
        """Adds a `Segment` or, with several systems, a `SegmentOfSystems`, if it fits.

        Returns:
          Whether it was added. The first segment always is.

        Raises:
          InputError: it has another form, lacks a system or has another one, or has no reference.
        """
        texts, references, characters = _checked(segment, self._systems)
        count = len(references)
        if count > self._most_references:
            most_rows = self._most_texts // (len(texts) + count)
            if 0 < len(self._reference_counts) >= most_rows:
                return False
            self._most_references, self.most_rows = count, most_rows
        for column, text in zip(self._candidates, texts, strict=True):
            column.append(text)
        self.characters += characters
        self._references += references
        self._reference_counts.append(count)
        return True

    def batch(
        self, groups: tuple[RowGroup, ...] = ALL_ROWS, order: Integers | None = None
    ) -> SegmentBatch:
        """The segments as a batch.

        Args:
          groups: which rows are added up together.
          order: the segment of each row, int64 (rows,); by default they are in order.

        Raises:
          InputError: UTF-8 cannot encode a text (a lone surrogate).
        """
        ends = np.cumsum([0, *self._reference_counts])
        lists = pa.LargeListArray.from_arrays(ends, _column(self._references))
        columns = [*map(_column, self._candidates), *spread(lists)]
        if order is not None:
            rows = pa.array(order)
            columns = [column.take(rows) for column in columns]
        columns = [padded(column) for column in columns]
        systems = len(self._candidates)
        return SegmentBatch(
            tuple(columns[:systems]),
            tuple(columns[systems:]),
            groups=groups,
            systems=self._systems or (),
        )


def to_batch(
    segments: Sequence[Segment | SegmentOfSystems], systems: tuple[str, ...] | None = None
) -> SegmentBatch:
    """Segments as a batch, in order.

    Args:
      segments: one or more segments; their numbers of references may differ.
      systems: as for `GatheredSegments`.

    Raises:
      InputError: a segment has another form, lacks a system or has another one, has no
        reference, or has text that UTF-8 cannot encode (a lone surrogate).
    """
    gathered = GatheredSegments(systems)
    for segment in segments:
        gathered.add(segment)
    return gathered.batch()


def require_distinct(candidates: Sequence[str], references: Sequence[str], kind: str) -> None:
    """Checks that no text has two uses. A candidate that is its own reference would get 100.

    Args:
      candidates: the names of the columns or fields of candidates.
      references: those of references.
      kind: "column" or "field", for the message.

    Raises:
      ValueError: a name is there twice.
    """
    for place, name in enumerate(names := [*candidates, *references]):
        if name in names[:place]:
            both = name in candidates and name in references
            raise ValueError(
                f"the {kind} {name!r} is given "
                + ("as a candidate and as a reference" if both else "twice")
            )


def key_and_segment(element: Any) -> tuple[Any, Any]:
    """The parts of an element with a key.

    Raises:
      InputError: it has another form.
    """
    return _pair(element, "an element is (key, segment)")


def key_or_itself(element: Any) -> tuple[Any, Any]:
    """The key and the segment of an element. A segment without a key is its own key.

    The second part of a segment is a list, and that of a keyed segment is a tuple.

    Raises:
      InputError: it has another form.
    """
    key, second = _pair(element, _EITHER_FORM)
    return (key, second) if isinstance(second, tuple) else (element, element)


_EITHER_FORM = "an element is (candidate, [reference, ...]) or (key, (candidate, [reference, ...]))"


def _checked(
    segment: Any, systems: tuple[str, ...] | None
) -> tuple[Sequence[str], References, int]:
    """The candidates and references of a segment, and the number of their characters."""
    if systems is None:
        form = "a segment is (candidate, [reference, ...])"
        candidate, references = _pair(segment, form)
        candidates: Sequence[str] = (candidate,)
    else:
        form = "a segment is ({system: candidate, ...}, [reference, ...])"
        named, references = _pair(segment, form)
        if not isinstance(named, Mapping) or len(named) != len(systems) or {*named} != {*systems}:
            raise InputError(
                f"the candidates must be a dict with those of {', '.join(systems)}, got "
                f"{_shown(named)}",
                f"{form}: {SEGMENT_PLACES}",
            )
        candidates = [named[name] for name in systems]
    characters = 0
    for candidate in candidates:
        if not isinstance(candidate, str):
            raise InputError(
                f"the candidate must be a str, got {_shown(candidate)}", f"{form}: {SEGMENT_PLACES}"
            )
        characters += len(candidate)
    # A tuple could hold references, or be the segment of a key: "x" against two references in ("x",
    # ("a candidate", "its reference")) would be a plausible score.
    if not isinstance(references, list):
        raise InputError(
            f"the references must be a list of str, got {_shown(references)}, "
            f"of type {type(references).__name__}",
            f"{form}: {SEGMENT_PLACES}",
        )
    is_missing = True
    for reference in references:
        if isinstance(reference, str):
            characters += len(reference)
            is_missing = False
        elif reference is not None:
            raise InputError(f"a reference must be a str or None, got {_shown(reference)}", form)
    if is_missing:
        raise InputError(
            f"the segment with the candidate {_shown(candidates[0])} has no reference",
            "give it one or more (an empty string is one), or leave the segment out",
        )
    return candidates, references, characters


def _pair(segment: Any, form: str) -> tuple[Any, Any]:
    """The two parts of a segment."""
    try:
        first, second = segment
    except (TypeError, ValueError):
        raise InputError(f"{form}, got {_shown(segment)}", SEGMENT_PLACES) from None
    return first, second


def _column(texts: Sequence[str | None]) -> pa.LargeStringArray:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as error:
        raise InputError(
            f"text that is not Unicode: {_shown(error.object)} has a lone surrogate "
            f"at {error.start}",
            "decode the text with its real encoding",
        ) from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
