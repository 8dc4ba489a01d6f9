"""What is true of the replicates of every corpus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from beam_bleu.pipeline.saved.saved_totals import SavedMetric
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.totals.unit_facts import Fact

_LARGEST_WEIGHTS = {"bootstrap": 8, "randomization": 1}

_ENOUGH = 100
"""So many replicates of a bootstrap are not all smaller than the corpus: that is less probable
than 10^-13, even if the corpus has only one unit."""


def facts_of_replicates(metric: SavedMetric) -> Iterator[Fact]:
    """The replicates, compared with the sums."""
    replicates, kind = metric.totals.replicates, metric.kind
    if replicates is None:
        return
    own = metric.own
    method, sums = replicates.resampling.method, replicates.sums
    unweighted = replicates.unweighted[:, np.newaxis]
    for number, system in enumerate(replicates.systems):
        columns = replicates.unweighted[number].tolist()
        same = columns == list(own[system].columns)
        yield f"replicates: unweighted of {system}", same
        references = own[system].max_reference_count
        possible = kind.columns_are_possible(sums[number], references)
        yield f"replicates: sums of {system}", possible
    largest = _LARGEST_WEIGHTS[method]
    yield "replicates: sums", bool((sums <= largest * unweighted).all())
    of_references = sums[..., list(kind.basis_of(replicates.width).shared)]
    yield "replicates: sums of references", bool((of_references == of_references[:1]).all())
    segments = sums[0, :, SEGMENTS]
    is_coin = bool((segments <= unweighted[0, :, SEGMENTS]).all())
    is_drawn = len(segments) >= _ENOUGH and bool(unweighted[0, 0, SEGMENTS])
    yield "replicates: sums", method == "randomization" or not (is_drawn and is_coin)
