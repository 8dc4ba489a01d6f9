"""The events of a run, in the types of OpenLineage's library.

This module loads that library, so it is imported only if events are asked for.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import attr
from openlineage.client.event_v2 import (
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    set_producer,
)
from openlineage.client.facet_v2 import (
    OutputDatasetFacet,
    dataset_version_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    parent_run,
    processing_engine_run,
)

from beam_bleu.pipeline.lineage.datasets import Dataset, dataset
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.version import VERSION

set_producer(f"urn:beam-bleu:{VERSION}")


@attr.define
class Scores(OutputDatasetFacet):
    """A facet of beam-bleu: the scores of the whole corpus."""

    segments: int
    scores: list[dict[str, Any]]

    @staticmethod
    def _get_schema() -> str:
        return "urn:beam-bleu:scores-facet:1"


@dataclasses.dataclass(frozen=True)
class Named:
    """What all events of a run have in common.

    Attributes:
      namespace: the namespace of the job.
      job: the name of the job.
      run: the run's name, a UUID without hyphens.
      output: the folder of the result.
      parent: the run that has started this one, as NAMESPACE/NAME/UUID; "" if it is not known.
    """

    namespace: str
    job: str
    run: str
    output: str
    parent: str = ""


def event(
    of: Named,
    state: str,
    time: str,
    patterns: Iterable[str],
    *,
    manifest: Mapping[str, Any] | None = None,
    result: Result | None = None,
    error: str = "",
) -> RunEvent:
    """An event of a run.

    Args:
      of: the run.
      state: START, COMPLETE, FAIL or ABORT.
      time: when it happened, in ISO 8601.
      patterns: the paths, patterns and tables of the input.
      manifest: the manifest of the result; None if there is none.
      result: the result; None if there is none.
      error: why there is no result.
    """
    facets: dict[str, Any] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=version("apache-beam"), name="Apache Beam", openlineageAdapterVersion=VERSION
        )
    }
    if of.parent:
        namespace, job, run = of.parent.rsplit("/", 2)
        facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(runId=run), job=parent_run.Job(namespace=namespace, name=job)
        )
    if error:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            message=error, programmingLanguage="PYTHON"
        )
    kind = job_type_job.JobTypeJobFacet(processingType="BATCH", integration="BEAM", jobType="JOB")
    return RunEvent(
        eventType=RunState(state),
        eventTime=time,
        run=Run(str(uuid.UUID(of.run)), facets),
        job=Job(of.namespace, of.job, {"jobType": kind}),
        inputs=_inputs(patterns, manifest),
        outputs=_outputs(of.output, result),
    )


def _inputs(patterns: Iterable[str], manifest: Mapping[str, Any] | None) -> list[InputDataset]:
    read: dict[Dataset, list[Mapping[str, Any]]] = {}
    for pattern in patterns:
        if (named := dataset(pattern)) is not None:
            read.setdefault(named, [])
    for stream in manifest["streams"] if manifest is not None else ():
        if (named := dataset(stream["pattern"])) is not None:
            read.setdefault(named, []).append(stream)
    return [
        InputDataset(*named, facets=_versions(streams), inputFacets=_statistics(streams))
        for named, streams in read.items()
    ]


def _versions(streams: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The version of a dataset that is one file or a table; several files have none in common."""
    known = {
        stream.get("snapshot")
        or (stream["files"][0]["version"] if len(stream["files"]) == 1 else 0)
        for stream in streams
    }
    if len(known) != 1 or not all(known):
        return {}
    (of_dataset,) = known
    facet = dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=str(of_dataset))
    return {"version": facet}


def _statistics(streams: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What was read of a dataset. A file that several streams read counts once."""
    files = {file["path"]: file for stream in streams for file in stream["files"]}
    if not files:
        return {}
    facet = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=sum(file["lines"] for file in files.values()),
        size=sum(file["bytes"] for file in files.values()),
        fileCount=len(files),
    )
    return {"inputStatistics": facet}


def _outputs(output: str, result: Result | None) -> list[OutputDataset]:
    named = dataset(output)
    if named is None:
        return []
    facets: dict[str, Any] = {}
    if result is not None:
        scores = [
            {"metric": row.metric, "system": row.system, "score": row.score}
            for row in result.scores
            if row.group is None and row.preset is None
        ]
        facets["beamBleu_scores"] = Scores(result.segments or 0, scores)
    return [OutputDataset(*named, outputFacets=facets)]
