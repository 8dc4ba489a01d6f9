"""The handshake: the first step of a job on an engine, for which all other steps wait.

Workers answer which versions they have and what they can do. A step writes the answers to a file
for the launcher, and fails the job if a worker differs from the launcher or cannot do its work. No
engine promises to ask every worker, so each step of the job checks the versions again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib
import json
import pathlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import FlinkRunnerOptions, PipelineOptions

from beam_bleu.pipeline.engines.installation import SCORES, scored
from beam_bleu.pipeline.errors.told_errors import error_of_code, exit_code
from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.folder.file_names import SCORES as SCORES_FILE
from beam_bleu.pipeline.folder.file_names import workers_path
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.transforms.errors import BleuError, JobError, UsageError, joined
from beam_bleu.transforms.pairing.files.found_files import check_readable
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.text.library_tokenizers import load_library
from beam_bleu.transforms.text.text import TextName, text_versions
from beam_bleu.transforms.version import software_versions
from beam_bleu.transforms.wiring.filesystems import join
from beam_bleu.transforms.wiring.steps import Step

# Versions by the name of the software: our own, what it needs, and libraries that make tokens.
Software = Mapping[str, str]
# Libraries whose versions may differ, because scoring a sample shows whether they count correctly.
_MAY_DIFFER = ("numba", "numpy", "pyarrow")

REINSTALL = (
    "install the launcher's version on all workers, or send beam-bleu with the job: "
    "--extra_package beam_bleu-....whl"
)


@dataclasses.dataclass(frozen=True)
class Worker:
    host: str
    software: Software
    errors: tuple[BleuError, ...] = ()

    def to_json(self) -> str:
        """The answer as text that any version of beam-bleu can read."""
        errors = [[exit_code(error), error.cause, error.remedy] for error in self.errors]
        fields = {"host": self.host, "software": dict(self.software), "errors": errors}
        return json.dumps(fields, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Worker:
        fields: Mapping[str, Any] = json.loads(text)
        errors = (error_of_code(*error) for error in fields["errors"])
        return cls(fields["host"], fields["software"], tuple(errors))


@functools.cache
def own_software() -> Software:
    versions = {**software_versions(), "code": _code_digest()}
    del versions["platform"]
    return versions


def host_name() -> str:
    return platform.node() or "an unnamed host"


def require_able(launcher: Software, workers: Sequence[Worker]) -> None:
    for name, wanted in launcher.items():
        if wrong := [worker for worker in workers if differs(name, worker, wanted)]:
            said = f"is {wrong[0].software.get(name, 'missing')}"
            raise JobError(
                f"on {_hosts(wrong)}: {shown_name(name)} {said}, but the launcher has {wanted}",
                REINSTALL,
            )
    # Errors of the input come last, because a worker that lacks a library may not be able to read.
    errors = sorted(
        (error for worker in workers for error in worker.errors),
        key=lambda error: (exit_code(error), error.cause, error.remedy),
    )
    if errors:
        unable = [worker for worker in workers if str(errors[0]) in map(str, worker.errors)]
        cause = f"on {_hosts(unable)}: {errors[0].cause}"
        raise type(errors[0])(cause, errors[0].remedy)


def differs(name: str, worker: Worker, wanted: str) -> bool:
    version = worker.software.get(name)
    if name == "python" and version is not None:  # 3.11.4 and 3.11.9 are compatible
        return version.split(".")[:2] != wanted.split(".")[:2]
    return version != wanted and name not in _MAY_DIFFER


def hosts_and_versions(workers: Sequence[Worker]) -> list[dict[str, Any]]:
    shown = {(worker.host, tuple(sorted(worker.software.items()))) for worker in workers}
    return [{"host": host, "versions": dict(versions)} for host, versions in sorted(shown)]


def shown_name(software: str) -> str:
    return "the code of beam-bleu" if software == "code" else software.replace("_", "-")


def _hosts(workers: Sequence[Worker]) -> str:
    return joined(sorted({worker.host for worker in workers}))


def _code_digest() -> str:
    """A digest of beam-bleu's Python files, because copies of the same version can differ."""
    digest = hashlib.sha256()
    for package in ("beam_bleu.transforms", "beam_bleu.pipeline"):
        folder = pathlib.Path(importlib.import_module(package).__path__[0])
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{package} {path.relative_to(folder)} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:12]


_PROBES = 16


@dataclasses.dataclass(frozen=True)
class Handshake:
    """What a job asks its workers before it reads anything; the answers are written to `path`."""

    source: Source
    texts: tuple[TextName, ...]
    output: str
    software: Software
    path: str
    probes: int

    @classmethod
    def of(cls, job: Job, options: PipelineOptions) -> Handshake:
        scorings = job.scorings.values()
        texts = tuple(dict.fromkeys(text for scoring in scorings for text in scoring.counted))
        # Flink deals probes out to its subtasks in turn, so each subtask gets at least one.
        probes = max(options.view_as(FlinkRunnerOptions).parallelism or 0, _PROBES)
        path = workers_path(job.output, job.run)
        return cls(job.source, texts, job.output, _software(texts), path, probes)

    def steps(self, step: Step) -> beam.PTransform:
        return "Greet the workers" >> _greet(self, step)

    @property
    def set_up(self) -> Callable[[beam.DoFn], None]:
        return functools.partial(_set_up, self.software)

    def answers(self) -> list[Worker] | None:
        """The answers of the workers; None if they have not arrived yet."""
        if not storage.exists(self.path):
            return None
        return [Worker.from_json(text) for text in json.loads(storage.read(self.path))]


def _set_up(launcher: Software, dofn: beam.DoFn) -> None:
    # Engines set up all steps at the same time, so this can run before the workers have answered.
    own = own_software()
    shared = {name: version for name, version in launcher.items() if name in own}
    require_able(shared, [Worker(host_name(), own)])
    with _naming_host():
        dofn.setup()


@contextlib.contextmanager
def _naming_host() -> Iterator[None]:
    try:
        yield
    except JobError as error:
        raise JobError(f"on {host_name()}: {error.cause}", error.remedy) from error


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def _greet(root: beam.Pipeline, handshake: Handshake, step: Step) -> Any:
    return (
        root
        | "Make probes" >> beam.Create(range(handshake.probes), reshuffle=False)
        | "Spread the probes" >> beam.Reshuffle()
        | "Answer" >> beam.ParDo(step(_Answer(handshake))).with_output_types(tuple[int, str])
        | "Gather the answers" >> beam.GroupByKey()
        | "Check the answers" >> beam.ParDo(step(_Check(handshake)))
    )


class _Answer(beam.DoFn):
    def __init__(self, handshake: Handshake) -> None:
        self._handshake = handshake

    def start_bundle(self) -> None:
        self._answer = _answer(self._handshake).to_json()

    def process(self, probe: int) -> Iterator[tuple[int, str]]:
        yield 0, self._answer


class _Check(beam.DoFn):
    def __init__(self, handshake: Handshake) -> None:
        self._handshake = handshake

    def process(self, gathered: tuple[int, Iterable[str]]) -> Iterator[None]:
        answers = sorted(set(gathered[1]))
        # Written before the check: the engine would retry a failed step, the launcher ends the job.
        with _naming_host():
            storage.write_atomically(self._handshake.path, json.dumps(answers).encode())
        require_able(self._handshake.software, [Worker.from_json(text) for text in answers])
        yield None


def _software(texts: Sequence[TextName]) -> Software:
    versions = dict(own_software())
    for text in texts:
        with contextlib.suppress(PackageNotFoundError):
            versions |= text_versions(text)
    return versions


def _answer(handshake: Handshake) -> Worker:
    checks: list[Callable[[], None]] = [
        functools.partial(_check_sample, handshake.texts),
        *(functools.partial(load_library, text.tokenize) for text in handshake.texts),
        functools.partial(storage.check_writable, join(handshake.output, SCORES_FILE)),
        functools.partial(check_readable, handshake.source.inputs),
    ]
    errors = []
    for check in checks:
        try:
            check()
        except UsageError:
            pass  # such as a folder in place of a file; the job's own error says more
        except BleuError as error:
            errors.append(error)
    return Worker(host_name(), _software(handshake.texts), tuple(errors))


def _check_sample(texts: tuple[TextName, ...]) -> None:
    used = {text.tokenize for text in texts}
    wrong = [name for name in SCORES if name in used and scored(name) != SCORES[name]]
    if wrong:
        raise JobError(
            f"the compiled kernel gives wrong numbers for the built-in sample with {wrong[0]}",
            "run `beam-bleu doctor` there, and install beam-bleu again",
        )
