"""The handshake: the first step of a job on an engine, on whose end all others wait.

Workers say which versions they have and what they can do. A step gathers what they say, writes it
for the launcher, and ends the job if a worker differs or cannot do its work. No engine promises
that each worker is asked, so every step of the job checks the versions again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import FlinkRunnerOptions, PipelineOptions

from beam_bleu.pipeline.doctor.sample import SCORES, scored
from beam_bleu.pipeline.engines.worker_facts import (
    Software,
    Worker,
    host_name,
    own_software,
    require_able,
)
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import SCORES as SCORES_FILE
from beam_bleu.pipeline.output.file_names import workers_path
from beam_bleu.transforms.errors import BleuError, JobError, UsageError
from beam_bleu.transforms.pairing.lines.visible import check_readable
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.text.library_tokenizers import load_library
from beam_bleu.transforms.text.text import TextName, text_versions
from beam_bleu.transforms.wiring.filesystems import join
from beam_bleu.transforms.wiring.steps import Step

_PROBES = 16
"""The least number of probes."""


@dataclasses.dataclass(frozen=True)
class Handshake:
    """What a job asks its workers before it reads anything.

    Attributes:
      source: the input, of which they read the first byte of each stream.
      texts: the ways to make tokens that they need.
      output: the folder to which they write.
      software: the launcher's versions.
      path: the file that gets the answers.
      probes: how many times it asks.
    """

    source: Source
    texts: tuple[TextName, ...]
    output: str
    software: Software
    path: str
    probes: int

    @classmethod
    def of(cls, job: Job, options: PipelineOptions) -> Handshake:
        """The handshake of a job, whose launcher is this process."""
        scorings = job.scorings.values()
        texts = tuple(dict.fromkeys(text for scoring in scorings for text in scoring.counted))
        # Flink deals them out to the subtasks in turn, so that each one gets the same number.
        probes = max(options.view_as(FlinkRunnerOptions).parallelism or 0, _PROBES)
        path = workers_path(job.output, job.run)
        return cls(job.source, texts, job.output, _software(texts), path, probes)

    def steps(self, step: Step) -> beam.PTransform:
        """The transform of a pipeline's root to one element, if the workers can do the job."""
        return "Greet the workers" >> _greet(self, step)

    @property
    def set_up(self) -> Callable[[beam.DoFn], None]:
        """Sets up a step of the job on a worker, and checks the worker's versions before."""
        return functools.partial(_set_up, self.software)

    def answers(self) -> list[Worker] | None:
        """What the workers have said; None if that is not known yet."""
        if not storage.exists(self.path):
            return None
        return [Worker.from_json(text) for text in json.loads(storage.read(self.path))]


def _set_up(launcher: Software, dofn: beam.DoFn) -> None:
    # Engines do this for all steps at the same time, so it can be earlier than the answers.
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
        # Before the check, because the launcher can end a job at once that the engine would repeat.
        with _naming_host():
            storage.write_atomically(self._handshake.path, json.dumps(answers).encode())
        require_able(self._handshake.software, [Worker.from_json(text) for text in answers])
        yield None


def _software(texts: Sequence[TextName]) -> Software:
    """The versions on which the result of a job depends."""
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
            pass  # such as a folder in place of a file: the job itself says more
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
