"""What a worker finds out about itself and about its access, before a job reads anything."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from beam_bleu.pipeline.doctor.installation import tokenizer_fact
from beam_bleu.pipeline.doctor.sample import SCORES, scored
from beam_bleu.pipeline.engines.worker_facts import Software, Worker, host_name, own_software
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import file_names
from beam_bleu.pipeline.output.storage import check_writable
from beam_bleu.transforms.errors import BleuError, JobError, UsageError
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.text.all_tokenizers import ALL_TOKENIZERS
from beam_bleu.transforms.text.text import TextName, text_versions
from beam_bleu.transforms.wiring.filesystems import join

__all__ = ["Asked", "answer", "asked_by"]


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the workers of a job are asked.

    Attributes:
      source: the input, of which they read the first byte of each stream.
      texts: the ways to make tokens that they need.
      output: the folder to which they write.
    """

    source: Source
    texts: tuple[TextName, ...]
    output: str


def asked_by(job: Job) -> Asked:
    """What the workers of a job are asked."""
    texts = {text: None for of_metric in job.scorings.values() for text in of_metric.counted}
    return Asked(job.source, tuple(texts), job.output)


def software(asked: Asked) -> Software:
    """The versions of this process on which the result of a job depends."""
    versions = dict(own_software())
    for text in asked.texts:
        versions |= {} if _missing_library(text) else text_versions(text)
    return versions


def answer(asked: Asked) -> Worker:
    """What this process says."""
    checks: list[Callable[[], None]] = [
        lambda: _check_sample(asked.texts),
        *(functools.partial(_check_library, text) for text in asked.texts),
        lambda: check_writable(join(asked.output, file_names.SCORES)),
        asked.source.check_readable,
    ]
    return Worker(host_name(), software(asked), tuple(_errors(checks)))


def _errors(checks: list[Callable[[], None]]) -> Iterator[BleuError]:
    # At the same time: a storage that does not answer makes each of them wait for a minute.
    with ThreadPoolExecutor(len(checks)) as threads:
        for checked in [threads.submit(check) for check in checks]:
            try:
                checked.result()
            except UsageError:
                pass  # such as a folder in place of a file: the job itself says more
            except BleuError as error:
                yield error


def _check_sample(texts: tuple[TextName, ...]) -> None:
    """Checks the kernel's numbers with the tokenizers of the job that the sample knows."""
    used = {text.tokenize for text in texts}
    wrong = [name for name in SCORES if name in used and scored(name) != SCORES[name]]
    if wrong:
        raise JobError(
            f"the compiled kernel gives wrong numbers for the built-in sample with {wrong[0]}",
            "run `beam-bleu doctor` there, and install beam-bleu again",
        )


def _check_library(text: TextName) -> None:
    missing = _missing_library(text)
    if missing:
        raise JobError(f"the tokenizer {text.tokenize} does not work: {missing[0]}", missing[1])


def _missing_library(text: TextName) -> tuple[str, str] | None:
    """Why the library of a tokenizer cannot be used, and what to do; None if it can be used."""
    row = ALL_TOKENIZERS[text.tokenize]
    if row.extra is None:
        return None
    fact = tokenizer_fact(row, row.extra)
    return None if fact.status == "ok" else (fact.text, fact.remedy)
