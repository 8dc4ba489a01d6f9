"""The programs named in the pages start, and they have the flags that the pages show."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from command_line import PROJECT

TEXT = "\n".join(
    page.read_text(encoding="utf-8")
    for pattern in ("*.md", "benchmarks/**/*.md", "docs/**/*.md", "tests/**/*.md")
    for page in PROJECT.glob(pattern)
)

PROGRAM = r"(?<=python )(-m benchmarks[\w.]*|tests/hostile/\w+\.py)"
COMMANDS = sorted(set(re.findall(PROGRAM + r"((?: --\w+(?: [\w./,]+)?)*)", TEXT)))
"""(program, flags) of each command on a page."""


def test_the_pages_name_the_programs() -> None:
    programs = {program for program, _ in COMMANDS}
    assert {"-m benchmarks.speed", "-m benchmarks.plans", "-m benchmarks.engines.flink"} <= programs
    assert {"tests/hostile/attack.py", "tests/hostile/host_faults.py"} <= programs


@pytest.mark.slow
@pytest.mark.parametrize("program", sorted({program for program, _ in COMMANDS}))
def test_a_program_of_the_pages_has_the_flags_that_they_show(program: str) -> None:
    done = subprocess.run(
        [sys.executable, *program.split(), "--help"], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = {flag for named, flags in COMMANDS if named == program for flag in flags.split()}
    for flag in (each for each in shown if each.startswith("--")):
        assert flag in done.stdout
