"""Makes batches of single segments: each record has its own references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.columns import padded_column
from beam_bleu.transforms.native.memory import READ_AHEAD
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup, SegmentBatch

Segment = tuple[str, Sequence[str | None]]
"""(candidate, [reference, ...]); a reference that is None is missing."""

SegmentOfSystems = tuple[Mapping[str, str], Sequence[str | None]]
"""({name of a system: its candidate, ...}, [reference, ...])."""


def to_batch(segments: Sequence[Segment], groups: tuple[RowGroup, ...] = ALL_ROWS) -> SegmentBatch:
    """The segments of one system as a batch, in order.

    Args:
      segments: one or more segments; their numbers of references may differ.
      groups: which segments are added up together.

    Raises:
      InputError: a segment has another form, has no reference, or has text
        that UTF-8 cannot encode (a lone surrogate).
    """
    for segment in segments:
        _check(segment)
    references = [each for _, each in segments]
    return SegmentBatch(
        (_column([candidate for candidate, _ in segments]),),
        _reference_columns(references),
        groups=groups,
    )


def to_batch_of_systems(
    segments: Sequence[SegmentOfSystems],
    systems: tuple[str, ...],
    groups: tuple[RowGroup, ...] = ALL_ROWS,
) -> SegmentBatch:
    """The segments of several systems as a batch, in order.

    Args:
      segments: one or more segments; each one has a candidate of every system.
      systems: the systems' names.
      groups: which segments are added up together.

    Raises:
      InputError: a segment has another form, lacks a system or has another one, has no
        reference, or has text that UTF-8 cannot encode.
    """
    for segment in segments:
        _check_systems(segment, systems)
    references = [each for _, each in segments]
    return SegmentBatch(
        tuple(_column([candidates[name] for candidates, _ in segments]) for name in systems),
        _reference_columns(references),
        groups=groups,
        systems=systems,
    )


def _reference_columns(
    references: Sequence[Sequence[str | None]],
) -> tuple[pa.LargeStringArray, ...]:
    most = max(map(len, references))
    return tuple(
        _column([each[i] if i < len(each) else None for each in references]) for i in range(most)
    )


def _check_systems(segment: SegmentOfSystems, systems: tuple[str, ...]) -> None:
    form = "a segment is ({system: candidate, ...}, [reference, ...])"
    try:
        candidates, references = segment
    except (TypeError, ValueError):
        raise InputError(f"{form}, got {_shown(segment)}", "map the elements to it") from None
    if not isinstance(candidates, Mapping):
        raise InputError(f"the candidates must be a dict, got {_shown(candidates)}", form)
    for name in systems:
        if candidates.get(name) is None:
            raise InputError(
                f"a segment has no candidate of system {name}: {_shown(dict(candidates))}",
                "give the candidates of all systems, or leave the segment out for all of them",
            )
    for name, candidate in candidates.items():
        if name not in systems:
            raise InputError(
                f"a segment has a candidate of the unknown system {_shown(name)}",
                f"name it in `systems`, which has {', '.join(systems)}, or leave it out",
            )
        _check((candidate, references))


def _check(segment: Segment) -> None:
    form = "a segment is (candidate, [reference, ...])"
    try:
        candidate, references = segment
    except (TypeError, ValueError):
        raise InputError(f"{form}, got {_shown(segment)}", "map the elements to it") from None
    if not isinstance(candidate, str):
        raise InputError(f"the candidate must be a str, got {_shown(candidate)}", form)
    if isinstance(references, str) or not isinstance(references, Sequence):
        raise InputError(f"the references must be a list of str, got {_shown(references)}", form)
    for reference in references:
        if reference is not None and not isinstance(reference, str):
            raise InputError(f"a reference must be a str or None, got {_shown(reference)}", form)
    if all(reference is None for reference in references):
        raise InputError(
            f"the segment with the candidate {_shown(candidate)} has no reference",
            "give it one or more (an empty string is one), or leave the segment out",
        )


def _column(texts: Sequence[str | None]) -> pa.LargeStringArray:
    try:
        encoded = [b"" if text is None else text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise InputError(
            f"text that is not Unicode: {_shown(error.object)} has a lone surrogate "
            f"at {error.start}",
            "decode the text with its real encoding",
        ) from None
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    data = np.frombuffer(b"".join([*encoded, bytes(READ_AHEAD)]), np.uint8)
    nulls_of = pa.array(texts, pa.large_string()) if None in texts else None
    return padded_column(data, offsets, nulls_of)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
