"""Gets a launcher its result: from the last step of its run, or from an output folder that has it.

The last step hands over an object in the same process, or else a file, because other runs may
replace scores.json at any time. A result that is already there is recognized without reading texts,
by a digest in its manifest of what was asked for and of the sizes and versions of files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.errors.reporting import uninterrupted
from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.folder.file_names import (
    CONFUSIONS,
    EXAMPLES,
    SCORES,
    SUCCESS,
    TOTALS,
    handover_path,
    workers_path,
)
from beam_bleu.pipeline.folder.locking import locked
from beam_bleu.pipeline.folder.manifest import described, request_digest
from beam_bleu.pipeline.folder.publication import data_files, result_in
from beam_bleu.pipeline.output.temporary_files import is_pipe
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.transforms.errors import JobError, UsageError, joined
from beam_bleu.transforms.pairing.files.found_files import find_files, version_of
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.wiring.filesystems import join


@dataclasses.dataclass(frozen=True)
class RunResult:
    scores: bytes
    result: Result
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, scores: bytes, notes: Sequence[str]) -> RunResult:
        return cls(scores, read_result(json.loads(scores)), tuple(notes))

    @property
    def warnings(self) -> list[str]:
        return [*self.notes, *self.result.all_warnings]


# The results of runs whose launchers wait in this process; None until there is one.
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
    """The job, with a temporary output folder if it has none, while a launcher waits for it."""
    with contextlib.ExitStack() as stack:
        output = job.output
        if not output:
            with uninterrupted():  # a folder that is made is also removed
                output = stack.enter_context(tempfile.TemporaryDirectory(prefix="beam-bleu-"))
        stack.callback(remove_handover, output, job.run)
        if in_process:
            _HERE[job.run] = None
            stack.callback(_HERE.pop, job.run)
        yield dataclasses.replace(job, output=output, is_awaited=True)


def handed_over(job: Job) -> RunResult:
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


def existing_result(job: Job) -> bytes | None:
    """The scores.json of a complete result that is kept; None if the job must run."""
    if job.if_exists == "replace":
        return None
    with locked(job.output):  # which waits for a run that is just committing its result
        is_marked = storage.exists(join(job.output, SUCCESS))
        result = result_in(job.output) if is_marked else None
        if result is None or not _is_whole(job.output, result[1]):
            return None
    if job.if_exists == "fail":
        raise JobError(
            f"{job.output} already has a complete result",
            "name another folder with --output, or choose --if_exists skip or replace",
        )
    scores, manifest = result
    difference = _difference(job, manifest)
    if difference:
        raise UsageError(
            f"{job.output} already has a different result from what this command would write: "
            f"{difference}",
            "name another folder with --output, or choose --if_exists replace",
        )
    return scores


def _is_whole(output: str, manifest: Mapping[str, Any]) -> bool:
    has_totals = "evidence save_totals = true" in manifest.get("request", ())
    named = {TOTALS: has_totals}
    named |= {EXAMPLES: "examples" in manifest, CONFUSIONS: "confusions" in manifest}
    are_there = (storage.exists(join(output, name)) for name in named if named[name])
    return all(are_there) and {*manifest.get("data_files", ())} <= {*data_files(output)}


def requested(job: Job) -> list[str]:
    """All choices that determine a result, without files, such as "input systems 1 = atlas"."""
    choices = {
        "metrics": job.scorings,
        "lengths": job.metrics.lengths.name,
        "slices": job.slicing,
        "evidence": dataclasses.replace(job.evidence, baseline=job.baseline),
        "examples": job.examples,
        "confusions": job.confusions,
        "allow": job.allow,
        "input": job.source,
    }
    return [*described(choices)]


def _difference(job: Job, manifest: Mapping[str, Any]) -> str:
    pipes = [stream.label for stream in job.source.inputs if is_pipe(stream.pattern)]
    if pipes:
        return f"{pipes[0]} is a pipe, whose text cannot be compared"
    request = requested(job)
    digest = request_digest(request, map(_files, job.source.inputs))
    if manifest.get("request_sha256") == digest:
        return ""
    former = manifest.get("request", [])
    added = [line for line in request if line not in former]
    lost = [line for line in former if line not in request]
    if added or lost:
        return f"only here: {joined(added) or 'nothing'}; only there: {joined(lost) or 'nothing'}"
    return "the names, sizes or versions of the files that were read have changed"


def _files(stream: Stream) -> list[tuple[str, int, str | None]]:
    return [(file.path, file.size, version_of(stream, file.path)) for file in find_files(stream)]
