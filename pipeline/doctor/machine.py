"""What this process may use of the machine: cores, memory, and the folder for temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator

from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.transforms.wiring.thread_pool import available_threads

_SECTION = "machine"


def _cores() -> Iterator[Fact]:
    usable, all_cores = available_threads(), os.cpu_count() or 1
    text = f"{usable} of {all_cores}" if usable != all_cores else str(usable)
    yield Fact(_SECTION, "cores", "ok", text)


def _memory() -> Iterator[Fact]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    yield Fact(_SECTION, "memory", "ok", gigabytes(total))


def _temporary_files() -> Iterator[Fact]:
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError as error:
        remedy = "set TMPDIR to a folder that you can write to"
        yield Fact(_SECTION, "temporary", "FAIL", str(error.strerror), remedy)
        return
    free = gigabytes(shutil.disk_usage(folder).free)
    yield Fact(_SECTION, "temporary", "ok", f"{folder}, {free} free")


def gigabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e9:.1f} GB"


CHECKS = (
    Check(_SECTION, "cores", _cores),
    Check(_SECTION, "memory", _memory, needed=False),
    Check(_SECTION, "temporary", _temporary_files),
)
