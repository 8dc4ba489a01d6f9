"""The kinds of sums that batches are added up to: the corpus, slices, moments, replicates, ..."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.unit_adder import MomentsAdder, compile_moments
from beam_bleu.transforms.totals.replicates.replicate_adder import (
    ReplicateAdder,
    compile_replicate_adder,
)
from beam_bleu.transforms.totals.slice_adder import CorpusAdder, SliceAdder, compile_slice_adder
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.wiring.sums import Sums


class Adder(Protocol):
    """Adds up batches. Mutable."""

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""

    def by_system(self) -> Mapping[str, Sums]:
        """The sums of all batches, by system; by `ALL_SYSTEMS` if they are those of all."""


@dataclasses.dataclass(frozen=True)
class Adding:
    """How batches are added up to sums of one kind. It is sent to workers.

    Attributes:
      new_adder: returns an adder without batches.
      compile_adder: compiles its code, or loads it.
    """

    new_adder: Callable[[], Adder]
    compile_adder: Callable[[], None]


def of_corpus(basis: Basis) -> Adding:
    """The `CorpusSums` of each system.

    Args:
      basis: the columns of the metric.
    """
    return Adding(functools.partial(CorpusAdder, basis.width), compile_slice_adder)


def of_slices(slicing: Slicing, labels: Sequence[str], basis: Basis) -> Adding:
    """The `SliceSums`. If there are too many slices, whoever has all sums finds it.

    Args:
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
    """
    new_adder = functools.partial(_slice_adder, slicing, tuple(labels), basis.width)
    return Adding(new_adder, compile_slice_adder)


def _slice_adder(slicing: Slicing, labels: tuple[str, ...], width: int) -> SliceAdder:
    return SliceAdder(SliceNumbering(slicing, labels), width, slicing.most)


def of_moments(
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    *,
    baseline: str | None = None,
    with_all_pairs: bool = False,
) -> Adding:
    """The `Moments`; each segment is a unit.

    If there are too many slices, only the whole corpus is kept, so that the memory is bounded. The
    job fails then, because the last step sees in the sums of slices that there are too many.

    Args:
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
    """
    new_adder = functools.partial(
        MomentsAdder, slicing, tuple(labels), basis, baseline, with_all_pairs=with_all_pairs
    )
    return Adding(new_adder, compile_moments)


def of_replicates(
    resampling: Resampling, labels: Sequence[str], basis: Basis, *, documents: str | None = None
) -> Adding:
    """The `Replicates`. All batches have the same systems.

    Args:
      resampling: the replicates.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      documents: the label with the document of each segment; None if each segment is a unit.
    """
    new_adder = functools.partial(ReplicateAdder, resampling, tuple(labels), basis, documents)
    return Adding(new_adder, compile_replicate_adder)
