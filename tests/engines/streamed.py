"""A pipeline on a real stream, for test_streaming.py: OUTPUT, WINDOWS, MODE, and Beam's flags.

The stream is a splittable DoFn that never says that it is bounded. Each step of its script is a
bundle of its own: it gives segments with their times, and then moves the watermark on.
"""

from __future__ import annotations

import pickle
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import trigger, window
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.typehints import typehints
from apache_beam.utils.timestamp import Duration, Timestamp
from pane_scores import scored

WINDOWS = {"fixed": window.FixedWindows(10), "sliding": window.SlidingWindows(10, 5)}

MODES = {
    "accumulating": trigger.AccumulationMode.ACCUMULATING,
    "discarding": trigger.AccumulationMode.DISCARDING,
}


def segment_of(number: int) -> tuple[str, list[str]]:
    """The segment with this number, from 0: its candidate has 2 to the power of it tokens.

    So the length of the candidates of a pane tells which segments it has, each one once.
    """
    words = [f"w{place % 7}" for place in range(2**number)]
    words[number::5] = ["x"] * len(words[number::5])
    reference = [f"w{place % 7}" for place in range(2**number + number % 3)]
    return " ".join(words), [" ".join(reference)]


Event = tuple[int, str, int]
"""A segment of the stream: (time, key, number)."""

SCRIPT: list[tuple[int, list[Event]]] = [
    (0, []),
    (3, [(1, "a", 0), (2, "a", 1), (2, "b", 2)]),
    (6, [(4, "a", 3), (8, "b", 4)]),
    (12, [(11, "a", 5)]),
    (13, [(5, "a", 6), (14, "b", 7)]),  # the first one is late for its windows
    (40, [(15, "a", 8), (12, "b", 9)]),
    (60, [(7, "b", 10), (13, "a", 11)]),  # late, too
    (500, []),  # all windows are over, and their lateness
]
"""For each step the segments, and the watermark after it. No two segments have one number."""


class _Steps(RestrictionProvider):
    """The steps of a script, which are played one after another."""

    def initial_restriction(self, script: list[Any]) -> OffsetRange:
        return OffsetRange(0, len(script))

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        return OffsetRestrictionTracker(restriction)

    def restriction_size(self, script: list[Any], restriction: OffsetRange) -> int:
        return int(restriction.size())

    def split(self, script: list[Any], restriction: OffsetRange) -> Iterator[OffsetRange]:
        yield restriction


_RESTRICTION = beam.DoFn.RestrictionParam(_Steps())
_WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())


class _Play(beam.DoFn):
    """Gives the segments of one step, and lets the engine come back for the next one."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        script: list[Any],
        steps: Any = _RESTRICTION,
        watermarks: Any = _WATERMARK,
    ) -> Iterator[TimestampedValue]:
        step = steps.current_restriction().start
        if not steps.try_claim(step):
            return
        watermark, segments = script[step]
        for time, key, number in segments:
            yield TimestampedValue((key, segment_of(number)), time)
        watermarks.set_watermark(Timestamp(watermark))
        steps.defer_remainder(Duration(0))


class _Write(beam.DoFn):
    """Writes each result with its window to a file of its own."""

    def __init__(self, folder: str, transform: str) -> None:
        self._folder = folder
        self._transform = transform

    def process(
        self,
        keyed: tuple[Any, Any],
        of_window: Any = beam.DoFn.WindowParam,
        time: Any = beam.DoFn.TimestampParam,
    ) -> None:
        found = (self._transform, str(of_window), float(time), *keyed)
        Path(self._folder, uuid.uuid4().hex).write_bytes(pickle.dumps(found))


def main(folder: str, windows: str, mode: str, flags: list[str]) -> None:
    """Runs the pipeline."""
    with beam.Pipeline(options=PipelineOptions(["--streaming", *flags])) as pipeline:
        segments = (
            pipeline
            | beam.Create([SCRIPT], reshuffle=False)
            | "Play" >> beam.ParDo(_Play()).with_output_types(typehints.Tuple[str, Any])
            | beam.WindowInto(
                WINDOWS[windows],
                trigger=trigger.AfterWatermark(
                    early=trigger.AfterCount(2), late=trigger.AfterCount(1)
                ),
                accumulation_mode=MODES[mode],
                allowed_lateness=100,
            )
        )
        results = scored(segments)
        for name, values in results.items():
            _ = values | f"Write {name}" >> beam.ParDo(_Write(folder, name))


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4:])
