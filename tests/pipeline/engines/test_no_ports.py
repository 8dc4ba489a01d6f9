"""A local run listens on no network port."""

from __future__ import annotations

import os
import re
from pathlib import Path

from command_line import called, streams, write_lines

from beam_bleu.transforms.statistics.batch_steps import CountMatches

_LISTEN = "0A"  # the kernel's number of the state


def listening_ports() -> list[str]:
    """The addresses on which this process listens."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        path = Path("/proc/self/fd", name)
        found.append(os.readlink(path) if path.is_symlink() else "")
    own = {*re.findall(r"socket:\[(\d+)\]", "\n".join(found))}
    tables = (Path("/proc/self/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    rows = [row.split() for table in tables for row in table]
    return [address for _, address, _, state, *rest in rows if state == _LISTEN and rest[5] in own]


def test_a_default_run_listens_on_no_port(tmp_path, monkeypatch):
    files = [write_lines(tmp_path / name, ["a b c d e"] * 2000) for name in ("a", "b", "r")]
    work, before, seen = CountMatches.work, listening_ports(), []

    def watched(self, batch):
        seen.append(listening_ports())
        return work(self, batch)

    monkeypatch.setattr(CountMatches, "work", watched)
    arguments = streams(files[:2], files[2:], "--output", tmp_path / "out", "--range_bytes=5000")
    assert called(*arguments).code == 0
    assert len(seen) >= 4
    assert seen == [before] * len(seen)
