"""The content of totals.json: saved totals as values of JSON, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.saved import json_arrays
from beam_bleu.pipeline.saved.saved_totals import Partition, SavedMetric, SavedTotals
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.known_metrics import Definition, kind_of
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.paired import FoundCoverage, SystemCoverage
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.group_totals import GroupTotals, MetricTotals
from beam_bleu.transforms.totals.rejected import Rejected


def encoded(saved: SavedTotals, signatures: Sequence[str | None]) -> dict[str, Any]:
    """The content of totals.json.

    Args:
      saved: what it holds.
      signatures: that of each metric; None if its languages have different ones.
    """
    totals = saved.totals
    return {
        "program": saved.program,
        "definition": of_definition(saved, signatures),
        "evidence": of_evidence(saved.evidence),
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
    return {
        "metric": metric.scorings.name,
        "texts": [
            {
                "text": dataclasses.asdict(text),
                # For people and other programs.
                "columns": list(metric.kind.basis_of(totals.corpus.width).names),
                "corpus": _of_groups(totals.corpus),
                "slices": None if totals.slices is None else _of_groups(totals.slices),
                "replicates": None
                if totals.replicates is None
                else json_arrays.encoded(totals.replicates),
            }
            for text, totals in metric.texts.items()
        ],
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
    metrics = {of_metric["metric"]: _metric_totals(of_metric) for of_metric in content["metrics"]}
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


def _metric_totals(fields: Mapping[str, Any]) -> dict[TextName, MetricTotals]:
    return {
        TextName(**of_text["text"]): MetricTotals(
            _groups(of_text["corpus"]),
            None if of_text["slices"] is None else _groups(of_text["slices"]),
            None if of_text["replicates"] is None else json_arrays.decoded(of_text["replicates"]),
        )
        for of_text in fields["texts"]
    }


def of_definition(saved: SavedTotals, signatures: Sequence[str | None]) -> dict[str, Any]:
    """The definitions in a content; `signatures` are those of the metrics."""
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


def of_evidence(evidence: Evidence) -> dict[str, Any]:
    """What was asked for beside scores, in a content."""
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


_AXES = {"common": 1, "crosses": 2, "rest": 1, "facts": 1}
"""The arrays of totals, and how many of their last axes are one row."""


def _of_groups(totals: GroupTotals) -> dict[str, Any]:
    arrays = {name: getattr(totals, name) for name in _AXES}
    return {
        "width": totals.width,
        "systems": list(totals.systems),
        "keys": [None if key is None else [key.item, list(key.values)] for key in totals.keys],
        "pairs": [list(pair) for pair in totals.pairs],
        **{
            name: None if array is None else json_arrays.encoded(array, _AXES[name])
            for name, array in arrays.items()
        },
    }


def _groups(fields: Mapping[str, Any]) -> GroupTotals:
    return GroupTotals(
        fields["width"],
        tuple(fields["systems"]),
        tuple(None if key is None else SliceKey(key[0], tuple(key[1])) for key in fields["keys"]),
        tuple((one, other) for one, other in fields["pairs"]),
        *(
            None if fields[name] is None else json_arrays.decoded(fields[name], axes)
            for name, axes in _AXES.items()
        ),  # type: ignore[arg-type]  # an array of a file, which has them all but `rest`
    )
