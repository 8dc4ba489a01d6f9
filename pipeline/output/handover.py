"""The handover: how the last step of a run gives its result to the launcher.

In the same process it hands over the object, and otherwise a file. Other runs may replace
scores.json at any time, but only this run writes the handover, when its result is in place. So it
proves that the last step was done.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import SCORES, handover_path, workers_path
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import join


@dataclasses.dataclass(frozen=True)
class RunResult:
    """A scores.json as bytes and as rows, and remarks for the person who started the run."""

    scores: bytes
    result: Result
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, scores: bytes, notes: Sequence[str]) -> RunResult:
        return cls(scores, read_result(json.loads(scores)), tuple(notes))

    @property
    def warnings(self) -> list[str]:
        return [*self.notes, *self.result.all_warnings]


# The runs whose launcher waits in this process, and their results.
_HERE: dict[str, RunResult | None] = {}


def hand_over(output: str, run: str, result: RunResult) -> None:
    if run in _HERE:
        _HERE[run] = result
        return
    data = json.dumps(result.notes).encode() + b"\n" + result.scores
    storage.write_atomically(handover_path(output, run), data)


def remove_handover(output: str, run: str) -> None:
    with contextlib.suppress(Exception):
        storage.remove([handover_path(output, run), workers_path(output, run)])


@contextlib.contextmanager
def awaited(job: Job, in_process: bool) -> Iterator[Job]:
    """The job with its output folder, or a temporary one, while a launcher waits for it."""
    with contextlib.ExitStack() as stack:
        output = job.output or stack.enter_context(tempfile.TemporaryDirectory(prefix="beam-bleu-"))
        stack.callback(remove_handover, output, job.run)
        if in_process:
            _HERE[job.run] = None
            stack.callback(_HERE.pop, job.run)
        yield dataclasses.replace(job, output=output, is_awaited=True)


def result_of(job: Job) -> RunResult:
    if (result := _HERE.get(job.run)) is not None:
        return result
    path = handover_path(job.output, job.run)
    if not storage.exists(path):
        raise JobError(
            f"the runner reported success, but the job wrote no {join(job.output, SCORES)}",
            "the runner lost the last step, or its workers write to another filesystem",
        )
    notes, _, scores = storage.read(path).partition(b"\n")
    return RunResult.of(scores, json.loads(notes))
