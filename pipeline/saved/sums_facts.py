"""What is true of the sums of every corpus and of its slices, and of the tally of what was read."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.pipeline.saved.partitions import in_order
from beam_bleu.pipeline.saved.saved_totals import SavedMetric, SavedTotals
from beam_bleu.transforms.definition.slicing import LENGTH, SliceKey, Slicing
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.slice_sums import SliceSums
from beam_bleu.transforms.totals.unit_sums import Fact

_STRICT = "strict"
_ORDER = ("candidates", "references", "records", "labels")
"""The order in which a manifest lists the inputs."""


def facts_of_sums(metric: SavedMetric) -> Iterator[Fact]:
    """The sums of each system, and what systems and ways to make tokens have in common."""
    saved = metric.saved
    for text, of_systems in metric.totals.sums.items():
        for system, sums in of_systems.items():
            name = f"sums of {system} ({text.label})"
            yield name, _are_possible(metric, [sums])
            yield from _facts_of_sums(name, sums, saved.scorings)
            yield name, sums.segments == saved.totals.scored[system]
            yield name, _of_text(sums) == _of_text(metric.own[system])
            yield name, _of_text(sums) == _of_text(saved.metrics[0].own[system])
        if has_all_segments(saved):
            of_references = {
                _of_references(of_system, metric.kind) for of_system in of_systems.values()
            }
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


def _are_possible(metric: SavedMetric, of_slices: Collection[CorpusSums]) -> bool:
    """Whether the columns of sums are possible. Many at once take less time than one by one."""
    by_references: dict[int, list[tuple[int, ...]]] = {}
    for sums in of_slices:
        by_references.setdefault(sums.max_reference_count, []).append(sums.columns)
    corpus = metric.scorings.corpus
    return all(
        metric.kind.columns_are_possible(np.array(columns, object), references, corpus)
        for references, columns in by_references.items()
    )


def _facts_of_sums(name: str, sums: CorpusSums, metrics: Iterable[MetricWord]) -> Iterator[Fact]:
    """The sums of a system, apart from `_are_possible`, if these are the metrics of its run."""
    segments = sums.segments
    if not segments:
        yield name, sums == CorpusSums.zero(len(sums.columns))
        return
    if not any(row_of(metric).counts_texts for metric in metrics):
        no_texts = dataclasses.replace(CorpusSums.zero(len(sums.columns)), columns=sums.columns)
        yield f"{name}: texts", dataclasses.replace(sums, units=0, products=None) == no_texts
        return
    fewest, most = sums.min_reference_count, sums.max_reference_count
    yield f"{name}: reference counts", 1 <= fewest <= most and (segments > 1 or fewest == most)
    signs, references_given = sums.signs, sum(sums.signs.given)
    yield f"{name}: signs", max(signs.tokenized, signs.candidate_returns) <= segments
    yield f"{name}: signs", all(0 <= count <= segments for count in signs.given)
    yield f"{name}: signs", signs.given[-1] > 0 and len(signs.given) >= most
    yield f"{name}: signs", fewest * segments <= references_given <= most * segments
    for by_place in (signs.identical, signs.reference_returns):
        yield f"{name}: signs", len(by_place) == len(signs.given)
        yield f"{name}: signs", all(a <= b for a, b in zip(by_place, signs.given, strict=True))
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
        are_possible = _are_possible(metric, of_keys.values())
        of_items: dict[int, dict[SliceKey, CorpusSums]] = {}
        for key, sums in of_keys.items():
            of_items.setdefault(key.item, {})[key] = sums
            name = f"slices: sums of {system} in {key.values}"
            yield name, are_possible or _are_possible(metric, [sums])
            yield from _facts_of_sums(name, sums, saved.scorings)
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
    segments, references, *with_sign = slices.by_reference.swapaxes(0, 1)
    yield "slices: by_reference", bool((slices.by_reference >= 0).all())
    yield "slices: by_reference", all(bool((counts <= references).all()) for counts in with_sign)
    up_to = np.pad(np.cumsum(segments, axis=1), ((0, 0), (1, 0)))
    of_slices = up_to[:, slices.offsets[1:]] - up_to[:, slices.offsets[:-1]]
    if slices.by_reference.size:  # without texts, nothing is known of references
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


def facts_of_tally(saved: SavedTotals) -> Iterator[Fact]:
    """The tally, compared with rejected records, with the coverage and with the inputs."""
    totals = saved.totals
    tally, coverage = totals.tally, totals.coverage
    for system in totals.systems:
        yield (
            f"tally: read, scored, left_out or missing of system {system}",
            not tally.unexplained(system),
        )
    for name in ("scored", "left_out", "missing"):
        numbers = getattr(tally, name)
        yield f"tally: {name}", not totals.is_tallied or all(numbers.values())
    yield "tally: missing", {*tally.missing} <= {*totals.systems}
    yield "tally: missing", coverage is not None or not tally.missing
    rejected = tally.left_out.get(REJECTED, 0)
    yield "tally: bad_records", sum(totals.rejected.reasons.values()) == tally.bad_records
    yield "rejected", all(totals.rejected.reasons.values())
    yield "tally: left_out", rejected <= tally.bad_records
    if not totals.is_tallied:
        yield "is_tallied", not (tally.left_out or tally.missing or tally.bad_records)
    roles = {stream["role"] for partition in saved.partitions for stream in partition.inputs}
    yield "is_tallied", totals.is_tallied or ("records" not in roles and coverage is None)
    yield from _facts_of_inputs(saved)
    if coverage is None:
        read = sum(_lines(partition.inputs) for partition in saved.partitions)
        is_possible = read == tally.read if _knows_inputs(saved) else read <= tally.read
        yield "the lines of inputs, or tally: read,", is_possible
    else:
        yield from _facts_of_coverage(saved)


def _knows_inputs(saved: SavedTotals) -> bool:
    """Whether all inputs are known. Those of the library's `Evaluate` need not be."""
    return all(partition.inputs for partition in saved.partitions)


def _lines(inputs: Sequence[Mapping[str, Any]]) -> int:
    """The lines of a partition whose line i belongs to segment i in all files."""
    return max((stream["lines"] for stream in inputs), default=0)


def _facts_of_inputs(saved: SavedTotals) -> Iterator[Fact]:
    totals = saved.totals
    yield "the order of partitions", saved.partitions == in_order(saved.partitions)
    for number, partition in enumerate(saved.partitions, 1):
        what = f"the inputs of partition {number}"
        inputs = partition.inputs
        if not inputs:  # they are not known; then a label tells the partition from others
            yield what, partition.label is not None
            continue
        for stream in inputs:
            for field in ("lines", "bytes"):
                yield (
                    f"{what}: {field}",
                    stream[field] == sum(file[field] for file in stream["files"]),
                )
            yield f"{what}: system", (stream["system"] is None) == (stream["role"] != "candidates")
            yield f"{what}: labels", ("labels" in stream) == (stream["role"] == "labels")
        named = [stream["system"] for stream in inputs if stream["role"] == "candidates"]
        yield f"{what}: systems", not named or named == list(totals.systems)
        places = [_ORDER.index(stream["role"]) for stream in inputs]
        yield f"{what}: roles", places == sorted(places)
        roles = {stream["role"] for stream in inputs} - {"labels"}
        usual = ({"records"}, {"candidates", "references"})
        reads_texts = any(row_of(metric).counts_texts for metric in saved.scorings)
        is_join = roles == {"candidates"} and not reads_texts
        yield f"{what}: roles", roles in usual or is_join
        if totals.coverage is None:
            yield f"{what}: lines", len({stream["lines"] for stream in inputs}) == 1
        if totals.coverage is None and roles != {"records"}:
            labels = {label for stream in inputs for label in stream.get("labels", ())}
            yield f"{what}: labels", _needed_labels(saved) <= labels
    yield from _facts_of_bytes(saved)


def _needed_labels(saved: SavedTotals) -> set[str]:
    languages = {scorings.languages for scorings in saved.scorings.values()}
    needed = {*saved.slicing.labels, saved.evidence.documents, *languages}
    return {label for label in needed if label is not None}


def _facts_of_bytes(saved: SavedTotals) -> Iterator[Fact]:
    """Line-parallel texts are at most as long as their files, if these are not compressed."""
    read = [stream for partition in saved.partitions for stream in partition.inputs]
    if saved.totals.coverage is not None or any(stream["role"] == "records" for stream in read):
        return
    if not _knows_inputs(saved):
        return
    if any(compression(file["path"]) for stream in read for file in stream["files"]):
        return
    sizes: dict[str | None, int] = collections.Counter()
    for stream in read:
        # The last line of a file need not end in a newline.
        size = stream["bytes"] - stream["lines"] + len(stream["files"])
        sizes[stream["system"] or stream["role"]] += size
    for system, sums in saved.metrics[0].own.items():
        yield f"sums of {system}: candidate_bytes", sums.candidate_bytes <= sizes[system]
        yield f"sums of {system}: reference_bytes", sums.reference_bytes <= sizes["references"]


def _facts_of_coverage(saved: SavedTotals) -> Iterator[Fact]:
    """The coverage of a join, as far as no record is left out for another reason."""
    tally, coverage = saved.totals.tally, saved.totals.coverage
    assert coverage is not None
    systems = [part.system for part in coverage.systems]
    yield "coverage: systems", systems == list(saved.totals.systems)
    yield "coverage: missing", all(part.missing <= coverage.segments for part in coverage.systems)
    lines: dict[str | None, int] = collections.Counter()
    for partition in saved.partitions:
        for read in partition.inputs:
            lines[read["system"] or read["role"]] += read["lines"]
    of_system = {
        part.system: coverage.segments - part.missing + part.unknown for part in coverage.systems
    }
    for system, scored in tally.scored.items():
        yield f"tally: scored of {system}", scored <= coverage.segments
        if _knows_inputs(saved):
            yield "the lines of inputs", scored <= lines.get(system, lines.get("records", 0))
    if tally.bad_records or FILTERED in tally.left_out:
        return
    yield "coverage: segments", coverage.segments == tally.read
    if coverage.rule == _STRICT:
        yield (
            "coverage: systems",
            not any(part.missing or part.unknown for part in coverage.systems),
        )
    if coverage.rule == "each" and not tally.left_out:
        for part in coverage.systems:
            of_tally = coverage.segments - tally.scored.get(part.system, 0)
            yield f"coverage: missing of {part.system}", part.missing == of_tally
    if not _knows_inputs(saved):
        return
    if "records" in lines:
        yield "the lines of inputs", lines["records"] == sum(of_system.values())
    for system in systems:
        if system in lines:
            yield f"the lines of inputs of {system}", lines[system] == of_system[system]
