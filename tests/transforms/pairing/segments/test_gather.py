"""Gathering segments: how batches are filled, and whose rows are whose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, window
from apache_beam.transforms.window import TimestampedValue

from beam_bleu.transforms.pairing import canonical
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments import batching
from beam_bleu.transforms.pairing.segments.gather import GatherSegments


def described(batch: SegmentBatch) -> list[tuple[Any, ...]]:
    """(candidates, key, start of the window, timestamp) of each group of a batch."""
    texts = batch.candidates[0].to_pylist()
    return [
        (texts[group.rows], group.key, int(group.window.start), int(group.timestamp))
        for group in batch.groups
    ]


def gathered(check: Any, windowing: beam.WindowInto, keys: Sequence[Any] = "aabbba") -> None:
    """Gathers a segment for each key, dated by its place."""
    segments = [
        TimestampedValue((key, (f"{key} {at}", ["text"])), at) for at, key in enumerate(keys)
    ]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        groups = (
            pipeline
            | beam.Create([None])
            | beam.FlatMap(lambda _: segments)  # in one bundle, in order
            | windowing.with_output_types(beam.typehints.Tuple[Any, Any])
            | GatherSegments(keyed=True)
            | beam.Map(described)
        )
        assert_that(groups, check)


def test_all_rows_of_one_key_and_window_are_a_group(monkeypatch):
    expected = [
        (["a 0", "a 1"], "a", 0, 3),
        (["b 2", "b 3"], "b", 0, 3),
        (["b 4"], "b", 4, 7),
        (["a 5"], "a", 4, 7),
    ]
    gathered(equal_to([expected]), beam.WindowInto(window.FixedWindows(4)))
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 4)  # a full batch ends its groups
    several = [
        [(["a 0", "a 1"], "a", 0, 99), (["b 2", "b 3"], "b", 0, 99)],
        [(["b 4"], "b", 0, 99), (["a 5"], "a", 0, 99)],
    ]
    gathered(equal_to(several), beam.WindowInto(window.FixedWindows(100)))


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        ([1, True, 1.0, 1, True], [[0, 3], [1, 4], [2]]),
        ([["a", 1], ["a", True], ["a", 1]], [[0, 2], [1]]),
        (["1", 1, b"1", None, "1", None], [[0, 4], [1], [2], [3, 5]]),
    ],
    ids=str,
)
def test_keys_are_the_same_if_their_coder_says_so(keys, groups):
    expected = [[f"{keys[at]} {at}" for at in group] for group in groups]

    def check(found: list[Any]) -> None:
        assert [texts for texts, *_ in found[0]] == expected

    gathered(check, beam.WindowInto(window.GlobalWindows()), keys)


@pytest.mark.parametrize(
    "windowing",
    [
        beam.WindowInto(
            window.FixedWindows(100),
            trigger=trigger.Repeatedly(trigger.AfterCount(2)),
            accumulation_mode=trigger.AccumulationMode.DISCARDING,
        ),
        beam.WindowInto(
            window.FixedWindows(100), timestamp_combiner=window.TimestampCombiner.OUTPUT_AT_LATEST
        ),
    ],
    ids=["a trigger that counts", "times that count"],
)
def test_where_beam_counts_or_dates_elements_each_row_is_a_group(windowing):
    expected = [([f"{key} {at}"], key, 0, at) for at, key in enumerate("aabbba")]
    gathered(equal_to([expected]), windowing)


def test_a_segment_with_many_references_does_not_widen_a_long_batch(monkeypatch):
    monkeypatch.setattr(canonical, "MOST_TEXTS", 7)
    wider = ("c", list("defghijk"))
    for segments, batches in (
        (
            [("a", ["b"]), ("c", ["d", None, "e"]), ("f", ["g"])],
            [[("a", "b")], [("c", "d", None, "e")], [("f", "g")]],
        ),
        ([wider, ("a", ["b"])], [[("c", *"defghijk")], [("a", "b")]]),
    ):
        gathered = batching.GatheredSegments()
        for segment in segments:
            gathered.add(segment)
        found = [
            [column.to_pylist() for column in (*batch.candidates, *batch.references)]
            for batch in gathered.batches()
        ]
        assert [[*zip(*columns, strict=True)] for columns in found] == batches
