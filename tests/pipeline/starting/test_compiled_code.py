"""The command when the cache of compiled code is damaged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND, PROJECT, REFERENCES, SYSTEMS, streams, typed


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


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    program = "from beam_bleu.transforms.pairing.lines.line_counting import count_bytes, np\n" + (
        "print(count_bytes(np.frombuffer(b'a\\nb\\n', np.uint8))[0])"
    )
    running = [
        subprocess.Popen(
            [COMMAND[0], "-c", program],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in running] == [b"2\n"] * 3
    (folder,) = tmp_path.iterdir()
    assert [path.suffix for path in folder.iterdir()] == [".nbc"]
