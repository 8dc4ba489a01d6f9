"""The command keeps the memory that it frees, until it gives it back."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import pathlib, resource
import numpy as np
from beam_bleu.pipeline.cheap_start import give_back_freed_memory, keep_freed_memory

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

keep_freed_memory()
for number in range(11):
    if number == 1:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(1 << 20, np.uint8) for _ in range(32)]
    del arrays
faults, kept = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, resident()
give_back_freed_memory()
print(faults, kept - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep it")
def test_memory_is_used_again_without_new_pages_and_can_be_given_back() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    faults, given_back = map(int, run.stdout.split())
    assert faults < 8_000  # 10 times 32 MB in new pages of 4 KB are 80,000
    assert given_back > 6_000  # 32 MB are 8,192 pages
