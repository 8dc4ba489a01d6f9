"""A real stream on Prism: unbounded, with watermarks from the data, early and late panes."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamed
from apache_beam.transforms.window import WindowFn
from command_line import PROJECT
from pane_scores import in_batch

from deploy.local.cluster import Cluster


def found_on(cluster: Cluster, windows: str, mode: str, folder: Path) -> list[tuple[Any, ...]]:
    """All results of the stream: (transform, window, time, key, result)."""
    parts = (PROJECT, PROJECT / "tests", PROJECT / "tests" / "engines")
    subprocess.run(
        [sys.executable, streamed.__file__, str(folder), windows, mode, *cluster.flags()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, parts))},
        check=True,
        timeout=600,
    )
    return [pickle.loads(file.read_bytes()) for file in folder.iterdir()]


def events_of(windows: str) -> Iterator[tuple[str, str, int]]:
    """(window, key, number) of each segment, in each window that has it."""
    windowing = streamed.WINDOWS[windows]
    for time, key, number in itertools.chain.from_iterable(each for _, each in streamed.SCRIPT):
        for of_window in windowing.assign(WindowFn.AssignContext(time)):
            yield str(of_window), key, number


def numbers_in(tokens: int) -> frozenset[int]:
    """The segments whose candidates have so many tokens together; see `segment_of`."""
    return frozenset(place for place in range(tokens.bit_length()) if tokens >> place & 1)


def tokens_of(transform: str, result: Any) -> tuple[int, int]:
    """The tokens of the candidates of a result, and the number of segments that it says."""
    if transform == "SumSegments":
        return result["candidate_length"], result["segments"]
    if transform == "CorpusScores":
        result = result["bleu"]
    elif transform == "CompareSystems":
        result = result.scores["one"]
    return result.sys_len, result.segments


@pytest.mark.parametrize(
    ("windows", "mode"), [("fixed", "accumulating"), ("sliding", "discarding")]
)
def test_each_pane_of_a_stream_is_what_a_batch_gives_for_its_segments(
    prism: Cluster, windows: str, mode: str, tmp_path: Path
) -> None:
    found = found_on(prism, windows, mode, tmp_path)
    panes: dict[tuple[str, str, str], list[tuple[frozenset[int], Any]]] = {}
    for transform, of_window, time, key, result in found:
        tokens, segments = tokens_of(transform, result)
        numbers = numbers_in(tokens)
        assert segments == len(numbers), "a segment is there twice"
        assert f"{time + 0.001:.1f})" == of_window.split(", ")[1], "the time is the end"
        panes.setdefault((transform, of_window, key), []).append((numbers, result))

    events = {*events_of(windows)}
    distinct = {numbers for of_place in panes.values() for numbers, _ in of_place}
    expected = in_batch(
        {str(sorted(each)): [*map(streamed.segment_of, sorted(each))] for each in distinct}
    )
    assert {transform for transform, _, _ in panes} == {*expected} - {"SegmentScores"}
    for (transform, of_window, key), of_place in panes.items():
        for numbers, result in of_place:
            assert result == expected[transform][str(sorted(numbers))]
        there = {
            number
            for its_window, its_key, number in events
            if its_window == of_window and key == its_key
        }
        sizes = sorted(len(numbers) for numbers, _ in of_place)
        together = frozenset().union(*(numbers for numbers, _ in of_place))
        assert together == there, (transform, of_window, key)
        if mode == "accumulating":
            assert sizes[-1] == len(there), "the last pane has all of them"
        else:
            assert sum(sizes) == len(there), "panes have no segment in common"
    # There are early panes, and late ones.
    assert len(panes["CorpusBleu", "[0.0, 10.0)", "a"]) > 2
