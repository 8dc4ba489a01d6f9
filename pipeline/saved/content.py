"""The content of totals.json: saved totals as values of JSON, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.pipeline.saved import json_arrays
from beam_bleu.pipeline.saved.saved_totals import Partition, SavedMetric, SavedTotals
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.pipeline.scoring.totals import MetricTotals, Totals
from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.known_metrics import Definition, kind_of
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums, InputSigns
from beam_bleu.transforms.totals.moments.moments import GroupKey, Moments
from beam_bleu.transforms.totals.rejected import Rejected
from beam_bleu.transforms.totals.replicates.replicates import Replicates
from beam_bleu.transforms.totals.slice_sums import SliceSums

# Arrays whose rows are their last two axes; those of the other arrays are the last axis.
_PAIRS_OF_COLUMNS = 2


def encoded(saved: SavedTotals, signatures: Sequence[str | None]) -> dict[str, Any]:
    """The content of totals.json.

    Args:
      saved: what it holds.
      signatures: that of each metric; None if its languages have different ones.
    """
    totals = saved.totals
    return {
        "program": saved.program,
        "definition": _of_definition(saved, signatures),
        "evidence": _of_evidence(saved.evidence),
        "partitions": [
            {"label": partition.label, "inputs": list(partition.inputs)}
            for partition in saved.partitions
        ],
        "systems": list(totals.systems),
        "tally": dataclasses.asdict(totals.tally),
        "is_tallied": totals.is_tallied,
        "rejected": dict(totals.rejected.reasons),
        "notices": [dataclasses.asdict(notice) for notice in totals.notices],
        "coverage": None if totals.coverage is None else dataclasses.asdict(totals.coverage),
        "metrics": [_of_metric(metric) for metric in saved.metrics],
    }


def _of_metric(metric: SavedMetric) -> dict[str, Any]:
    totals = metric.totals
    return {
        "metric": metric.scorings.name,
        "sums": [
            {
                "text": dataclasses.asdict(text),
                "columns": _names(of_systems, metric.kind),
                "systems": {system: _of_corpus_sums(sums) for system, sums in of_systems.items()},
            }
            for text, of_systems in totals.sums.items()
        ],
        "slices": None if totals.slices is None else _of_slices(totals.slices),
        "moments": None if totals.moments is None else _of_moments(totals.moments),
        "replicates": None if totals.replicates is None else _of_replicates(totals.replicates),
    }


def decoded(content: Mapping[str, Any]) -> SavedTotals:
    """The saved totals in a content.

    Raises:
      ArithmeticError, AttributeError, LookupError, TypeError, ValueError: it is not a content of
        this version.
    """
    partitions = tuple(
        Partition(partition["label"], partition["inputs"]) for partition in content["partitions"]
    )
    label = partitions[0].label if len(partitions) == 1 else None
    evidence = _evidence(content["evidence"], label)
    definition = content["definition"]
    scorings = {
        of_metric["metric"]: _scorings(of_metric, definition["languages"], definition["unpooled"])
        for of_metric in definition["metrics"]
    }
    metrics = {
        of_metric["metric"]: _metric_totals(of_metric, evidence) for of_metric in content["metrics"]
    }
    return SavedTotals(
        Totals(
            tuple(content["systems"]),
            Tally(**content["tally"]),
            metrics,
            content["is_tallied"],
            Rejected(reasons=content["rejected"]),
            tuple(
                Notice(**{**fields, "ids": tuple(fields["ids"])}) for fields in content["notices"]
            ),
            _coverage(content["coverage"]),
        ),
        scorings,
        _slicing(definition["slicing"]),
        evidence,
        partitions,
        definition["versions"],
        content["program"],
    )


def _metric_totals(fields: Mapping[str, Any], evidence: Evidence) -> MetricTotals:
    sums = {
        TextName(**of_text["text"]): {
            system: _corpus_sums(sums) for system, sums in of_text["systems"].items()
        }
        for of_text in fields["sums"]
    }
    slices, moments, replicates = fields["slices"], fields["moments"], fields["replicates"]
    return MetricTotals(
        sums,
        None if slices is None else _slices(slices),
        None if moments is None else _moments(moments),
        None if replicates is None else _replicates(replicates, evidence.resampling),
    )


def _of_definition(saved: SavedTotals, signatures: Sequence[str | None]) -> dict[str, Any]:
    first = next(iter(saved.scorings.values()))
    return {
        "metrics": [
            _of_scorings(scorings, signature)
            for scorings, signature in zip(saved.scorings.values(), signatures, strict=True)
        ],
        "languages": first.languages,
        "unpooled": first.unpooled,
        "slicing": dataclasses.asdict(saved.slicing),
        "versions": dict(saved.versions),
    }


def _of_scorings(scorings: Scorings, signature: str | None) -> dict[str, Any]:
    encoded = scorings.kind.encoded
    return {
        "metric": scorings.name,
        # For people, and for programs that look for files of one definition.
        "signature": signature,
        "text": dataclasses.asdict(scorings.text),
        "scoring": encoded(scorings.corpus),
        "presets": [
            {
                "name": name,
                "text": dataclasses.asdict(preset.text),
                "scoring": encoded(preset.metric),
            }
            for name, preset in scorings.presets.items()
        ],
        "segments": None if scorings.segments is None else encoded(scorings.segments),
    }


def _scorings(fields: Mapping[str, Any], languages: str | None, unpooled: str | None) -> Scorings:
    decoded = kind_of(fields["metric"]).decoded
    return Scorings(
        fields["metric"],
        TextName(**fields["text"]),
        decoded(fields["scoring"]),
        {
            preset["name"]: Definition(
                fields["metric"], TextName(**preset["text"]), decoded(preset["scoring"])
            )
            for preset in fields["presets"]
        },
        None if fields["segments"] is None else decoded(fields["segments"]),
        languages,
        unpooled,
    )


def _slicing(fields: Mapping[str, Any]) -> Slicing:
    return Slicing(
        tuple(map(tuple, fields["items"])), tuple(fields["length_edges"]), fields["most"]
    )


def _of_evidence(evidence: Evidence) -> dict[str, Any]:
    resampling = evidence.resampling
    return {
        "uncertainty": evidence.uncertainty,
        "baseline": evidence.baseline,
        "compare_all": evidence.compare_all,
        "documents": evidence.documents,
        "resampling": None
        if resampling is None
        else {
            "method": resampling.method,
            "resamples": resampling.number,
            "seed": resampling.seed,
        },
    }


def _evidence(fields: Mapping[str, Any], label: str | None) -> Evidence:
    resampling = fields["resampling"]
    return Evidence(
        uncertainty=fields["uncertainty"],
        baseline=fields["baseline"],
        compare_all=fields["compare_all"],
        documents=fields["documents"],
        resampling=None if resampling is None else Resampling(**resampling, partition=label or ""),
        save_totals=True,
        partition=label,
    )


def _coverage(fields: Mapping[str, Any] | None) -> FoundCoverage | None:
    if fields is None:
        return None
    systems = tuple(SystemCoverage(**of_system) for of_system in fields["systems"])
    return FoundCoverage(fields["rule"], fields["segments"], systems)


def _of_corpus_sums(sums: CorpusSums) -> dict[str, Any]:
    # The sums of products are in the moments.
    values = dataclasses.asdict(sums)
    return {name: values[name] for name in values if name not in ("units", "products")}


def _corpus_sums(fields: Mapping[str, Any]) -> CorpusSums:
    return CorpusSums(
        **{**_with_tuples(fields), "signs": InputSigns(**_with_tuples(fields["signs"]))}
    )


def _names(of_systems: Mapping[str, CorpusSums], kind: MetricKind) -> list[str]:
    """The names of the columns of all systems, for people and other programs."""
    (width,) = {len(sums.columns) for sums in of_systems.values()}
    return list(kind.basis_of(width).names)


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }


def _of_keys(keys: Sequence[GroupKey]) -> list[Any]:
    return [None if key is None else [key.item, list(key.values)] for key in keys]


def _key(key: Any) -> SliceKey:
    item, values = key
    return SliceKey(item, tuple(values))


def _of_slices(slices: SliceSums) -> dict[str, Any]:
    return {
        "width": slices.width,
        "keys": _of_keys(slices.keys),
        "systems": list(slices.systems),
        "sums": json_arrays.encoded(slices.sums),
        "offsets": slices.offsets.tolist(),
        "by_reference": json_arrays.encoded(slices.by_reference, _PAIRS_OF_COLUMNS),
    }


def _slices(fields: Mapping[str, Any]) -> SliceSums:
    return SliceSums(
        fields["width"],
        tuple(map(_key, fields["keys"])),
        tuple(fields["systems"]),
        json_arrays.decoded(fields["sums"]),
        np.array(fields["offsets"], np.int64),
        json_arrays.decoded(fields["by_reference"], _PAIRS_OF_COLUMNS),
    )


MOMENTS_ARRAYS = {
    "own_units": 1,
    "own_sums": 1,
    "own_products": 1,
    "common_units": 1,
    "common_sums": 1,
    "common_products": 1,
    "cross_products": _PAIRS_OF_COLUMNS,
    "slice_cross_products": _PAIRS_OF_COLUMNS,
}
"""The arrays of moments, and how many of their last axes are one row."""


def _of_moments(moments: Moments) -> dict[str, Any]:
    return {
        "width": moments.width,
        "systems": list(moments.systems),
        "keys": _of_keys(moments.keys),
        "pairs": [list(pair) for pair in moments.pairs],
        "slice_pairs": [list(pair) for pair in moments.slice_pairs],
        **{
            name: json_arrays.encoded(getattr(moments, name), axes)
            for name, axes in MOMENTS_ARRAYS.items()
        },
    }


def _moments(fields: Mapping[str, Any]) -> Moments:
    return Moments(
        fields["width"],
        tuple(fields["systems"]),
        tuple(None if key is None else _key(key) for key in fields["keys"]),
        tuple((one, other) for one, other in fields["pairs"]),
        tuple((one, other) for one, other in fields["slice_pairs"]),
        **{name: json_arrays.decoded(fields[name], axes) for name, axes in MOMENTS_ARRAYS.items()},
        most=None,
    )


def _of_replicates(replicates: Replicates) -> dict[str, Any]:
    # The method, the number and the seed are in the evidence.
    return {
        "width": replicates.width,
        "systems": list(replicates.systems),
        "sums": json_arrays.encoded(replicates.sums),
        "unweighted": json_arrays.encoded(replicates.unweighted),
    }


def _replicates(fields: Mapping[str, Any], resampling: Resampling | None) -> Replicates:
    if resampling is None:
        raise ValueError("there are replicates, but no resampling in the evidence")
    return Replicates(
        resampling,
        fields["width"],
        tuple(fields["systems"]),
        json_arrays.decoded(fields["sums"]),
        json_arrays.decoded(fields["unweighted"]),
    )
