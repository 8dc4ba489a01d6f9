"""What the workers of an engine say about themselves, and whether a job can rely on it.

A worker can have another version of beam-bleu, of Python or of a library, other rights, and other
files. A job on such workers would fail late, or give other numbers than the launcher expects.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib
import json
import pathlib
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from beam_bleu.pipeline.errors.error_marks import error_of_code, exit_code
from beam_bleu.transforms.errors import BleuError, JobError, joined
from beam_bleu.transforms.version import VERSION

Software = Mapping[str, str]
"""Versions by the names of software: those of `software`, and those on which tokens depend."""

_MAY_DIFFER = ("numba", "numpy", "pyarrow")
"""Libraries whose versions may differ: the numbers of the sample show whether they count right."""

REINSTALL = (
    "install the launcher's version on all workers, or send beam-bleu with the job: "
    "--extra_package beam_bleu-....whl"
)


@dataclasses.dataclass(frozen=True)
class Worker:
    """What a worker says: the name of its host, its versions, and what it cannot do."""

    host: str
    software: Software
    errors: tuple[BleuError, ...] = ()

    def to_json(self) -> str:
        """The worker as text, which any version of beam-bleu can read."""
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
    """The versions of this process. They do not depend on a job."""
    return {
        "beam_bleu": VERSION,
        "code": _code_digest(),
        "python": platform.python_version(),
        **{
            name.replace("-", "_"): metadata.version(name) for name in ("apache-beam", *_MAY_DIFFER)
        },
    }


def host_name() -> str:
    return platform.node() or "an unnamed host"


def require_able(launcher: Software, workers: Sequence[Worker]) -> None:
    """Checks that the workers have the launcher's versions, and can do their work."""
    for name, wanted in launcher.items():
        if wrong := [worker for worker in workers if differs(name, worker, wanted)]:
            said = f"is {wrong[0].software.get(name, 'missing')}"
            raise JobError(
                f"on {_hosts(wrong)}: {shown_name(name)} {said}, but the launcher has {wanted}",
                REINSTALL,
            )
    # Without its library a worker may not even be able to read, so wrong input comes last.
    errors = sorted(
        (error for worker in workers for error in worker.errors),
        key=lambda error: (exit_code(error), error.cause, error.remedy),
    )
    if errors:
        unable = [worker for worker in workers if str(errors[0]) in map(str, worker.errors)]
        cause = f"on {_hosts(unable)}: {errors[0].cause}"
        raise type(errors[0])(cause, errors[0].remedy)


def differs(name: str, worker: Worker, wanted: str) -> bool:
    """Whether a worker has another version of a software, on which the job depends."""
    version = worker.software.get(name)
    if name == "python" and version is not None:  # of 3.11.4, 3.11 must be the same
        return version.split(".")[:2] != wanted.split(".")[:2]
    return version != wanted and name not in _MAY_DIFFER


def hosts_and_versions(workers: Sequence[Worker]) -> list[dict[str, Any]]:
    """The workers as run.json shows them: one entry for each host and its versions."""
    shown = {(worker.host, tuple(sorted(worker.software.items()))) for worker in workers}
    return [{"host": host, "versions": dict(versions)} for host, versions in sorted(shown)]


def shown_name(software: str) -> str:
    """The name of a software for people."""
    return "the code of beam-bleu" if software == "code" else software.replace("_", "-")


def _hosts(workers: Sequence[Worker]) -> str:
    return joined(sorted({worker.host for worker in workers}))


def _code_digest() -> str:
    """A digest of beam-bleu's Python files: copies can differ that have the same version."""
    digest = hashlib.sha256()
    for package in ("beam_bleu.transforms", "beam_bleu.pipeline"):
        folder = pathlib.Path(importlib.import_module(package).__path__[0])
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{package} {path.relative_to(folder)} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:12]
