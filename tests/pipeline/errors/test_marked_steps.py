"""Steps of the command's job mark their errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.pipeline import PipelineVisitor
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

    def __init__(self, where: str) -> None:
        self._where = where

    def _fail(self, where: str) -> None:
        if where == self._where:
            raise BAD

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


class FailsInAThread(ThreadedDoFn):
    def work(self, element: int) -> list[int]:
        raise BAD


@pytest.mark.parametrize(
    "step",
    [
        *map(Fails, ["setup", "start_bundle", "process", "finish_bundle"]),
        FailsInAThread(2),
    ],
    ids=["setup", "start_bundle", "process", "finish_bundle", "thread"],
)
def test_an_error_is_marked_wherever_a_step_raises_it(step):
    with (
        pytest.raises(Exception, match="line 3 is bad") as failure,
        beam.Pipeline("FnApiRunner") as root,
    ):
        _ = root | beam.Create([1, 2]) | beam.ParDo(Marked(step))
    found = find_error(str(failure.value))
    assert (type(found), found.cause, found.remedy) == (InputError, BAD.cause, BAD.remedy)


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
