"""Tests which end of a run with a fault is right, and at night, all the faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from engine_parts import need
from flink_faults import FAULTS, Fault, Outcome

MAY_GO_ON = Fault("a worker", "a stage", 0, lambda cluster, job: None)
MUST_FAIL = Fault("the JobManager", "a stage", 0, lambda cluster, job: None, exits=(1,))


@pytest.mark.parametrize(
    ("fault", "code", "state", "scores", "right"),
    [
        (MAY_GO_ON, 0, "FINISHED", "same", True),
        (MAY_GO_ON, 0, "FINISHED", "DIFFERENT", False),
        (MAY_GO_ON, 0, "FINISHED", "none", False),  # a failure that is reported as a success
        (MAY_GO_ON, 0, "unknown", "none", False),
        (MAY_GO_ON, 1, "FAILED", "none", False),  # this fault must not end the job
        (MAY_GO_ON, None, "RUNNING", "none", False),  # it hangs
        (MUST_FAIL, 1, "unreachable", "none", True),
        (
            MUST_FAIL,
            1,
            "FINISHED",
            "same",
            True,
        ),  # only the command did not learn that the job ended
        (MUST_FAIL, 1, "FINISHED", "none", False),
        (MUST_FAIL, 1, "FAILED", "same", False),  # scores of a job that failed
        (MUST_FAIL, 1, "FAILED", "DIFFERENT", False),
        (MUST_FAIL, 0, "FINISHED", "same", False),
    ],
)
def test_the_right_end_of_a_run_with_a_fault(fault, code, state, scores, right):
    assert Outcome(code, "", state, 1, 60.0, scores).is_right(fault) is right


def test_a_fault_has_a_name_of_its_own():
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) > 10


@pytest.mark.nightly
def test_each_fault_of_a_cluster_ends_right() -> None:
    need("flink")
    subprocess.run([sys.executable, Path(__file__).with_name("kill_flink.py")], check=True)
