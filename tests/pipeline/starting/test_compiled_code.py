"""The command when the cache of compiled code is damaged."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND, PROJECT, REFERENCES, SYSTEMS, called, streams, typed

from beam_bleu.transforms.native.cache_folder import cache_folder


@pytest.mark.slow
def test_a_damaged_cache_is_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = streams([SYSTEMS["birch"]], REFERENCES)
    before = called(*command)  # which leaves its code in the cache, if it is not there
    ready = cache_folder().path
    assert ready is not None
    damaged = tmp_path / ready.name
    shutil.copytree(ready, damaged)
    small = [*damaged.glob("count_bytes-*"), *damaged.glob("copy_lines-*")]
    assert len({path.name.partition("-")[0] for path in small}) == 2
    for path in small:  # the kernel itself takes longer to compile
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
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
