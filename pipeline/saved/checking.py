"""Checks that saved totals are possible, before anything is computed from them.

A program that writes totals.json can write the right digest of a wrong content. First come the
types and shapes of all values, then what is true of the totals of every run (`*_facts.py`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import numpy as np

from beam_bleu.pipeline.saved.moments_facts import facts_of_moments, facts_of_replicates
from beam_bleu.pipeline.saved.saved_totals import SavedMetric, SavedTotals
from beam_bleu.pipeline.saved.sums_facts import facts_of_slices, facts_of_sums, facts_of_tally
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.known_metrics import Definition
from beam_bleu.transforms.pairing.paired import InputRole
from beam_bleu.transforms.text.text import require_case
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.unit_sums import products
from beam_bleu.transforms.version import VERSION

_ROLES = get_args(InputRole)
_FILE = {"path", "bytes", "lines"}
_INPUT = {"role", "system", "pattern", "digest", "lines", "bytes", "files"}
_DIGEST = re.compile("[a-z0-9-]+:[0-9a-f]{32}")

_FACTS_OF_A_METRIC = (
    facts_of_sums,
    facts_of_slices,
    facts_of_moments,
    facts_of_replicates,
)
"""Each one relies on those before it, and on those of the tally."""


def require_possible(content: Mapping[str, Any], saved: SavedTotals) -> None:
    """Checks the values of a content.

    Args:
      content: the content of a totals.json, as JSON has it.
      saved: what it holds.

    Raises:
      ValueError: a value is impossible; the message names it.
      KeyError, TypeError: a field is missing, or has another type.
    """
    for part in (
        _plain_values(content),
        _definition(content["definition"], saved),
        *(check(metric) for metric in saved.metrics for check in (_systems, _keys, _arrays)),
    ):
        for what, is_possible in part:
            if not is_possible:
                raise ValueError(f"{what} is impossible")
    for place, partition in enumerate(content["partitions"]):
        for read in partition["inputs"]:
            if not _is_input(read):
                raise ValueError(f"an input of partition {place + 1} is impossible")


def contradiction(saved: SavedTotals) -> str | None:
    """What cannot be true of possible totals, if the rest of them is; None if nothing is wrong."""
    of_metrics = (facts(metric) for metric in saved.metrics for facts in _FACTS_OF_A_METRIC)
    for facts in itertools.chain([facts_of_tally(saved)], of_metrics):
        for what, is_true in facts:
            if not is_true:
                return what
    return None


def _plain_values(content: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    yield "program", isinstance(content["program"], str) and content["program"] != ""
    yield "is_tallied", isinstance(content["is_tallied"], bool)
    yield "warnings", _are_texts(content["warnings"])
    systems = content["systems"]
    yield "systems", _are_texts(systems) and all(systems) and len({*systems}) == len(systems) > 0
    tally = content["tally"]
    yield "tally", all(map(_is_count, (tally["read"], tally["bad_records"])))
    for name in ("scored", "left_out", "missing", "judged", "met"):
        yield f"tally: {name}", _are_counts(tally[name])
    judged, met = tally["judged"], tally["met"]
    yield "tally: met", all(count <= judged.get(name, 0) for name, count in met.items())
    yield "tally: scored", {*tally["scored"]} <= {*systems}
    yield "rejected", _are_counts(content["rejected"])
    coverage = content["coverage"]
    if coverage is not None:
        yield "coverage", isinstance(coverage["rule"], str) and _is_count(coverage["segments"])
        for of_system in coverage["systems"]:
            yield "coverage", _is_count(of_system["missing"]) and _is_count(of_system["unknown"])
        yield "coverage", {of_system["system"] for of_system in coverage["systems"]} <= {*systems}
    labels = [partition["label"] for partition in content["partitions"]]
    named = [label for label in labels if label is not None]
    yield "partitions", len(labels) > 0 and _are_texts(named) and all(named)
    yield "partitions", len({*named}) == len(named)
    evidence = content["evidence"]
    for name in ("uncertainty", "compare_all"):
        yield f"evidence: {name}", isinstance(evidence[name], bool)
    yield "evidence: baseline", evidence["baseline"] in (None, *systems)
    documents = evidence["documents"]
    resampling = evidence["resampling"]
    if resampling is not None:
        yield "evidence: resampling", _is_count(resampling["seed"])
        yield "evidence: resampling", _is_count(resampling["resamples"])
    yield "evidence: documents", documents is None or (_are_texts([documents]) and documents != "")
    for of_metric in content["metrics"]:
        for of_text in of_metric["sums"]:
            for sums in of_text["systems"].values():
                yield "sums", _has_only_counts(sums)


def _definition(fields: Mapping[str, Any], saved: SavedTotals) -> Iterator[tuple[str, bool]]:
    slicing, items = saved.slicing, saved.slicing.items
    yield "definition: metrics", len(saved.scorings) == len(fields["metrics"]) > 0
    for metric_fields, of_metric in zip(fields["metrics"], saved.metrics, strict=True):
        scorings = of_metric.scorings
        scorings.corpus.require_corpus()
        for text in (scorings.text, *of_metric.totals.sums):
            require_case(text.lowercase)
        yield "definition: presets", len(metric_fields["presets"]) == len(scorings.presets)
        has_segments = saved.metrics[0].scorings.segments is not None
        yield "definition: segments", (scorings.segments is not None) == has_segments
        if saved.program == VERSION:  # another version can have other presets
            kind = scorings.kind
            names = [name for name in kind.presets if name in scorings.presets]
            yield "definition: presets", [*scorings.presets] == names
            for name, definition in scorings.presets.items():
                config = kind.presets[name]
                known = Definition(scorings.name, config.text.name, kind.metric_of(config))
                yield "definition: presets", definition == known
    languages, unpooled = fields["languages"], fields["unpooled"]
    yield "definition: unpooled", unpooled is None or unpooled in slicing.labels
    yield "definition: languages", languages is None or (languages,) in items
    yield "definition: languages", languages is None or all(languages in item for item in items)
    yield "definition: slicing", _are_texts(name for item in items for name in item)
    yield "definition: slicing", all(map(_is_count, (slicing.most, *slicing.length_edges)))
    yield "definition: versions", _are_texts(fields["versions"].values())


def _keys(metric: SavedMetric) -> Iterator[tuple[str, bool]]:
    """The names of slices."""
    saved, slices = metric.saved, metric.totals.slices
    slicing = saved.slicing
    if slices is None:
        return
    for key in slices.keys:
        yield "slices: keys", _is_count(key.item) and key.item < len(slicing.items)
        labels = slicing.items[key.item]
        yield "slices: keys", len(key.values) == len(labels)
        for label, value in zip(labels, key.values, strict=True):
            if label == LENGTH:
                in_range = type(value) is int and 0 <= value <= len(slicing.length_edges)
                yield "slices: keys", in_range
            else:
                needed = str if label == metric.scorings.languages else str | None
                yield "slices: keys", isinstance(value, needed)
    in_order = slicing.in_order(slices.keys)
    yield "slices: keys", list(slices.keys) == in_order and len({*in_order}) == len(in_order)
    in_order_of_result = [system for system in saved.totals.systems if system in slices.systems]
    yield "slices: systems", list(slices.systems) == in_order_of_result


def _systems(metric: SavedMetric) -> Iterator[tuple[str, bool]]:
    """What the totals say of the systems, and which of them there are."""
    saved, totals = metric.saved, metric.totals
    systems = {*saved.totals.systems}
    needed = metric.scorings.counters
    yield "sums", [*totals.sums] == [*needed]
    for text, of_systems in totals.sums.items():
        yield "the systems of sums", {*of_systems} == systems
        widths = {len(sums.columns) for sums in of_systems.values()}
        yield "the columns of sums", len(widths) == 1 and min(widths) >= needed[text].basis.width
        (width,) = widths
        yield "the columns of sums", metric.kind.basis_of(width).width == width
        for sums in of_systems.values():
            yield "sums", sums.min_reference_count <= sums.max_reference_count
    yield "moments", (totals.moments is not None) == saved.evidence.needs_moments
    yield "slices", (totals.slices is not None) == bool(saved.slicing.items)
    has_replicates = totals.replicates is not None
    yield "replicates", has_replicates == (saved.evidence.resampling is not None)
    for name, part in (("moments", totals.moments), ("slices", totals.slices)):
        yield f"the systems of {name}", part is None or {*part.systems} <= systems
    if totals.replicates is not None:
        yield "the systems of replicates", totals.replicates.systems == saved.totals.systems


def _arrays(metric: SavedMetric) -> Iterator[tuple[str, bool]]:
    """The shapes of arrays."""
    totals = metric.totals
    if totals.moments is not None:
        for name, shape in _shapes(totals.moments).items():
            yield f"moments: {name}", getattr(totals.moments, name).shape == shape
    if totals.slices is not None:
        slices = totals.slices
        places = int(slices.offsets[-1]) if len(slices.offsets) else -1
        yield "slices: sums", slices.sums.shape[:2] == (len(slices.keys), len(slices.systems))
        yield "slices: sums", slices.sums.dtype == np.int64 and bool((slices.sums >= 0).all())
        yield "slices: offsets", len(slices.offsets) == len(slices.keys) + 1
        yield "slices: offsets", slices.offsets[0] == 0 and bool((slices.widths >= 0).all())
        yield (
            "slices: by_reference",
            slices.by_reference.shape[::2]
            == (
                len(slices.systems),
                places,
            ),
        )
        yield "slices: by_reference", slices.by_reference.dtype == np.int64
    if totals.replicates is not None:
        replicates = totals.replicates
        shape = len(replicates.systems), replicates.resampling.number, replicates.width
        yield "replicates: sums", replicates.sums.shape == shape
        yield "replicates: sums", replicates.sums.dtype == np.int64


def _shapes(moments: Moments) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of moments, by their names."""
    groups, systems = len(moments.keys), len(moments.systems)
    columns, packed = moments.width, products(moments.width)
    return {
        "own_units": (groups, systems),
        "own_sums": (groups, systems, columns),
        "own_products": (groups, systems, packed),
        "common_units": (groups,),
        "common_sums": (groups, systems, columns),
        "common_products": (groups, systems, packed),
        "cross_products": (len(moments.pairs), columns, columns),
        "slice_cross_products": (groups - 1, len(moments.slice_pairs), columns, columns),
    }


def _is_input(read: Mapping[str, Any]) -> bool:
    """Whether this is a stream of a manifest.json."""
    more = {"labels"} if read["role"] == "labels" else set()
    return (
        read.keys() == _INPUT | more
        and read["role"] in _ROLES
        and isinstance(read["system"], str | None)
        and _are_texts([read["pattern"], read["digest"], *read.get("labels", ())])
        and bool(_DIGEST.fullmatch(read["digest"]))
        and all(file.keys() == _FILE for file in read["files"])
        and all(
            _is_count(counted["lines"]) and _is_count(counted["bytes"])
            for counted in (read, *read["files"])
        )
        and _are_texts(file["path"] for file in read["files"])
        and all([read["pattern"], *(file["path"] for file in read["files"])])
    )


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0  # a bool is an int of Python, too


def _are_counts(counts: Mapping[str, object]) -> bool:
    return all(map(_is_count, counts.values()))


def _has_only_counts(value: object) -> bool:
    """Whether all values in objects and lists are counts."""
    if isinstance(value, dict):
        return all(map(_has_only_counts, value.values()))
    if isinstance(value, list):
        return all(map(_has_only_counts, value))
    return _is_count(value)
