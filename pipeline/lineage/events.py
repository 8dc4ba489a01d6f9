"""The events of a run, in the types of OpenLineage's library.

This module loads that library, so it is imported only if events are asked for.
"""

from __future__ import annotations

import os
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
from beam_bleu.pipeline.output.run_record import RunFacts
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.version import VERSION

NAMESPACE = "OPENLINEAGE_NAMESPACE"
PARENT = "OPENLINEAGE_PARENT_ID"
"""Variables of the environment: the namespace of the job; the run that has started it, as
NAMESPACE/NAME/UUID."""

set_producer(f"urn:beam-bleu:{VERSION}")


@attr.define
class Scores(OutputDatasetFacet):
    """A facet of beam-bleu: the scores of the whole corpus."""

    segments: int
    scores: list[dict[str, Any]]

    @staticmethod
    def _get_schema() -> str:
        return "urn:beam-bleu:scores-facet:1"


def event(
    facts: RunFacts,
    state: str,
    time: str,
    patterns: Iterable[str],
    streams: Sequence[Mapping[str, Any]],
    result: Result | None,
    error: str,
) -> RunEvent:
    """An event of a run.

    Args:
      facts: the run. The environment has the namespace of its job, and the run that has started it.
      state: START, COMPLETE, FAIL or ABORT.
      time: when it happened, in ISO 8601.
      patterns: the paths, patterns and tables of the input.
      streams: what was read, as the manifest has it; none without a result.
      result: the result; None if there is none.
      error: why there is no result, or "".
    """
    facets: dict[str, Any] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=version("apache-beam"), name="Apache Beam", openlineageAdapterVersion=VERSION
        )
    }
    if parent := os.environ.get(PARENT):
        namespace, job, run = parent.rsplit("/", 2)
        facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(runId=run), job=parent_run.Job(namespace=namespace, name=job)
        )
    if error:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            message=error, programmingLanguage="PYTHON"
        )
    kind = job_type_job.JobTypeJobFacet(processingType="BATCH", integration="BEAM", jobType="JOB")
    inputs: dict[Dataset, list[Mapping[str, Any]]] = {}
    for pattern in patterns:
        if (named := dataset(pattern)) is not None:
            inputs[named] = []
    for stream in streams:
        if (named := dataset(stream["pattern"])) is not None:
            inputs.setdefault(named, []).append(stream)
    output = dataset(facts.output)
    return RunEvent(
        eventType=RunState(state),
        eventTime=time,
        run=Run(str(uuid.UUID(facts.run)), facets),
        job=Job(os.environ.get(NAMESPACE) or "default", facts.lineage, {"jobType": kind}),
        inputs=[_input(named, read) for named, read in inputs.items()],
        outputs=[] if output is None else [_output(output, result)],
    )


def _input(named: Dataset, streams: Sequence[Mapping[str, Any]]) -> InputDataset:
    """A dataset, and what was read of it. A file that several streams read counts once."""
    files = {file["path"]: file for stream in streams for file in stream["files"]}
    statistics = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=sum(file["lines"] for file in files.values()),
        size=sum(file["bytes"] for file in files.values()),
        fileCount=len(files),
    )
    # One file or a table has a version; several files have none in common.
    versions = {stream.get("snapshot") for stream in streams}
    if versions == {None} and len(files) == 1:
        versions = {file["version"] for file in files.values()}
    facets: dict[str, Any] = {}
    if len(versions) == 1 and all(versions):
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(
            datasetVersion=str(*versions)
        )
    return InputDataset(
        *named, facets=facets, inputFacets={"inputStatistics": statistics} if files else {}
    )


def _output(named: Dataset, result: Result | None) -> OutputDataset:
    if result is None:
        return OutputDataset(*named)
    scores = [
        {"metric": row.metric, "system": row.system, "score": row.score}
        for row in result.scores
        if row.group is None and row.preset is None
    ]
    facets = {"beamBleu_scores": Scores(result.segments or 0, scores)}
    return OutputDataset(*named, outputFacets=facets)
