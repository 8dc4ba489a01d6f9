"""What is true of the moments and of the replicates of every corpus.

Moments are its sums of units, and the sums of their products.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from beam_bleu.pipeline.saved.saved_totals import SavedMetric
from beam_bleu.pipeline.saved.sums_facts import has_all_segments
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.totals.moments.moments import Moments, Pair, sorted_keys
from beam_bleu.transforms.totals.replicates.generator import LARGEST_WEIGHT
from beam_bleu.transforms.totals.unit_sums import (
    Fact,
    is_bounded,
    unpacked,
)

_LARGEST_WEIGHTS = {"bootstrap": LARGEST_WEIGHT, "randomization": 1}

_ENOUGH = 100
"""So many replicates of a bootstrap are not all smaller than the corpus: that is less probable
than 10^-13, even if the corpus has only one unit."""


def facts_of_moments(metric: SavedMetric) -> Iterator[Fact]:
    """The moments, compared with the sums and with each other."""
    moments = metric.totals.moments
    if moments is None:
        return
    yield from _names(metric, moments)
    yield from _units(metric, moments)
    yield from _sums(metric, moments)
    yield from _own_and_common(moments)
    yield from _products(metric, moments)
    yield from _crosses(metric, moments)
    yield from _slices_of_items(metric, moments)


def _has_units_of_segments(metric: SavedMetric) -> bool:
    return metric.saved.evidence.documents is None


def _names(metric: SavedMetric, moments: Moments) -> Iterator[Fact]:
    """Which systems, groups and pairs there are."""
    own = metric.own
    used = sorted(system for system, sums in own.items() if sums.segments)
    yield "moments: systems", list(moments.systems) == used
    slices = metric.totals.slices
    keys = sorted_keys([None, *(() if slices is None else slices.keys)])
    has_slices = metric.saved.evidence.uncertainty or len(moments.keys) > 1
    yield "moments: keys", moments.keys == (keys if has_slices else (None,))
    yield "moments: width", moments.width == len(next(iter(own.values())).columns)
    for name, pairs in (("pairs", moments.pairs), ("slice_pairs", moments.slice_pairs)):
        yield f"moments: {name}", pairs == tuple(sorted({*pairs}))
        yield (
            f"moments: {name}",
            all(0 <= one < other < len(moments.systems) for one, other in pairs),
        )
    if metric.saved.evidence.uncertainty and moments.units:
        of_corpus, of_slices = _needed_pairs(metric, moments)
        yield "moments: pairs", of_corpus <= {*moments.pairs}
        yield "moments: slice_pairs", len(moments.keys) == 1 or of_slices <= {*moments.slice_pairs}


def _needed_pairs(metric: SavedMetric, moments: Moments) -> tuple[set[Pair], set[Pair]]:
    """The pairs of systems that are compared, on the whole corpus and on slices."""
    place = {system: number for number, system in enumerate(moments.systems)}
    baseline = metric.saved.evidence.baseline_of(metric.saved.totals.systems)
    needed: tuple[set[Pair], set[Pair]] = (set(), set())
    for system, other in metric.saved.evidence.compared(metric.saved.totals.systems):
        if system in place and other in place:
            pair = (min(place[system], place[other]), max(place[system], place[other]))
            needed[0].add(pair)
            if other == baseline:
                needed[1].add(pair)
    return needed


def _units(metric: SavedMetric, moments: Moments) -> Iterator[Fact]:
    """The numbers of units."""
    for name, units, sums in (
        ("own_units", moments.own_units, moments.own_sums),
        ("common_units", moments.common_units[:, np.newaxis], moments.common_sums),
    ):
        segments = sums[..., SEGMENTS]
        yield f"moments: {name}", bool((units >= 0).all())
        if _has_units_of_segments(metric):
            yield f"moments: {name}", bool((units == segments).all())
        else:
            yield (
                f"moments: {name}",
                bool(((units <= segments) & ((units > 0) | (segments == 0))).all()),
            )
    least = moments.own_units.min(axis=1, initial=np.iinfo(np.int64).max)
    yield "moments: common_units", bool((moments.common_units <= least).all())
    if not moments.systems:
        yield "moments: common_units", not moments.common_units.any()


def _sums(metric: SavedMetric, moments: Moments) -> Iterator[Fact]:
    """The sums of units are those from which the scores are computed."""
    own, slices = metric.own, metric.totals.slices
    zero = [0] * moments.width
    for number, system in enumerate(moments.systems):
        of_slices = {} if slices is None else slices.columns_of_system(system)
        of_keys = [
            list(own[system].columns) if key is None else of_slices.get(key, zero)
            for key in moments.keys
        ]
        yield f"moments: own_sums of {system}", moments.own_sums[:, number].tolist() == of_keys
        for name, sums in (("own", moments.own_sums), ("common", moments.common_sums)):
            references = own[system].max_reference_count
            possible = metric.kind.columns_are_possible(
                sums[:, number], references, metric.scorings.corpus
            )
            yield f"moments: {name}_sums of {system}", possible


def _own_and_common(moments: Moments) -> Iterator[Fact]:
    """The segments of common units are some of a system's own ones, or all of them."""
    all_common = moments.own_sums[..., SEGMENTS] == moments.common_sums[..., SEGMENTS]
    units = moments.common_units[:, np.newaxis]
    yield "moments: common_units", bool((moments.own_units == units)[all_common].all())
    for name in ("sums", "products"):
        own, common = getattr(moments, f"own_{name}"), getattr(moments, f"common_{name}")
        yield f"moments: common_{name}", bool((common <= own).all())
        yield f"moments: common_{name}", bool((common == own)[all_common].all())


def _products(metric: SavedMetric, moments: Moments) -> Iterator[Fact]:
    """The sums of products of the columns of one system."""
    own = metric.own
    for name in ("own", "common"):
        sums = getattr(moments, f"{name}_sums")
        packed = getattr(moments, f"{name}_products")
        units = getattr(moments, f"{name}_units")
        if name == "common":
            units = np.broadcast_to(units[:, np.newaxis], sums.shape[:2])
        for number, system in enumerate(moments.systems):
            is_possible = metric.kind.products_are_possible(
                *(units[:, number], sums[:, number], packed[:, number]),
                own[system].max_reference_count,
                metric.scorings.corpus,
                are_segments=_has_units_of_segments(metric),
            )
            yield f"moments: {name}_products", is_possible


def _crosses(metric: SavedMetric, moments: Moments) -> Iterator[Fact]:
    """The sums of products of the columns of two systems."""
    shared = list(metric.kind.basis_of(moments.width).shared)
    own = metric.own
    references = [own[system].max_reference_count for system in moments.systems]
    if moments.systems:
        # The columns of references are the same, because the segments are the same.
        of_references = moments.common_sums[..., shared]
        yield "moments: common_sums", bool((of_references == of_references[:, :1]).all())
    full = unpacked(moments.common_products, moments.width)
    squares = np.diagonal(full, axis1=-2, axis2=-1)
    for name, pairs, groups, crosses in (
        ("cross_products", moments.pairs, slice(0, 1), moments.cross_products[np.newaxis]),
        (
            "slice_cross_products",
            moments.slice_pairs,
            slice(1, None),
            moments.slice_cross_products,
        ),
    ):
        what, units, sums = f"moments: {name}", moments.common_units[groups], moments.common_sums
        for number, (one, other) in enumerate(pairs):
            cross = crosses[:, number]
            for products, of in ((cross, other), (cross.swapaxes(1, 2), one)):
                possible = metric.kind.columns_are_possible(
                    products, references[of], metric.scorings.corpus
                )
                yield what, possible
            yield (
                what,
                is_bounded(
                    units,
                    *(sums[groups, one], sums[groups, other]),
                    *(squares[groups, one], squares[groups, other]),
                    cross,
                ),
            )
            yield what, bool((cross[..., shared] == full[groups, one][..., shared]).all())
            same = cross[..., shared, :] == full[groups, other][..., shared, :]
            yield what, bool(same.all())


def _slices_of_items(metric: SavedMetric, moments: Moments) -> Iterator[Fact]:
    """The slices of an item add up to the corpus."""
    if len(moments.keys) == 1:
        return
    items = np.array([-1 if key is None else key.item for key in moments.keys])
    names = ["own_sums"]
    if has_all_segments(metric.saved):
        names.append("common_sums")
    if _has_units_of_segments(metric):
        # A document can have segments in several slices.
        names += ["own_units", "own_products", "common_units", "common_sums", "common_products"]
    for item in range(len(metric.saved.slicing.items)):
        for name in names:
            values = getattr(moments, name)
            added = values[items == item].sum(axis=0)
            yield f"moments: {name} of slices", bool((added == values[0]).all())
        if _has_units_of_segments(metric):
            of_slices = moments.slice_cross_products[items[1:] == item].sum(axis=0)
            for number, pair in enumerate(moments.slice_pairs):
                if pair in moments.pairs:
                    whole = moments.cross_products[moments.pairs.index(pair)]
                    same = bool((of_slices[number] == whole).all())
                    yield "moments: slice_cross_products", same


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
        possible = kind.columns_are_possible(sums[number], references, metric.scorings.corpus)
        yield f"replicates: sums of {system}", possible
    largest = _LARGEST_WEIGHTS[method]
    yield "replicates: sums", bool((sums <= largest * unweighted).all())
    of_references = sums[..., list(kind.basis_of(replicates.width).shared)]
    yield "replicates: sums of references", bool((of_references == of_references[:1]).all())
    segments = sums[0, :, SEGMENTS]
    is_coin = bool((segments <= unweighted[0, :, SEGMENTS]).all())
    is_drawn = len(segments) >= _ENOUGH and bool(unweighted[0, 0, SEGMENTS])
    yield "replicates: sums", method == "randomization" or not (is_drawn and is_coin)
