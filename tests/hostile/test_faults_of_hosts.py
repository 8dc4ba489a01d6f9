"""Tests which end of a run with a fault of a host is right, and at night, all the faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from engine_parts import need
from faults_of_hosts import FAULTS, Fault, Outcome

MAY_GO_ON = Fault("a worker host", lambda cluster: None)
MAY_FAIL = Fault("the storage host", lambda cluster: None, exits=(0, 3))


@pytest.mark.parametrize(
    ("fault", "code", "scores", "right"),
    [
        (MAY_GO_ON, 0, "same", True),
        (MAY_GO_ON, 0, "DIFFERENT", False),
        (MAY_GO_ON, 0, "none", False),  # a failure that is reported as a success
        (MAY_GO_ON, 1, "none", False),  # this fault must not end the job
        (MAY_GO_ON, None, "none", False),  # it hangs
        (MAY_FAIL, 3, "none", True),
        (MAY_FAIL, 3, "same", False),  # scores of a run that failed
        (MAY_FAIL, 3, "DIFFERENT", False),
        (MAY_FAIL, 1, "none", False),  # not the code of this error
    ],
)
def test_the_right_end_of_a_run_with_a_fault(fault, code, scores, right):
    assert Outcome(code, "", 60.0, scores).is_right(fault) is right


def test_a_fault_has_a_name_of_its_own():
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) > 15


@pytest.mark.nightly
def test_each_fault_of_a_host_ends_right() -> None:
    need("hosts")
    program = Path(__file__).with_name("host_faults.py")
    # It prints the table of the faults. More patience, because other tests run beside it.
    command = [sys.executable, program, "--engine=flink", "--pairs=600000", "--patience=600"]
    subprocess.run(command, check=True)
