"""Sends what a run read and wrote as OpenLineage events (--lineage); needs OpenLineage's library.

A thread sends the events, and the run waits for it at the end. Any failure is only one warning.
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib.metadata import version
from typing import Any, NamedTuple

import attr
from openlineage.client import OpenLineageClient
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
from openlineage.client.transport.console import ConsoleTransport

from beam_bleu.pipeline.errors.reporting import Ending, warn
from beam_bleu.pipeline.errors.terminal import now
from beam_bleu.pipeline.folder.publication import result_in
from beam_bleu.pipeline.output.run_record import HIDDEN, without_url_secrets
from beam_bleu.pipeline.output.run_results import RunResult
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.files.streams import Stream, before_wildcard, is_pattern
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.version import VERSION

_PATIENCE = 3.0  # seconds to wait for the server when the run has ended
_SIGNAL = 128  # larger exit codes mean that the run was stopped by a signal
# How the paths of streams begin that no other program can read: stdin and pipes.
_OF_PROCESSES = ("-", "/dev/", "/proc/")
_AZURE = re.compile(r"azfs://([^/]+)/([^/]+)(.*)")  # azfs://ACCOUNT/CONTAINER/PATH

set_producer(f"urn:beam-bleu:{VERSION}")


@attr.define
class Scores(OutputDatasetFacet):
    segments: int
    scores: list[dict[str, Any]]

    @staticmethod
    def _get_schema() -> str:
        return "urn:beam-bleu:scores-facet:1"


class Lineage:
    """Sends the two events of a run: when its job starts, and when the run ends."""

    def __init__(self, run: str, output: str, job: str, start: str) -> None:
        self._run, self._output, self._job, self._start = run, output, job, start
        self._client = _client()
        self._thread = ThreadPoolExecutor(1, "lineage")
        self._sent: list[Future[None]] = []
        self._inputs: dict[Dataset, list[Mapping[str, Any]]] = {}

    def start(self, inputs: Sequence[Stream]) -> None:
        named = (dataset(stream.pattern) for stream in inputs)
        self._inputs = {name: [] for name in named if name is not None}
        self._send("START", self._start)

    def end(self, ending: Ending, result: RunResult | None) -> None:
        """Sends the end of the run, which has failed if it has no result; waits for the server."""
        if not self._sent:
            self._send("START", self._start)
        if result is not None:
            current = result_in(self._output)
            if current is not None and current[0] == result.scores:
                for stream in current[1]["streams"]:
                    if (named := dataset(stream["pattern"])) is not None:
                        self._inputs.setdefault(named, []).append(stream)
            self._send("COMPLETE", now(), result=result)
        else:
            error = "\n".join(filter(None, (ending.cause, ending.remedy)))
            state = "ABORT" if ending.code > _SIGNAL else "FAIL"
            self._send(state, now(), without_url_secrets(error))
        self._sent.append(self._thread.submit(self._client.close, _PATIENCE))
        done, waiting = wait(self._sent, _PATIENCE)
        self._thread.shutdown(wait=False, cancel_futures=True)
        failures = [failed for sent in self._sent if sent in done and (failed := sent.exception())]
        why = f"no answer after {_PATIENCE:g} seconds" if waiting else ""
        if failures:
            why = without_url_secrets(f"{type(failures[0]).__name__}: {failures[0]}")
        if why:
            warn(f"the lineage of this run was not sent: {why}")

    def _send(
        self, state: str, time: str, error: str = "", result: RunResult | None = None
    ) -> None:
        facets: dict[str, Any] = {
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                version("apache-beam"), "Apache Beam", VERSION
            )
        }
        if parent := os.environ.get("OPENLINEAGE_PARENT_ID"):  # NAMESPACE/NAME/UUID
            namespace, job, run = parent.rsplit("/", 2)
            facets["parent"] = parent_run.ParentRunFacet(
                parent_run.Run(run), parent_run.Job(namespace, job)
            )
        if error:
            facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(error, "PYTHON")
        namespace = os.environ.get("OPENLINEAGE_NAMESPACE") or "default"
        kind = job_type_job.JobTypeJobFacet(
            processingType="BATCH", integration="BEAM", jobType="JOB"
        )
        output = dataset(self._output)
        event = RunEvent(
            eventType=RunState(state),
            eventTime=time,
            run=Run(str(uuid.UUID(self._run)), facets),
            job=Job(namespace, self._job, {"jobType": kind}),
            inputs=[_input(named, read) for named, read in self._inputs.items()],
            outputs=[] if output is None else [_output(output, result)],
        )
        self._sent.append(self._thread.submit(self._client.emit, event))


def _client() -> Any:
    # The current folder says nothing about the source code of the job.
    config = {"facets": {"source_code_location": {"disabled": True}}}
    try:
        client = OpenLineageClient(config=config)
        transport = (client.config.transport or {}).get("type")
    except Exception as error:  # the library raises exceptions of many types
        raise UsageError(
            f"--lineage: OpenLineage is not set up correctly: {type(error).__name__}: {error}",
            "change openlineage.yml, or the variables that begin with OPENLINEAGE",
        ) from error
    if isinstance(client.transport, ConsoleTransport):
        if not transport:
            raise UsageError(
                "--lineage: nothing says where events go",
                "set OPENLINEAGE_URL, or write an openlineage.yml: see docs/nights.md",
            )
        logging.getLogger(ConsoleTransport.__module__).setLevel(logging.INFO)
    return client


def _input(named: Dataset, streams: Iterable[Mapping[str, Any]]) -> InputDataset:
    """An input dataset. A file that several streams read counts once."""
    files = {file["path"]: file for stream in streams for file in stream["files"]}
    statistics = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=sum(file["lines"] for file in files.values()),
        size=sum(file["bytes"] for file in files.values()),
        fileCount=len(files),
    )
    # A single file or a table has a version; several files have no common one.
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


def _output(named: Dataset, result: RunResult | None) -> OutputDataset:
    if result is None:
        return OutputDataset(*named)
    scores = [
        {"metric": row.metric, "system": row.system, "score": row.score}
        for row in result.result.scores
        if row.slice is None
    ]
    facets = {"beamBleu_scores": Scores(result.result.segments or 0, scores)}
    return OutputDataset(*named, outputFacets=facets)


class Dataset(NamedTuple):
    """A dataset's name by OpenLineage's rules, https://openlineage.io/docs/spec/naming."""

    namespace: str
    name: str


def dataset(pattern: str) -> Dataset | None:
    """The dataset of a path or a table, or of the folder of a pattern; None for a pipe."""
    kind = table_kind(pattern)
    if kind is not None:
        pattern = pattern.partition(":")[2]
        if "/" not in pattern and "://" not in pattern:  # a name in a catalog
            return Dataset(kind.label.lower(), pattern)
    if pattern.startswith(_OF_PROCESSES):
        return None
    path = before_wildcard(pattern).rpartition("/")[0] if is_pattern(pattern) else pattern
    if "://" not in pattern:
        return Dataset("file", os.path.abspath(path))
    if of_azure := _AZURE.fullmatch(path):
        account, container, name = of_azure.groups()
        return Dataset(f"abfss://{container}@{account}.dfs.core.windows.net", _name(name))
    # Without passwords, so that the same files always have the same name.
    scheme, _, rest = without_url_secrets(path).partition("://")
    bucket, _, name = rest.removeprefix(f"{HIDDEN}@").partition("/")
    return Dataset(f"{scheme}://{bucket}", _name(name))


def _name(path: str) -> str:
    return path.strip("/") or "/"
