"""Tests which end of a run with a fault of a host is right, and at night, all the faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from engine_parts import need


@pytest.mark.nightly
def test_each_fault_of_a_host_ends_right() -> None:
    need("hosts")
    program = Path(__file__).with_name("host_faults.py")
    # It prints the table of the faults. More patience, because other tests run beside it.
    command = [sys.executable, program, "--engine=flink", "--pairs=600000", "--patience=600"]
    subprocess.run(command, check=True)
