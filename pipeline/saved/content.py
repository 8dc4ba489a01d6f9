"""The content of totals.json: saved totals as values of JSON, and back."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
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
            {"label": each.label, "inputs": list(each.inputs)} for each in saved.partitions
        ],
        "systems": list(totals.systems),
        "tally": dataclasses.asdict(totals.tally),
        "is_tallied": totals.is_tallied,
        "rejected": dict(totals.rejected.reasons),
        "warnings": list(totals.warnings),
        "coverage": None if totals.coverage is None else dataclasses.asdict(totals.coverage),
        "metrics": [_of_metric(each) for each in saved.metrics],
    }


def _of_metric(metric: SavedMetric) -> dict[str, Any]:
    totals = metric.totals
    return {
        "metric": metric.scorings.name,
        "sums": [
            {
                "text": dataclasses.asdict(text),
                "columns": _names(of_systems, metric.kind),
                "systems": {system: _of_corpus_sums(each) for system, each in of_systems.items()},
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
      KeyError, TypeError, ValueError: it is no content of this version.
    """
    with _naming("partitions"):
        partitions = tuple(
            Partition(each["label"], each["inputs"]) for each in content["partitions"]
        )
    with _naming("evidence"):
        label = partitions[0].label if len(partitions) == 1 else None
        evidence = _evidence(content["evidence"], label)
    with _naming("definition"):
        definition = content["definition"]
        scorings = {
            each["metric"]: _scorings(each, definition["languages"], definition["unpooled"])
            for each in definition["metrics"]
        }
        slicing = _slicing(definition["slicing"])
    with _naming("tally"):
        tally = Tally(**content["tally"])
    with _naming("coverage"):
        coverage = _coverage(content["coverage"])
    with _naming("metrics"):
        metrics = {each["metric"]: _metric_totals(each, evidence) for each in content["metrics"]}
        if [*metrics] != [*scorings]:
            raise ValueError([*metrics])
    return SavedTotals(
        Totals(
            tuple(content["systems"]),
            tally,
            metrics,
            content["is_tallied"],
            Rejected(reasons=content["rejected"]),
            tuple(content["warnings"]),
            coverage,
        ),
        scorings,
        slicing,
        evidence,
        partitions,
        definition["versions"],
        content["program"],
    )


@contextlib.contextmanager
def _naming(field: str) -> Iterator[None]:
    """A context in which a field is read.

    Raises:
      ValueError: it has other values than beam-bleu writes; the message names it.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"the field {field}: {error!r}") from error


def _metric_totals(found: Mapping[str, Any], evidence: Evidence) -> MetricTotals:
    with _naming("sums"):
        sums = {
            TextName(**each["text"]): {
                system: _corpus_sums(sums) for system, sums in each["systems"].items()
            }
            for each in found["sums"]
        }
    with _naming("slices"):
        slices = None if found["slices"] is None else _slices(found["slices"])
    with _naming("moments"):
        moments = None if found["moments"] is None else _moments(found["moments"])
    with _naming("replicates"):
        given = found["replicates"]
        replicates = None if given is None else _replicates(given, evidence.resampling)
    return MetricTotals(sums, slices, moments, replicates)


def _of_definition(saved: SavedTotals, signatures: Sequence[str | None]) -> dict[str, Any]:
    first = next(iter(saved.scorings.values()))
    return {
        "metrics": [
            _of_scorings(each, signature)
            for each, signature in zip(saved.scorings.values(), signatures, strict=True)
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


def _scorings(found: Mapping[str, Any], languages: str | None, unpooled: str | None) -> Scorings:
    decoded = kind_of(found["metric"]).decoded
    return Scorings(
        found["metric"],
        TextName(**found["text"]),
        decoded(found["scoring"]),
        {
            each["name"]: Definition(
                found["metric"], TextName(**each["text"]), decoded(each["scoring"])
            )
            for each in found["presets"]
        },
        None if found["segments"] is None else decoded(found["segments"]),
        languages,
        unpooled,
    )


def _slicing(found: Mapping[str, Any]) -> Slicing:
    return Slicing(tuple(map(tuple, found["items"])), tuple(found["length_edges"]), found["most"])


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


def _evidence(found: Mapping[str, Any], label: str | None) -> Evidence:
    resampling = found["resampling"]
    return Evidence(
        uncertainty=found["uncertainty"],
        baseline=found["baseline"],
        compare_all=found["compare_all"],
        documents=found["documents"],
        resampling=None if resampling is None else Resampling(**resampling, partition=label or ""),
        save_totals=True,
        partition=label,
    )


def _coverage(found: Mapping[str, Any] | None) -> FoundCoverage | None:
    if found is None:
        return None
    systems = tuple(SystemCoverage(**each) for each in found["systems"])
    return FoundCoverage(found["rule"], found["segments"], systems)


def _of_corpus_sums(sums: CorpusSums) -> dict[str, Any]:
    # The command has the sums of units in its moments.
    return {name: value for name, value in dataclasses.asdict(sums).items() if name != "units"}


def _corpus_sums(found: Mapping[str, Any]) -> CorpusSums:
    return CorpusSums(
        **{**_with_tuples(found), "signs": InputSigns(**_with_tuples(found["signs"]))}
    )


def _names(of_systems: Mapping[str, CorpusSums], kind: MetricKind) -> list[str]:
    """The names of the columns of all systems, for people and other programs."""
    (width,) = {len(each.columns) for each in of_systems.values()}
    return list(kind.basis_of(width).names)


def _with_tuples(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(each) if isinstance(each, list) else each for name, each in found.items()}


def _of_keys(keys: Sequence[GroupKey]) -> list[Any]:
    return [None if key is None else [key.item, list(key.values)] for key in keys]


def _key(found: Any) -> SliceKey:
    item, values = found
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


def _slices(found: Mapping[str, Any]) -> SliceSums:
    return SliceSums(
        found["width"],
        tuple(map(_key, found["keys"])),
        tuple(found["systems"]),
        json_arrays.decoded(found["sums"]),
        np.array(found["offsets"], np.int64),
        json_arrays.decoded(found["by_reference"], _PAIRS_OF_COLUMNS),
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


def _moments(found: Mapping[str, Any]) -> Moments:
    return Moments(
        found["width"],
        tuple(found["systems"]),
        tuple(None if key is None else _key(key) for key in found["keys"]),
        tuple((one, other) for one, other in found["pairs"]),
        tuple((one, other) for one, other in found["slice_pairs"]),
        **{name: json_arrays.decoded(found[name], axes) for name, axes in MOMENTS_ARRAYS.items()},
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


def _replicates(found: Mapping[str, Any], resampling: Resampling | None) -> Replicates:
    if resampling is None:
        raise ValueError("there are replicates, but no resampling in the evidence")
    return Replicates(
        resampling,
        found["width"],
        tuple(found["systems"]),
        json_arrays.decoded(found["sums"]),
        json_arrays.decoded(found["unweighted"]),
    )
