"""The entries of a result document about a metric: of the whole corpus, and of slices."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL

Entry = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Item:
    """The entries of an item of --slice_by.

    Attributes:
      labels: the labels of the item.
      slices: for each slice, the values of its labels, and its entries by system.
    """

    labels: tuple[str, ...]
    slices: Sequence[tuple[tuple[str | None, ...], Mapping[str, Entry]]]


def of_whole(part: Entry) -> list[Entry]:
    """The scores of the whole corpus, system by system."""
    return [score for score in part["scores"] if score["slice"] is None]


def items_of(entries: Iterable[Entry]) -> Iterator[Item]:
    """The items of --slice_by to which the scores or comparisons of slices belong."""
    slices = [entry for entry in entries if entry["slice"] is not None]
    for labels, of_item in itertools.groupby(slices, key=lambda entry: tuple(entry["slice"])):
        by_slice = itertools.groupby(of_item, key=lambda entry: tuple(entry["slice"].values()))
        of_slices = [
            (values, {entry["system"]: entry for entry in of_slice})
            for values, of_slice in by_slice
        ]
        yield Item(labels, of_slices)


def is_significant(comparison: Entry) -> bool:
    """Whether a difference is significant, adjusted for the comparisons of its family."""
    p_value = comparison["p_value_holm"]
    return p_value is not None and p_value < SIGNIFICANCE_LEVEL
