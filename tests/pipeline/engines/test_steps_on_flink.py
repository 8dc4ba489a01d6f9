"""On Flink all steps of a job run until its end, so that no Python worker starts twice."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import pytest
from apache_beam.pipeline import PipelineVisitor
from command_line import EXAMPLE, EXAMPLES

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.graph import build

MODE = "execution_mode_for_batch"

FLINK = "apache_beam.runners.portability.flink_runner.FlinkRunner"

RECORDS = EXAMPLES / "records"
JOIN = [RECORDS / "references.jsonl", "-i", RECORDS / "outputs" / "atlas.jsonl", "--join_on=id"]


def mode_of(*words: str) -> str | None:
    """The mode that a job server gets, which tells Beam the flags that it knows."""
    arguments = parse(["r", "-i", "h", "--output", "/o", *words])
    options = arguments.beam.get_all_options(
        add_extra_args_fn=lambda parser: parser.add_argument(f"--{MODE}")
    )
    mode: str | None = options[MODE]
    return mode


@pytest.mark.parametrize(
    ("runner", "mode"),
    [(FLINK, "PIPELINED_FORCED"), ("spark", None)],
)
def test_flink_runs_all_steps_until_the_end(runner: str, mode: str | None) -> None:
    assert mode_of("--runner", runner) == mode


def test_the_users_mode_counts() -> None:
    words = ["--execution-mode-for-batch=BATCH"]
    flags = parse(["r", "-i", "h", "--output", "/o", "--runner", "flink", "--", *words]).beam._flags
    assert not [flag for flag in flags if "FORCED" in flag]
    assert flags[-len(words) :] == words


@pytest.mark.parametrize("source", [EXAMPLE, JOIN], ids=["lines", "join"])
def test_no_step_waits_for_a_side_input(source: list[Any], tmp_path: Any) -> None:
    """With one, Flink's mode could make a job wait for itself."""
    more = ["--segment_scores", "--examples=3", "--save_totals", "--resample=bootstrap"]
    arguments = parse([*map(str, source), f"--output={tmp_path}", *more])
    pipeline = beam.Pipeline("FnApiRunner")
    build(pipeline, arguments.job)
    waiting = []

    class Steps(PipelineVisitor):
        def visit_transform(self, node: Any) -> None:
            if node.side_inputs:
                waiting.append(node.full_label)

    pipeline.visit(Steps())
    assert not waiting
