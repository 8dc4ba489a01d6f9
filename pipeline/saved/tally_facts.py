"""What is true of the tally of every run, and of the files that it has read."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.saved.partitions import in_order
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED
from beam_bleu.transforms.totals.unit_facts import Fact

_STRICT = "strict"
_ORDER = ("candidates", "references", "records", "labels")
"""The order in which a manifest lists the inputs."""


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
    roles = {each["role"] for partition in saved.partitions for each in partition.inputs}
    yield "is_tallied", totals.is_tallied or ("records" not in roles and coverage is None)
    yield from _facts_of_inputs(saved)
    if coverage is None:
        read = sum(_lines(partition.inputs) for partition in saved.partitions)
        yield "the lines of inputs, or tally: read,", read == tally.read
    else:
        yield from _facts_of_coverage(saved)


def _lines(inputs: Sequence[Mapping[str, Any]]) -> int:
    """The lines of a partition whose line i belongs to segment i in all files."""
    return max((each["lines"] for each in inputs), default=0)


def _facts_of_inputs(saved: SavedTotals) -> Iterator[Fact]:
    totals = saved.totals
    yield "the order of partitions", saved.partitions == in_order(saved.partitions)
    for number, partition in enumerate(saved.partitions, 1):
        what = f"the inputs of partition {number}"
        inputs = partition.inputs
        yield what, len(inputs) > 0
        for each in inputs:
            for unit in ("lines", "bytes"):
                yield f"{what}: {unit}", each[unit] == sum(file[unit] for file in each["files"])
            yield f"{what}: system", (each["system"] is None) == (each["role"] != "candidates")
            yield f"{what}: labels", ("labels" in each) == (each["role"] == "labels")
        named = [each["system"] for each in inputs if each["role"] == "candidates"]
        yield f"{what}: systems", not named or named == list(totals.systems)
        places = [_ORDER.index(each["role"]) for each in inputs]
        yield f"{what}: roles", places == sorted(places)
        roles = {each["role"] for each in inputs} - {"labels"}
        yield f"{what}: roles", roles in ({"records"}, {"candidates", "references"})
        if totals.coverage is None:
            yield f"{what}: lines", len({each["lines"] for each in inputs}) == 1
        if totals.coverage is None and roles != {"records"}:
            labels = {label for each in inputs for label in each.get("labels", ())}
            yield f"{what}: labels", _needed_labels(saved) <= labels
    yield from _facts_of_bytes(saved)


def _needed_labels(saved: SavedTotals) -> set[str]:
    languages = {each.languages for each in saved.scorings.values()}
    needed = {*saved.slicing.labels, saved.evidence.documents, *languages}
    return {each for each in needed if each is not None}


def _facts_of_bytes(saved: SavedTotals) -> Iterator[Fact]:
    """Line-parallel texts are at most as long as their files, if these are not compressed."""
    read = [each for partition in saved.partitions for each in partition.inputs]
    if saved.totals.coverage is not None or any(each["role"] == "records" for each in read):
        return
    if any(compression(file["path"]) for each in read for file in each["files"]):
        return
    sizes: dict[str | None, int] = collections.Counter()
    for each in read:
        # The last line of a file need not end in a newline.
        size = each["bytes"] - each["lines"] + len(each["files"])
        sizes[each["system"] or each["role"]] += size
    for system, sums in saved.metrics[0].own.items():
        yield f"sums of {system}: candidate_bytes", sums.candidate_bytes <= sizes[system]
        yield f"sums of {system}: reference_bytes", sums.reference_bytes <= sizes["references"]


def _facts_of_coverage(saved: SavedTotals) -> Iterator[Fact]:
    """The coverage of a join, as far as no record is left out for another reason."""
    tally, coverage = saved.totals.tally, saved.totals.coverage
    assert coverage is not None
    systems = [each.system for each in coverage.systems]
    yield "coverage: systems", systems == list(saved.totals.systems)
    yield "coverage: missing", all(each.missing <= coverage.segments for each in coverage.systems)
    lines: dict[str | None, int] = collections.Counter()
    for partition in saved.partitions:
        for read in partition.inputs:
            lines[read["system"] or read["role"]] += read["lines"]
    of_system = {
        each.system: coverage.segments - each.missing + each.unknown for each in coverage.systems
    }
    for system, scored in tally.scored.items():
        yield f"tally: scored of {system}", scored <= coverage.segments
        yield "the lines of inputs", scored <= lines.get(system, lines.get("records", 0))
    if tally.bad_records or FILTERED in tally.left_out:
        return
    yield "coverage: segments", coverage.segments == tally.read
    if coverage.rule == _STRICT:
        yield (
            "coverage: systems",
            not any(each.missing or each.unknown for each in coverage.systems),
        )
    if coverage.rule == "each" and not tally.left_out:
        for each in coverage.systems:
            of_tally = coverage.segments - tally.scored.get(each.system, 0)
            yield f"coverage: missing of {each.system}", each.missing == of_tally
    if "records" in lines:
        yield "the lines of inputs", lines["records"] == sum(of_system.values())
    for system in systems:
        if system in lines:
            yield f"the lines of inputs of {system}", lines[system] == of_system[system]
