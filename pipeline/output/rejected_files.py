"""Rejected records as files of JSON lines.

As with the segment scores, a worker writes a file for each bundle, under a name that no other
attempt uses. Only the names, the numbers of records and the first records go to the next step.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.metrics.metric import Metrics
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import REJECTED, new_data_file
from beam_bleu.transforms.pairing.bad_records import BAD_REASONS, BadRecord
from beam_bleu.transforms.totals.closing import FIRST, Rejected
from beam_bleu.transforms.wiring.filesystems import join

__all__ = ["WriteRejected"]


class WriteRejected(beam.DoFn):
    """Writes bad records to files of a run; emits the `Rejected` of each file."""

    def __init__(self, output: str, run: str) -> None:
        self._output = output
        self._run = run
        self._counters = {
            reason: Metrics.counter("beam_bleu", f"rejected_{reason.replace('-', '_')}")
            for reason in BAD_REASONS
        }

    def start_bundle(self) -> None:
        self._file: Any = None
        self._reasons: collections.Counter[str] = collections.Counter()
        self._first: list[BadRecord] = []

    def process(self, bad: BadRecord) -> None:
        self._counters[bad.reason].inc()
        with storage.writing(self._output):
            if self._file is None:
                self._name = new_data_file(REJECTED, self._run)
                self._file = storage.created(join(self._output, self._name))
            self._file.write(rejected_line(bad))
        self._reasons[bad.reason] += 1
        # Usually the records come in order, so this is done only for the first ones.
        if len(self._first) < FIRST or bad.place_in_input < self._first[-1].place_in_input:
            first = [*self._first, dataclasses.replace(bad, raw=b"")]
            self._first[:] = sorted(first, key=lambda record: record.place_in_input)[:FIRST]

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._file is not None:
            with storage.writing(self._output):
                self._file.close()
            written = Rejected((self._name,), dict(self._reasons), tuple(self._first))
            yield GlobalWindows.windowed_value(written)


def rejected_line(bad: BadRecord) -> bytes:
    r"""The line of a rejected record: JSON in UTF-8, with a newline.

    Bytes that are not UTF-8 are written as `\xff` in `raw`. Then `raw_base64` has the exact bytes,
    and else it is null.
    """
    raw, exact = bad.raw.decode(errors="backslashreplace"), None
    if raw.encode() != bad.raw:
        exact = base64.b64encode(bad.raw).decode("ascii")
    content = {
        "source": bad.label,
        "path": bad.path,
        "position": bad.place,
        "segment": bad.number,
        "reason": bad.reason,
        "what": bad.what,
        "raw": raw,
        "raw_base64": exact,
    }
    return json_text(content).encode() + b"\n"
