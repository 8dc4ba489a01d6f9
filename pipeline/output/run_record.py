"""Keeps run.json, the record of the last run: when it ran, what was typed, and how it ended.

The command writes it when the job starts and when the run has ended, and with it metrics.prom and
events of lineage. If it says "running" but no such process exists, the run was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from beam_bleu.pipeline.errors.reporting import Ending, warn
from beam_bleu.pipeline.errors.terminal import Log, now
from beam_bleu.pipeline.errors.told_errors import MISSED, USAGE
from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.folder.file_names import METRICS, RUN_RECORD, SCORES, SUCCESS
from beam_bleu.pipeline.folder.locking import SHORT_PATIENCE, locked
from beam_bleu.pipeline.folder.publication import check_owned, is_owned, remove
from beam_bleu.pipeline.output.metrics import PASSED, metrics, with_verdict
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.version import software_versions
from beam_bleu.transforms.wiring.filesystems import join

if TYPE_CHECKING:
    from beam_bleu.pipeline.engines.handshake import Worker
    from beam_bleu.pipeline.output.lineage import Lineage
    from beam_bleu.pipeline.output.run_results import RunResult
    from beam_bleu.transforms.pairing.files.streams import Stream


State = Literal["running", "done", "failed"]


class RunRecord:
    """Reports how a run goes: in run.json and metrics.prom in its output folder, and as lineage.

    Usage errors found before the job starts are not recorded. If recording fails, the run goes on.
    A run that fails removes _SUCCESS, unless another run into the folder has started after it; then
    it changes nothing. Nor does it ever change the files of another program.
    """

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._content: dict[str, Any] = {
            "state": "running",
            "run": None,
            "partition": None,
            "start": now(),
            **dict.fromkeys(("end", "seconds", "exit_code", "message", "remedy")),
            **dict.fromkeys(("verdict", "verdict_message")),
            "warnings": [],
            **dict.fromkeys(("segments", "bytes", "last_success", "runner", "job_id")),
            "host": platform.node(),
            "folder": _folder(),
            "arguments": [],
            "versions": {},
            "workers": [],
        }
        self._output = ""  # without a folder, nothing is recorded
        self._lineage: Lineage | None = None
        self._is_started = False
        self._result: RunResult | None = None

    def named(
        self,
        output: str,
        *,
        replaces: bool,
        labels: Mapping[str, str],
        slices: int,
        lineage: str,
        **content: Any,
    ) -> None:
        """Takes what the command line says. From now on, a failure is recorded.

        Unless it `replaces` results, a run leaves an earlier one untouched until its job starts.
        `lineage` is the job's name for OpenLineage; "" if the run sends no events.
        """
        Log.run = content["run"]
        self._output, self._replaces = output, replaces
        self._labels, self._slices = labels, slices
        self._content |= content
        if lineage:
            from beam_bleu.pipeline.output.lineage import Lineage  # its library is large

            self._lineage = Lineage(content["run"], output, lineage, self._content["start"])

    def kept(self) -> None:
        """Records nothing, because the result and the record of an earlier run stay."""
        self._output = ""

    def start(self, inputs: Sequence[Stream]) -> None:
        if self._output:
            self._is_started = True
            with contextlib.suppress(Exception):  # it is tried again at the end
                self._write(_record_in(self._output))
            if self._lineage is not None:
                self._lineage.start(inputs)

    def submitted(self, job_id: str) -> None:
        self._content["job_id"] = job_id or None
        if self._output and job_id:
            with contextlib.suppress(Exception):
                former = _record_in(self._output)
                if self._is_last(former):
                    self._write(former)

    def answered(self, workers: Sequence[Worker]) -> None:
        from beam_bleu.pipeline.engines.handshake import hosts_and_versions

        self._content["workers"] = hosts_and_versions(workers)

    def finished(self, result: RunResult) -> None:
        self._result = result

    def end(self, ending: Ending) -> None:
        if not self._output or (ending.code == USAGE and not self._is_started):
            return
        is_done = ending.code in (0, MISSED)
        if not is_done:
            self._result = None
        # If the run failed, that has been reported, and a second message would hide its cause.
        with (
            _warning() if is_done else contextlib.suppress(Exception),
            contextlib.ExitStack() as held,
        ):
            # After a signal, a thread of this process may still have the lock.
            with contextlib.suppress(JobError):
                held.enter_context(locked(self._output, SHORT_PATIENCE))
            self._write_ending(ending)
        if self._lineage is not None:
            self._lineage.end(ending, self._result)

    def _is_last(self, record: Mapping[str, Any]) -> bool:
        """Whether, by the record in the folder, no other run has started after this one."""
        return not record or record.get("run") == self._content["run"]

    def _is_of_another_run(self, former: Mapping[str, Any]) -> bool:
        """Whether the folder now has the result or the record of another run, which must stay."""
        if self._result is not None:
            return storage.read(join(self._output, SCORES)) != self._result.scores
        if self._is_started:
            return not self._is_last(former)
        return not self._replaces and storage.exists(join(self._output, SUCCESS))

    def _write_ending(self, ending: Ending) -> None:
        former = _record_in(self._output)
        if self._is_of_another_run(former):
            return
        self._content |= {
            "state": "failed",
            "end": now(),
            "seconds": round(time.monotonic() - self._begin, 3),
            "exit_code": ending.code,
            "message": _or_none(ending.cause),
            "remedy": _or_none(ending.remedy),
        }
        result = None
        if self._result is not None:
            result = self._result.result
            self._content |= {
                "state": "done",
                **_verdict(ending.cause),
                "warnings": self._result.warnings,
                **{name: result.counters.get(name) for name in ("segments", "bytes")},
            }
        else:
            if not former:
                check_owned(self._output)  # the folder may be another program's
            with contextlib.suppress(Exception):
                check_owned(self._output, [SUCCESS])
                remove(self._output, [SUCCESS])
        self._write(former)
        path = join(self._output, METRICS)
        is_owned(path)
        data = metrics(self._content, result, self._labels, self._slices)
        storage.write_atomically(path, data)

    def _write(self, former: Mapping[str, Any]) -> None:
        is_done = self._content["state"] == "done"
        success = self._content["end"] if is_done else former.get("last_success")
        self._content |= {"last_success": success, "versions": software_versions()}
        data = document_bytes(self._content)
        storage.write_atomically(join(self._output, RUN_RECORD), data)


def _record_in(output: str) -> Mapping[str, Any]:
    """The record of the last run; empty if there is none, or if a crash has truncated it."""
    path, record = join(output, RUN_RECORD), dict[str, Any]()
    with contextlib.suppress(ValueError):
        record = json.loads(storage.read(path)) if is_owned(path) else record
    return record


def keep_verdict(folder: str, missed: str) -> None:
    """Writes the verdict of a gate into run.json and metrics.prom, unless it is already there."""
    path, verdict = join(folder, RUN_RECORD), _verdict(missed)
    with _warning():
        if not storage.exists(path) or verdict.items() <= _record_in(folder).items():
            return
        with locked(folder, SHORT_PATIENCE):
            record = _record_in(folder)
            if not record or not storage.exists(join(folder, SUCCESS)):
                return  # a run has begun to replace the result that was judged
            prom = join(folder, METRICS)
            if is_owned(prom):
                data = with_verdict(storage.read(prom), passed=not missed)
                storage.write_atomically(prom, data)
            # run.json comes last, because a gate that finds its verdict there writes nothing.
            storage.write_atomically(path, document_bytes({**record, **verdict}))


def _verdict(missed: str) -> dict[str, Any]:
    return {"verdict": "failed" if missed else PASSED, "verdict_message": _or_none(missed)}


@contextlib.contextmanager
def _warning() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # each filesystem has its own exceptions
        cause = getattr(error, "cause", None) or f"{type(error).__name__}: {error}"
        warn(f"the record of the run is not complete: {cause}")


def _folder() -> str | None:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return None


def _or_none(text: str) -> str | None:
    return without_url_secrets(text) if text else None


HIDDEN = "***"

# What the names of secrets contain.
_SECRET = re.compile(
    r"secret|token|passw|passphrase|pwd|credential|signature|jwt|cookie|bearer|authorization"
    r"|(?:access|account|api|private|shared)_?key|connection_?string"
    r"|(?:^|[-_.])(?:auth|keys?|pass|passcode|pw|sas|sig)(?:$|[-_.])",
    re.IGNORECASE,
)

# The name in NAME=VALUE, NAME: VALUE and "NAME": "VALUE", also in JSON inside JSON.
_NAME = re.compile(r"""([\w.-]+)[\\"']*\s*[=:]""")
# The user and the password in a URL. A password can contain an unescaped `/` or `@`.
_USER = re.compile(r"""(?<=://)(?:[^/\s"':@]*:(?!\d+/)[^\s"']*|[^/\s"']*)(?=@)""")
_PARAMETER = re.compile(r"""([?&]([\w.%-]+)=)[^&#\s"']+""")


def redacted(words: Sequence[str], plain: frozenset[str]) -> list[str]:
    """The words of a command line, with values hidden that are secrets by their names.

    A value that contains such a name, as JSON can, is hidden completely. In values of `plain`
    flags, and in words without a flag, only secrets in URLs are hidden.
    """
    shown, flag = [], ""  # `flag`: the one whose value the next word can be
    for word in words:
        name, equals, value = word.partition("=")
        is_flag = word.startswith("-")
        # Even if the word looks like a flag, because a password can begin with a hyphen.
        if _SECRET.search(flag) and name not in plain:
            shown.append(HIDDEN)
        elif is_flag:
            shown.append(name + equals + _value("" if name in plain else name, value))
        else:
            shown.append(_value(flag, word))
        flag = word if is_flag and not equals and word not in plain else ""
    return shown


def without_url_secrets(text: str) -> str:
    return _PARAMETER.sub(
        lambda match: match[1] + HIDDEN if _SECRET.search(match[2]) else match[0],
        _USER.sub(HIDDEN, text),
    )


def _value(flag: str, value: str) -> str:
    if flag and value and any(map(_SECRET.search, [flag, *_NAME.findall(value)])):
        return HIDDEN
    return without_url_secrets(value)
