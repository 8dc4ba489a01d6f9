"""Sends the lineage of a run: an event when it starts, and one when it has ended.

A run never waits for the server while it works: a thread sends the events. At its end the run waits
for a few seconds. Whatever goes wrong is one warning.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.errors.exit_codes import MISSED, USAGE
from beam_bleu.pipeline.errors.reporting import Ending, warn
from beam_bleu.pipeline.output.publication import result_in
from beam_bleu.pipeline.output.redaction import without_url_secrets
from beam_bleu.pipeline.output.run_record import RunFacts, now
from beam_bleu.transforms.errors import UsageError

if TYPE_CHECKING:
    from beam_bleu.pipeline.output.handover import RunResult
    from beam_bleu.transforms.pairing.files.streams import Stream

_PATIENCE = 3.0
"""Seconds to wait for the server when the run has ended."""

_SIGNAL = 128
"""Exit codes above it are those of runs that were stopped."""


class RunLineage:
    """Sends the events of a run, if the user wants them.

    The run starts when its job starts. A run that fails before sends both events when it has
    failed, but a usage error sends none. So does a run that keeps an earlier result.
    """

    def __init__(self) -> None:
        self._facts: RunFacts | None = None
        self._client: Any = None
        self._thread = ThreadPoolExecutor(1, "lineage")
        self._sent: list[Future[None]] = []
        self._start = now()
        self._patterns: tuple[str, ...] = ()
        self._result: RunResult | None = None

    def named(self, facts: RunFacts) -> None:
        """Tells it what the command line means.

        Raises:
          UsageError: events are asked for, and the library is not set up.
        """
        if facts.lineage:
            self._facts, self._client = facts, _client()

    def start(self, inputs: Sequence[Stream]) -> None:
        """Sends the event of a run whose job starts now.

        Args:
          inputs: everything that is read.
        """
        self._patterns = tuple(stream.pattern for stream in inputs)
        self._send("START", self._start)

    def kept(self) -> None:
        """Tells it that the result of an earlier run stays."""
        self._facts = None

    def finished(self, result: RunResult) -> None:
        """Tells it the result of the job."""
        self._result = result

    def end(self, ending: Ending) -> None:
        """Sends the event of a run that has ended, and waits for the server."""
        if self._facts is None or (ending.code == USAGE and not self._sent):
            return
        if not self._sent:
            self._send("START", self._start)
        if ending.code in (0, MISSED):
            self._send("COMPLETE", now())
        else:
            error = "\n".join(filter(None, (ending.cause, ending.remedy)))
            state = "ABORT" if ending.code > _SIGNAL else "FAIL"
            self._send(state, now(), without_url_secrets(error))
        self._sent.append(self._thread.submit(self._client.close, _PATIENCE))
        done, waiting = wait(self._sent, _PATIENCE)
        self._thread.shutdown(wait=False, cancel_futures=True)
        failures = [failed for sent in self._sent if sent in done and (failed := sent.exception())]
        if failures:
            failure = without_url_secrets(f"{type(failures[0]).__name__}: {failures[0]}")
            warn(f"the lineage of this run was not sent: {failure}")
        elif waiting:
            warn(f"the lineage of this run was not sent: no answer after {_PATIENCE:g} seconds")

    def _send(self, state: str, time: str, error: str = "") -> None:
        if self._facts is not None:
            self._sent.append(self._thread.submit(self._emit, self._facts, state, time, error))

    def _emit(self, facts: RunFacts, state: str, time: str, error: str) -> None:
        from beam_bleu.pipeline.lineage.events import event

        result, streams = None, ()
        if state == "COMPLETE" and self._result is not None:
            result = self._result.result
            there = result_in(facts.output)
            if there is not None and there[0] == self._result.scores:
                streams = there[1]["streams"]
        self._client.emit(event(facts, state, time, self._patterns, streams, result, error))


def _client() -> Any:
    """OpenLineage's client, set up by its own variables and files.

    Raises:
      UsageError: nothing says where events go, or the set-up is wrong.
    """
    from openlineage.client import OpenLineageClient
    from openlineage.client.transport.console import ConsoleTransport

    # The folder from which the command is called says nothing about the code of the job.
    config = {"facets": {"source_code_location": {"disabled": True}}}
    try:
        client = OpenLineageClient(config=config)
        asked = (client.config.transport or {}).get("type")
    except Exception as error:  # it has exceptions of many types
        raise UsageError(
            f"--lineage: OpenLineage is not set up correctly: {type(error).__name__}: {error}",
            "change openlineage.yml, or the variables that begin with OPENLINEAGE",
        ) from error
    if isinstance(client.transport, ConsoleTransport):
        if not asked:
            raise UsageError(
                "--lineage: nothing says where events go",
                "set OPENLINEAGE_URL, or write an openlineage.yml: see docs/scheduling.md",
            )
        logging.getLogger(ConsoleTransport.__module__).setLevel(logging.INFO)
    return client
