"""Measures what streams keep for a window, and what a trigger costs that counts segments.

    python -m benchmarks.streams

It prints the tables of docs/streaming.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import apache_beam as beam
from apache_beam.transforms import trigger, window
from apache_beam.transforms.window import TimestampedValue
from apache_beam.typehints import typehints

from beam_bleu import ChrfConfig, CompareSystems, CorpusBleu, CorpusScores
from beam_bleu.transforms.wiring.steps import AddUp
from benchmarks.program import command_parser

_SYSTEMS = ["atlas", "birch"]

_TRANSFORMS: dict[str, Any] = {
    "`CorpusBleu`": CorpusBleu.Globally,
    "`CorpusScores`, BLEU, chrF++ and TER": lambda: CorpusScores.Globally(
        ["bleu", ChrfConfig(word_order=2), "ter"]
    ),
    "`CompareSystems`, two systems": lambda: CompareSystems.Globally(_SYSTEMS),
}

_KEPT_SEGMENTS = (100, 1_000, 10_000, 100_000)

_TIMED_SEGMENTS = 20_000

_TRIGGERS: dict[str, Any] = {
    "the default": trigger.DefaultTrigger(),
    "one that counts, `AfterCount(1000)`": trigger.AfterWatermark(
        early=trigger.AfterCount(1000), late=trigger.AfterCount(1)
    ),
}


def main() -> None:
    """Runs the program."""
    command_parser("Measures what streams keep, and what triggers cost.").parse_args()
    print(f"| segments | {' | '.join(_TRANSFORMS)} |")
    print(f"| ---: |{' ---: |' * len(_TRANSFORMS)}")
    for count in _KEPT_SEGMENTS:
        sizes = [f"{_kept(name, count):,}" for name in _TRANSFORMS]
        print(f"| {count:,} | {' | '.join(sizes)} |")
    print("\n| trigger | µs of CPU for a segment |\n| --- | ---: |")
    for name in _TRIGGERS:
        start = statistics.median(_seconds(name, 1) for _ in range(3))
        whole = statistics.median(_seconds(name, _TIMED_SEGMENTS) for _ in range(3))
        print(f"| {name} | {1e6 * (whole - start) / _TIMED_SEGMENTS:.0f} |")


def _segment(number: int) -> tuple[str, list[str]]:
    return (
        f"the cat {number % 97} sat on the mat and {number % 7} dogs ran",
        [f"a cat {number % 97} sat on the mat while {number % 5} dogs ran"],
    )


def _segments(count: int) -> Iterator[tuple[str, list[str]]]:
    return map(_segment, range(count))


def _of_systems(count: int) -> Iterator[tuple[dict[str, str], list[str]]]:
    for candidate, references in _segments(count):
        yield dict.fromkeys(_SYSTEMS, candidate), references


def _kept(name: str, count: int) -> int:
    """The bytes of the accumulator of a transform that has added up so many segments."""
    sizes: list[int] = []
    extract = AddUp.extract_output

    def extract_output(adding: AddUp, accumulator: Any) -> Any:
        sizes.append(len(adding.get_accumulator_coder().encode(accumulator)))
        return extract(adding, accumulator)

    given = _of_systems if "CompareSystems" in name else _segments
    with (
        mock.patch.object(AddUp, "extract_output", extract_output),
        beam.Pipeline("FnApiRunner") as pipeline,
    ):
        segments = pipeline | beam.Create([count], reshuffle=False)
        segments |= "Give segments" >> beam.FlatMap(given).with_output_types(Any)
        _ = segments | _TRANSFORMS[name]()
    (size,) = sizes
    return size


def _timed(count: int) -> Iterator[TimestampedValue]:
    for number, segment in enumerate(_segments(count)):
        yield TimestampedValue((str(number % 3), segment), number % 100)


def _seconds(name: str, count: int) -> float:
    """The CPU of a pipeline that scores so many segments of windows with a trigger."""
    windowing = beam.WindowInto(
        window.FixedWindows(10),
        trigger=_TRIGGERS[name],
        accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
    )
    keyed = typehints.Tuple[str, Any]
    before = time.process_time()
    with beam.Pipeline("FnApiRunner") as pipeline:
        segments = pipeline | beam.Create([count], reshuffle=False)
        segments |= "Give segments" >> beam.FlatMap(_timed).with_output_types(keyed)
        _ = segments | windowing | CorpusBleu.PerKey()
    return time.process_time() - before


if __name__ == "__main__":
    main()
