"""The command when the cache of compiled code is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REFERENCES, SYSTEMS, streams, typed


@pytest.mark.slow
def test_a_damaged_cache_is_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = streams([SYSTEMS["birch"]], REFERENCES)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = typed(*command)  # which compiles all that it uses
    kept = sorted(tmp_path.rglob("*.nbc"), key=lambda path: path.stat().st_size)
    small = kept[:2]  # the kernel itself takes longer to compile
    for path in small:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    first, second = typed(*command), typed(*command)
    assert (first.code, first.out) == (0, before.out)
    (line,) = first.err.splitlines()
    assert line.startswith("beam-bleu: warning: compiled code cannot be read: ")
    assert any(str(path) in line for path in small)
    assert (second.code, second.out, second.err) == (0, before.out, "")
