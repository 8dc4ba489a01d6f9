"""The command keeps the memory that it frees, until it gives it back."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from beam_bleu.pipeline.cheap_start import keep_freed_memory

keep_freed_memory()
for number in range(11):
    if number == 1:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    first, second = np.ones(16 << 20, np.uint8), np.ones(16 << 20, np.uint8)
    del first, second
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep it")
def test_memory_that_was_freed_is_used_again_without_new_pages() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    # 10 times 32 MB in new pages of 4 KB are 80,000 faults.
    assert int(run.stdout) < 8_000


GIVING_BACK = """
import pathlib
import numpy as np
from beam_bleu.pipeline.cheap_start import give_back_freed_memory, keep_freed_memory

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

keep_freed_memory()
arrays = [np.ones(1 << 20, np.uint8) for _ in range(64)]
del arrays
kept = resident()
give_back_freed_memory()
print(kept - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it")
def test_memory_that_was_kept_can_be_given_back() -> None:
    run = subprocess.run(
        [sys.executable, "-c", GIVING_BACK], capture_output=True, text=True, check=True
    )
    # 64 MB are 16,384 pages of 4 KB.
    assert int(run.stdout) > 12_000
