"""Resampling: replicates of a corpus, whose scores show how much a score depends on the sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

ResamplingMethodName = Literal["bootstrap", "randomization"]

DEFAULT_SEED = 12345  # the seed of sacreBLEU, if SACREBLEU_SEED is not set
MOST_RESAMPLES = 100_000
"""A p-value is at least 1 / (MOST_RESAMPLES + 1). Memory grows with the number of replicates and
with that of systems: docs/significance.md has figures."""

LARGEST_SEED = 2**64 - 1


@dataclasses.dataclass(frozen=True)
class ResamplingMethod:
    """A row of `RESAMPLING_METHODS`, with the usual number of replicates, as in sacreBLEU."""

    name: ResamplingMethodName
    description: str
    resamples: int


RESAMPLING_METHODS: Mapping[ResamplingMethodName, ResamplingMethod] = table(
    ResamplingMethod(
        "bootstrap", "each unit is drawn a random number of times, by Poisson(1)", 1000
    ),
    ResamplingMethod(
        "randomization",
        "for each unit, a coin decides whether two systems swap their outputs",
        10000,
    ),
)


@dataclasses.dataclass(frozen=True)
class Resampling:
    """The replicates of a corpus, which follow only from the seed, their numbers and the units.

    A unit is named by the partition, and the number of the segment or the name of the document. All
    systems share its random numbers.
    """

    method: ResamplingMethodName
    resamples: int | None = None
    seed: int = DEFAULT_SEED
    partition: str = ""

    @property
    def number(self) -> int:
        return self.resamples or RESAMPLING_METHODS[self.method].resamples
