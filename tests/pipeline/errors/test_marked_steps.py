"""Steps of the command's job mark their errors. Otherwise they do not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.pipeline import PipelineVisitor
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import FixedWindows, GlobalWindows, TimestampedValue
from apache_beam.utils.windowed_value import WindowedValue
from command_line import EXAMPLE

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.errors.marked_steps import Marked
from beam_bleu.pipeline.errors.told_errors import find_error
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.wiring.steps import ThreadedDoFn

BAD = InputError("line 3 is bad", "repair it")


class Fails(beam.DoFn):
    """Raises an error in one of its methods."""

    def __init__(self, where: str, error: Exception = BAD) -> None:
        self._where = where
        self._error = error

    def _fail(self, where: str) -> None:
        if where == self._where:
            raise self._error

    def setup(self) -> None:
        self._fail("setup")

    def start_bundle(self) -> None:
        self._fail("start_bundle")

    def process(self, element: int) -> Iterator[int]:
        yield element
        self._fail("process")

    def finish_bundle(self) -> Iterator[WindowedValue]:
        self._fail("finish_bundle")
        yield from ()


class Doubles(ThreadedDoFn):
    def work(self, element: int) -> list[int]:
        if element < 0:
            raise BAD
        return [2 * element]


class Tells(beam.DoFn):
    """Emits its elements with their times and windows."""

    def process(
        self,
        element: int,
        timestamp: Any = beam.DoFn.TimestampParam,
        window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[tuple[int, int, int]]:
        yield element, int(timestamp), int(window.end)


def run(dofn: beam.DoFn, elements: list[Any], outputs: list[Any]) -> None:
    """Runs a step, and checks what it gives."""
    with beam.Pipeline("FnApiRunner") as pipeline:
        windows = pipeline | beam.Create(elements) | beam.WindowInto(FixedWindows(10))
        found = windows | beam.ParDo(dofn) | "Unwindow" >> beam.WindowInto(GlobalWindows())
        assert_that(found, equal_to(outputs))


@pytest.mark.parametrize("where", ["setup", "start_bundle", "process", "finish_bundle"])
def test_an_error_is_marked_wherever_a_step_raises_it(where):
    with pytest.raises(Exception, match="line 3 is bad") as failure:
        run(Marked(Fails(where)), [1], [1])
    found = find_error(str(failure.value))
    assert (type(found), found.cause, found.remedy) == (InputError, BAD.cause, BAD.remedy)


def test_an_error_of_a_thread_is_marked():
    with pytest.raises(Exception, match="line 3 is bad") as failure:
        run(Marked(Doubles(2)), [1, -1], [])
    assert find_error(str(failure.value)).cause == BAD.cause


def test_outputs_times_and_windows_are_those_of_the_step():
    run(Marked(Doubles(2)), [1, 2, 3], [2, 4, 6])
    run(Marked(Fails("")), [1, 2, 3], [1, 2, 3])
    dated = [TimestampedValue(1, 5), TimestampedValue(2, 15)]
    run(Marked(Tells()), dated, [(1, 5, 10), (2, 15, 20)])


def test_every_step_of_the_job_marks_its_errors(tmp_path):
    seen: list[str] = []
    functions: list[str] = []

    class Steps(PipelineVisitor):
        def visit_transform(self, node: Any) -> None:
            dofn = getattr(node.transform, "fn", None)
            if type(dofn).__module__.startswith("beam_bleu."):
                seen.append(type(dofn).__name__)
            # What was given to FlatMap, or to Map, which puts it into a function of its own.
            function = getattr(dofn, "_fn", None)
            function = getattr(function, "_argspec_fn", function)
            if getattr(function, "__module__", "").startswith("beam_bleu."):
                functions.append(function.__name__)

    arguments = parse([*map(str, EXAMPLE), f"--output={tmp_path}", "--segment_scores"])
    pipeline = beam.Pipeline("FnApiRunner")
    build(pipeline, arguments.job)
    pipeline.visit(Steps())
    # These raise no error of ours. A DoFn that does must be marked, and a function must become one.
    assert set(seen) == {"Marked", "_SendOn", "_SendOnSums"}
    assert not functions
