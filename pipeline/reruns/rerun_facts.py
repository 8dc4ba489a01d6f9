"""What decides a result: as a job asks for it, and as a result document shows it.

Each field of the dataclasses that a job is made of is in `FACTS` or in `DECIDE_NOTHING`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beam_bleu.pipeline.display.slices import of_whole
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output.evidence_parts import unit_of
from beam_bleu.pipeline.output.metric_views import metrics_of, part_of
from beam_bleu.pipeline.result.series import choices_in, choices_of
from beam_bleu.transforms.definition.slicing import CROSS, LENGTH

_NONE = "none"

Document = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Fact:
    """A row of `FACTS`.

    Attributes:
      name: its name in messages.
      fields: the fields that it shows, as "Evidence.baseline".
      asked: what a job asks for, as messages show it. It may depend on what only the result shows,
        such as the names of all systems.
      found: what the result has. If it would be the same for any choice, it is what the job asks
        for.
    """

    name: str
    fields: tuple[str, ...]
    asked: Callable[[Job, Document], str]
    found: Callable[[Document, Job], str]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or _NONE


def _first(document: Document) -> Document:
    """What a document says about its first metric. It says the same of the others."""
    return part_of(document, metrics_of(document)[0])


def _definition(job: Job, document: Document) -> str:
    return _of_metrics(
        {
            name: choices_in(scorings.signature_of(scorings.corpus), scorings.languages)
            for name, scorings in job.scorings.items()
        }
    )


def _found_definition(document: Document, job: Job) -> str:
    return _of_metrics({name: _choices(part_of(document, name)) for name in metrics_of(document)})


def _choices(part: Document) -> str:
    return choices_of(part["signature"], part.get("languages", ()))


def _of_metrics(definitions: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {made}" for name, made in definitions.items())


def _pooling(job: Job, document: Document) -> str:
    return _NONE if job.unpooled is not None else "one"


def _found_pooling(document: Document, job: Job) -> str:
    if "tasks" in document:
        return _NONE
    # With one task, the choice makes no difference.
    label = job.unpooled
    tasks = (
        {values[label] for values in _slices_of(document) if label in values} if label else set()
    )
    return "one" if len(tasks) > 1 else _pooling(job, document)


def _segments(job: Job, document: Document) -> str:
    if not job.segment_scores:
        return _NONE
    return _of_metrics(
        {
            name: choices_in(scorings.signature_of(scorings.segments), scorings.languages)
            for name, scorings in job.scorings.items()
            if scorings.segments is not None
        }
    )


def _found_segments(document: Document, job: Job) -> str:
    if "segment_scores" not in document:
        return _NONE
    return _of_metrics(
        {name: _choices(part_of(document, name)["segment_scores"]) for name in metrics_of(document)}
    )


def _systems_of(document: Document) -> list[str]:
    # Without a score of the whole corpus there are averages.
    systems = [
        entry["system"]
        for part in map(functools.partial(part_of, document), metrics_of(document))
        for entry in (*of_whole(part), *part.get("macro_average", ()))
    ]
    return list(dict.fromkeys(systems))


def _systems(job: Job, document: Document) -> str:
    # The systems of records can be known only after the records are read.
    return _listed(job.source.systems or _systems_of(document))


def _slices_of(document: Document) -> list[Mapping[str, str | None]]:
    return [score["slice"] for score in document["scores"] if score["slice"] is not None]


def _found_slices(document: Document, job: Job) -> str:
    items = dict.fromkeys(tuple(of_slice) for of_slice in _slices_of(document))
    return _listed(CROSS.join(labels) for labels in items)


def _ranges(job: Job, document: Document) -> str:
    return _listed(job.slicing.length_ranges)


def _found_ranges(document: Document, job: Job) -> str:
    # A range without a segment is not in the result.
    ranges = dict.fromkeys(
        str(of_slice[LENGTH]) for of_slice in _slices_of(document) if LENGTH in of_slice
    )
    if {*ranges} <= {*job.slicing.length_ranges}:
        return _ranges(job, document)
    return _listed(ranges)


def _compared(document: Document) -> list[Mapping[str, Any]]:
    """The comparisons on the whole corpus; on slices, if there are no others."""
    document = _first(document)
    of_replicates = document.get("resampling", {}).get("comparisons", [])
    comparisons = document.get("comparisons", [])
    whole = [comparison for comparison in comparisons if comparison["slice"] is None]
    return whole or of_replicates or comparisons


def _baseline(job: Job, document: Document) -> str:
    return job.evidence.baseline or _systems_of(document)[0]


def _found_baseline(document: Document, job: Job) -> str:
    # The first comparison is with the baseline.
    comparisons = _compared(document)
    return comparisons[0]["baseline"] if comparisons else _baseline(job, document)


def _pairs(job: Job, document: Document) -> str:
    return "all pairs" if job.evidence.compare_all else "pairs with the baseline"


def _found_pairs(document: Document, job: Job) -> str:
    baselines = {comparison["baseline"] for comparison in _compared(document)}
    if "clusters" in document or len(baselines) > 1:
        return "all pairs"
    # With two systems, there is only one pair.
    has_clusters = "comparisons" in document and of_whole(_first(document))
    if has_clusters or len(_compared(document)) > 1:
        return "pairs with the baseline"
    return _pairs(job, document)


def _unit(job: Job, document: Document) -> str:
    return unit_of(job.evidence) if job.evidence.uncertainty else _NONE


def _found_unit(document: Document, job: Job) -> str:
    return str(document.get("uncertainty", {}).get("unit", _NONE))


def _documents(job: Job, document: Document) -> str:
    return job.evidence.documents or _NONE


def _found_documents(document: Document, job: Job) -> str:
    for name in ("uncertainty", "resampling"):
        if name in document:
            return str(document[name]["label"] or _NONE)
    return _documents(job, document)


def _resampling(job: Job, document: Document) -> str:
    asked = job.evidence.resampling
    return _NONE if asked is None else f"{asked.method}, {asked.number}, seed {asked.seed}"


def _found_resampling(document: Document, job: Job) -> str:
    resampling = document.get("resampling")
    if resampling is None:
        return _NONE
    return f"{resampling['method']}, {resampling['resamples']}, seed {resampling['seed']}"


FACTS = (
    Fact(
        "partition",
        ("Evidence.partition",),
        lambda job, document: job.evidence.partition or _NONE,
        lambda document, job: document.get("partition", _NONE),
    ),
    Fact(
        "definition",
        (
            *("Job.languages", "Job.metrics", "Job.text"),
            *("Scorings.name", "Scorings.text", "Scorings.corpus", "Scorings.languages"),
        ),
        _definition,
        _found_definition,
    ),
    Fact("score of all tasks", ("Job.unpooled", "Scorings.unpooled"), _pooling, _found_pooling),
    Fact(
        "slices by",
        ("Job.slicing", "Slicing.items"),
        lambda job, document: _listed(CROSS.join(item) for item in job.slicing.items),
        _found_slices,
    ),
    Fact("ranges of lengths", ("Slicing.length_edges",), _ranges, _found_ranges),
    Fact(
        "presets",
        ("Scorings.presets",),
        lambda job, document: _listed(
            name for scorings in job.scorings.values() for name in scorings.presets
        ),
        lambda document, job: _listed(preset["preset"] for preset in document.get("presets", ())),
    ),
    Fact(
        "segment scores",
        ("Job.segment_scores", "Scorings.segments"),
        _segments,
        _found_segments,
    ),
    Fact("standard errors by", ("Job.evidence", "Evidence.uncertainty"), _unit, _found_unit),
    Fact("documents", ("Evidence.documents",), _documents, _found_documents),
    Fact("resampling", ("Evidence.resampling",), _resampling, _found_resampling),
    Fact(
        "systems",
        ("Job.source",),
        _systems,
        lambda document, job: _listed(_systems_of(document)),
    ),
    Fact("baseline", ("Evidence.baseline",), _baseline, _found_baseline),
    Fact("compared are", ("Evidence.compare_all",), _pairs, _found_pairs),
)
"""All that decides a result, apart from its input (rerun_input.py)."""

DECIDE_NOTHING = {
    "Evidence.save_totals": "whether totals.json is there is looked up in the folder",
    "Job.examples": "whether examples.jsonl has as many is looked up in the folder",
    "Slicing.most": "with more slices there is no result",
    "Job.most_rejected": "with more rejected records there is no result",
    "Job.output": "it is the folder of the result",
    "Job.threads": "results do not depend on the division of the work",
    "Job.run": "it names files that only this run writes",
    "Job.receipt": "it is another file",
    "Job.manifest": "without a manifest, a result is never kept",
    "Job.allow": "it is compared with the input (rerun_input.py)",
    "Job.gates": "they judge a result that is kept, too",
    "Job.if_exists": "it is the choice to keep a result",
}
"""The fields that do not decide what scores.json says, and why."""
