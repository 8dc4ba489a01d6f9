"""What is true of the sums of every corpus, and of its slices."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from beam_bleu.pipeline.saved.saved_totals import SavedMetric, SavedTotals
from beam_bleu.transforms.definition.slicing import LENGTH, SliceKey, Slicing
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.slice_sums import SliceSums
from beam_bleu.transforms.totals.unit_facts import Fact


def facts_of_sums(metric: SavedMetric) -> Iterator[Fact]:
    """The sums of each system, and what systems and ways to make tokens have in common."""
    saved = metric.saved
    for text, of_systems in metric.totals.sums.items():
        for system, sums in of_systems.items():
            name = f"sums of {system} ({text.label})"
            yield from _facts_of_sums(name, sums, metric.kind)
            yield name, sums.segments == saved.totals.scored[system]
            yield name, _of_text(sums) == _of_text(metric.own[system])
            yield name, _of_text(sums) == _of_text(saved.metrics[0].own[system])
        if has_all_segments(saved):
            of_references = {_of_references(each, metric.kind) for each in of_systems.values()}
            yield f"sums ({text.label}): the references of the systems", len(of_references) == 1


def has_all_segments(saved: SavedTotals) -> bool:
    """Whether each system has all segments that are scored."""
    return not any(saved.totals.tally.missing.values())


def _of_text(sums: CorpusSums) -> tuple[object, ...]:
    """What does not depend on the tokens."""
    return (
        sums.segments,
        sums.min_reference_count,
        sums.max_reference_count,
        sums.candidate_bytes,
        sums.reference_bytes,
        sums.signs,
    )


def _of_references(sums: CorpusSums, kind: MetricKind) -> tuple[object, ...]:
    """What does not depend on the candidates."""
    basis, signs = kind.basis_of(len(sums.columns)), sums.signs
    return (
        sums.min_reference_count,
        sums.max_reference_count,
        sums.reference_bytes,
        *(sums.columns[column] for column in basis.shared),
        *(signs.given, signs.reference_returns),
    )


def _facts_of_sums(name: str, sums: CorpusSums, kind: MetricKind) -> Iterator[Fact]:
    segments = sums.segments
    if not segments:
        yield name, sums == CorpusSums.zero(len(sums.columns))
        return
    columns = np.array(sums.columns, object)
    yield name, kind.columns_are_possible(columns, sums.max_reference_count)
    fewest, most = sums.min_reference_count, sums.max_reference_count
    yield f"{name}: reference counts", 1 <= fewest <= most and (segments > 1 or fewest == most)
    signs, given = sums.signs, sum(sums.signs.given)
    yield f"{name}: signs", max(signs.tokenized, signs.candidate_returns) <= segments
    yield f"{name}: signs", all(0 <= each <= segments for each in signs.given)
    yield f"{name}: signs", signs.given[-1] > 0 and len(signs.given) >= most
    yield f"{name}: signs", fewest * segments <= given <= most * segments
    for each in (signs.identical, signs.reference_returns):
        yield f"{name}: signs", len(each) == len(signs.given)
        yield f"{name}: signs", all(a <= b for a, b in zip(each, signs.given, strict=True))
    yield f"{name}: signs", signs.candidate_returns <= sums.candidate_bytes
    yield f"{name}: signs", 2 * signs.tokenized <= sums.candidate_bytes
    yield f"{name}: signs", sum(signs.reference_returns) <= sums.reference_bytes


def facts_of_slices(metric: SavedMetric) -> Iterator[Fact]:
    """The slices of each item, which divide the corpus."""
    saved, slices = metric.saved, metric.totals.slices
    slicing = saved.slicing
    if slices is None:
        return
    yield "slices: the number of keys", len(slices.keys) <= slicing.most
    yield from _facts_of_places(slices)
    systems = saved.totals.systems
    for system in systems:
        of_keys = slices.of_system(system)
        whole = metric.own[system]
        of_items: dict[int, dict[SliceKey, CorpusSums]] = {}
        for key, sums in of_keys.items():
            of_items.setdefault(key.item, {})[key] = sums
            name = f"slices: sums of {system} in {key.values}"
            yield from _facts_of_sums(name, sums, metric.kind)
            yield f"{name}: the range of lengths", _is_in_range(slicing, key, sums, metric.kind)
        for item in range(len(slicing.items)):
            name = f"slices: sums of {system} in all slices of {slicing.name_of_item(item)}"
            yield name, slices.of_item(system, item) == whole
        for coarse, fine in itertools.permutations(range(len(slicing.items)), 2):
            if {*slicing.items[coarse]} < {*slicing.items[fine]}:
                added = _added(slicing, coarse, of_items.get(fine, {}))
                yield (
                    f"slices: sums of {system} in {slicing.name_of_item(fine)}",
                    added == of_items.get(coarse, {}),
                )


def _facts_of_places(slices: SliceSums) -> Iterator[Fact]:
    """The sums by the number of references, and by the place of a reference."""
    segments, given, *found = slices.by_reference.swapaxes(0, 1)
    yield "slices: by_reference", bool((slices.by_reference >= 0).all())
    yield "slices: by_reference", all(bool((each <= given).all()) for each in found)
    up_to = np.pad(np.cumsum(segments, axis=1), ((0, 0), (1, 0)))
    of_slices = up_to[:, slices.offsets[1:]] - up_to[:, slices.offsets[:-1]]
    yield "slices: sums", bool((of_slices == slices.sums[..., SEGMENTS].T).all())
    arranged = slices.arranged(slices.keys, slices.systems)
    yield "slices: offsets", bool((arranged.offsets == slices.offsets).all())


def _is_in_range(slicing: Slicing, key: SliceKey, sums: CorpusSums, kind: MetricKind) -> bool:
    """Whether the references of a slice are as long as its key says."""
    item = slicing.items[key.item]
    if LENGTH not in item:
        return True
    number = key.values[item.index(LENGTH)]
    assert isinstance(number, int)
    edges = (0, *slicing.length_edges)
    average = kind.average_length(sums.columns)
    if average is None:
        return True
    segments = sums.segments
    # The length of a segment is its average, rounded down.
    return edges[number] * segments <= average and (
        number + 1 == len(edges) or average < edges[number + 1] * segments
    )


def _added(
    slicing: Slicing, coarse: int, slices: Mapping[SliceKey, CorpusSums]
) -> dict[SliceKey, CorpusSums]:
    """The sums of the slices of an item, added up from those of an item with more labels."""
    added: dict[SliceKey, CorpusSums] = {}
    for key, sums in slices.items():
        value_of = dict(zip(slicing.items[key.item], key.values, strict=True))
        within = SliceKey(coarse, tuple(value_of[label] for label in slicing.items[coarse]))
        added[within] = added[within] + sums if within in added else sums
    return added
