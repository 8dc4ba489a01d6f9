"""Finds, checks and prepares the Beam runner that --runner names, in-process or an engine's."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import shutil
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import (
    DirectOptions,
    FlinkRunnerOptions,
    GoogleCloudOptions,
    JobServerOptions,
    PipelineOptions,
    PortableOptions,
    SparkRunnerOptions,
    StandardOptions,
)
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.runner import create_runner
from apache_beam.runners.worker import statesampler
from apache_beam.transforms.util import Reshuffle

from beam_bleu.pipeline.errors.reporting import uninterrupted
from beam_bleu.transforms.errors import JobError, UsageError


class InProcessRunner(FnApiRunner):
    """Beam's in-process runner, without each `Reshuffle` if one worker leaves nothing to spread."""

    def apply(self, transform: Any, input: Any, options: Any) -> Any:
        # Building and running two reshuffles would take a fifth of a short run.
        workers = options.view_as(DirectOptions).direct_num_workers
        if isinstance(transform, Reshuffle) and workers == 1:
            return input
        return super().apply(transform, input, options)

    def run_pipeline(self, pipeline: Any, options: Any) -> Any:
        # Beam has no option for this, but its workers look the class up for each bundle.
        statesampler.StateSampler = _NoSampler
        return super().run_pipeline(pipeline, options)


class _NoSampler(statesampler.StateSampler):
    """Keeps track of its worker's step, as Beam's sampler does, but starts no sampling thread."""

    def start(self) -> None:
        self.tracked_thread = threading.current_thread()
        statesampler.set_current_tracker(self)
        self.started = True

    def stop(self) -> None:
        statesampler.set_current_tracker(None)
        self.finished = True


_IN_PROCESS = ("directrunner", "fnapirunner", "switchingdirectrunner")

# The runners that --help shows. Beam has more, for its own tests and for notebooks.
SHOWN_RUNNERS = (
    "DirectRunner",
    "PrismRunner",
    "FlinkRunner",
    "SparkRunner",
    "DataflowRunner",
    "PortableRunner",
)

# Makes all tasks of a job run until its end, unless the user chooses otherwise. By default, Flink
# starts the tasks after the sums when those that read are done. By then, Beam's Flink runner has
# stopped all Python workers, so each would start twice. "Forced" is a warning that steps with side
# inputs could wait for themselves; our jobs have none.
_FLINK_MODE = "--execution_mode_for_batch=PIPELINED_FORCED"
_PATIENCE = 10.0  # seconds to wait for the answer of a job server
# Seconds that the workers of an engine may take to answer, unless --worker_timeout is given.
WORKER_TIMEOUT = 300


@dataclasses.dataclass(frozen=True)
class Runner:
    """A runner by its name in Beam; `in_process` for the default, Beam's in-process runner."""

    name: str
    in_process: bool

    def flags_of_engine(self, given: Sequence[str]) -> list[str]:
        names = [flag.partition("=")[0].lstrip("-").replace("-", "_") for flag in given]
        is_given = "execution_mode_for_batch" in names
        is_flink = self.name.rpartition(".")[2] == "FlinkRunner"
        return [_FLINK_MODE, *given] if is_flink and not is_given else [*given]

    def prepare(self, options: PipelineOptions, run: str) -> None:
        """Checks early what an engine would find late, or wait for; gives the job its name."""
        if self.in_process:
            return
        if self.name.endswith("SparkRunner") and options.view_as(StandardOptions).streaming:
            raise UsageError(
                "--streaming: Spark never ends a streaming job, even when its input ends",
                "leave it out",
            )
        _check_reachable(self.name, options)
        cloud = options.view_as(GoogleCloudOptions)  # from which every engine reads the job's name
        now = datetime.datetime.now(datetime.timezone.utc)
        cloud.job_name = cloud.job_name or f"beam-bleu-{now:%Y%m%d-%H%M%S}-{run[:4]}"

    @contextlib.contextmanager
    def pipeline(self, options: PipelineOptions) -> Iterator[beam.Pipeline]:
        pipeline = None
        try:
            with uninterrupted():  # because this imports the runner
                pipeline = self._empty_pipeline(options)
            yield pipeline
        finally:
            if pipeline is not None:  # Beam removes its folder only after a pipeline has run
                shutil.rmtree(pipeline.local_tempdir, ignore_errors=True)

    def _empty_pipeline(self, options: PipelineOptions) -> beam.Pipeline:
        if self.in_process:
            # Beam's own DirectRunner would first try to download another runner (Prism).
            runner = InProcessRunner()
        else:
            try:
                runner = create_runner(self.name)
            except (ImportError, AttributeError, ValueError) as error:
                raise UsageError(
                    f"--runner {self.name} cannot be loaded: {error}",
                    "check its name, and install the packages that it needs",
                ) from error
        try:
            return beam.Pipeline(runner=runner, options=options)
        except ValueError as error:  # here Beam checks the options, and lists all mistakes
            wrong = " ".join(str(error).splitlines()[1:]) or str(error)
            raise UsageError(
                f"--runner {self.name}: {wrong}", "give the runner the flags that it needs"
            ) from error


def _check_reachable(runner: str, options: PipelineOptions) -> None:
    name = runner.rpartition(".")[2]
    portable = options.view_as(PortableOptions)
    endpoint = portable.job_endpoint
    sends_a_jar = (
        options.view_as(FlinkRunnerOptions).flink_submit_uber_jar
        or options.view_as(SparkRunnerOptions).spark_submit_uber_jar
    )
    if endpoint and endpoint != "embed":
        _ask_job_server(endpoint)
    elif name == "PortableRunner" and not endpoint:
        raise UsageError(
            "--runner PortableRunner needs --job_endpoint", "name the engine's job server"
        )
    elif name in ("FlinkRunner", "SparkRunner") and not sends_a_jar:
        java = options.view_as(JobServerOptions).job_server_java_launcher
        if shutil.which(java) is None:
            raise UsageError(
                f"--runner {runner} starts a job server in Java, but `{java}` is not installed",
                "install Java, or name a job server that runs elsewhere: --job_endpoint HOST:PORT",
            )
    from beam_bleu.pipeline.engines.sent_jobs import ask_flink, flink_url

    url = flink_url(options)
    if name == "FlinkRunner" and url and not endpoint and not ask_flink(url, "/jobs/overview"):
        raise JobError(
            f"no Flink answers at --flink_master {url}",
            "start it, or correct the address: it is the REST port of the JobManager",
        )
    if portable.environment_type in ("EXTERNAL", "beam:env:external:v1") and not (
        portable.environment_config
        or portable.lookup_environment_option("external_service_address")
    ):
        raise UsageError(
            "--environment_type EXTERNAL needs the address of the pool of Python workers",
            "give it with --environment_config HOST:PORT",
        )


def _ask_job_server(endpoint: str) -> None:
    import grpc
    from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc

    with grpc.insecure_channel(endpoint) as channel:
        try:
            # The first call that Beam itself makes when it submits a job.
            beam_job_api_pb2_grpc.JobServiceStub(channel).DescribePipelineOptions(
                beam_job_api_pb2.DescribePipelineOptionsRequest(), timeout=_PATIENCE
            )
        except grpc.RpcError as error:
            raise JobError(
                f"no job server of Beam answers at --job_endpoint {endpoint}: "
                f"{error.code().name}: {error.details()}",
                "start it, or correct HOST:PORT: the port of Beam's job server is usually 8099; "
                "those of Flink and Spark belong to --flink_master and --spark_master_url",
            ) from error


def find_runner(name: str | None) -> Runner:
    name = name or "DirectRunner"
    last = name.rpartition(".")[2].lower()
    if not last.endswith("runner"):
        last += "runner"
    if last == "daskrunner":
        raise UsageError(
            f"--runner {name} is refused: it loses tagged outputs and all but one of a pipeline's "
            "last steps, so parts of a corpus are lost without an error",
            "use another runner",
        )
    if last in _IN_PROCESS:
        return Runner("FnApiRunner", in_process=True)
    known = {known.lower(): known for known in StandardOptions.KNOWN_RUNNER_NAMES}
    if "." not in name and last not in known:
        raise UsageError(
            f"--runner {name}: there is no such runner",
            f"choose one of {', '.join(known.values())}, or a class by its full name",
        )
    return Runner(name if "." in name else known[last], in_process=False)
