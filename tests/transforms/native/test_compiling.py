"""The cache of compiled code: it is never stale, and it never stops a run."""

from __future__ import annotations

import errno
import logging
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llvmlite import binding

import beam_bleu.transforms
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.native import compiling as module
from beam_bleu.transforms.native import machine_code

PACKAGE = pathlib.Path(beam_bleu.transforms.__file__).parent


@pytest.fixture(autouse=True)
def _no_warning_yet() -> None:
    machine_code._warnings.clear()


def choose() -> pathlib.Path | None:
    """The choice of a new process."""
    machine_code._warnings.clear()
    machine_code.cache_folder.cache_clear()
    return machine_code.cache_folder()


@pytest.mark.parametrize("mode", [0o775, None])
def test_a_folder_that_others_can_write_is_not_used(
    mode: int | None, chosen: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    if mode is None and os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    before = os.umask(0o000)  # what is made is safe whatever it is
    try:
        folder = choose()
    finally:
        os.umask(before)
    assert folder is not None
    assert folder.parent == chosen
    assert choose() == folder
    if mode is None:
        os.chown(folder, 12345, -1)
    else:
        folder.chmod(mode)
    with caplog.at_level(logging.WARNING, "beam_bleu"):
        assert choose() is None
    assert str(folder) in caplog.text


def test_without_a_choice_the_users_cache_is_used_if_the_package_cannot_be_written(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(machine_code, "__file__", str(package / "native" / "machine_code.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    first = choose()
    assert first is not None
    assert first.parent == package / "__pycache__"
    assert not (tmp_path / "own").exists()
    first.chmod(0o777)
    second = choose()
    assert second is not None
    assert second.parent == tmp_path / "own"


PROBE = {
    "native/probe_constant.py": "LENGTH = 3\n",
    "statistics/probe_code.py": """
from beam_bleu.transforms.native.compiling import inner

@inner
def one_less(x, steps=1):
    return x - 1
""",
    "score/probe.py": """
from beam_bleu.transforms.native import probe_constant
from beam_bleu.transforms.native.compiling import FUNCTIONS, compiled
from beam_bleu.transforms.statistics.probe_code import one_less

@compiled
def length(x):
    return one_less(x) + probe_constant.LENGTH

print(length(2) * 1000 + FUNCTIONS["compiled"])
""",
}
"""Programs. Their compiled functions need other files, and compile fast."""


def printed(program: str, folder: pathlib.Path) -> int:
    """The number that a program prints, in a new process that has the package in this folder.

    It leaves no bytecode. With bytecode, Python itself would not see what `changed` does.
    """
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def changed(file: pathlib.Path, old: str, new: str) -> None:
    """Changes a file whose size and times stay as they are."""
    times, text = os.stat(file), file.read_text()
    assert old in text
    assert len(old) == len(new)
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    """The package in a folder of its own."""
    folder = tmp_path / "beam_bleu" / "transforms"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_change_of_what_code_depends_on_is_noticed_and_no_other(
    copy: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for name, text in PROBE.items():
        (copy / name).write_text(text)
    program = "import beam_bleu.transforms.score.probe"
    assert printed(program, tmp_path) == 4_001
    assert list(copy.rglob("*.nbc")), "the first run left nothing in the cache"
    assert printed(program, tmp_path) == 4_000
    (copy / "statistics" / "matching.py").write_text("another file")
    assert printed(program, tmp_path) == 4_000
    code = copy / "statistics" / "probe_code.py"
    changed(code, "x - 1", "x - 9")
    assert printed(program, tmp_path) == -4_000 + 1
    changed(copy / "native" / "probe_constant.py", "LENGTH = 3", "LENGTH = 7")
    assert printed(program, tmp_path) == 1


def add_one(x):
    return x + 1


def add_two(x):
    return x + 2


def loaded(function: Callable[[Any], Any], argument: Any, result: Any) -> bool:
    """Calls a function as a new process would; returns whether it came from the cache."""
    before = module.FUNCTIONS["loaded"]
    assert module.compiled(function)(argument) == result
    return module.FUNCTIONS["loaded"] > before


def kept(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files in the cache."""
    return [path for path in folder.rglob("*") if not path.is_dir()]


def test_a_function_is_kept_for_each_type(chosen: pathlib.Path) -> None:
    for argument in (np.int64(1), np.float64(1)):
        assert not loaded(add_one, argument, 2)
        assert loaded(add_one, argument, 2)
    assert len(kept(chosen)) == 2


def test_code_for_a_chosen_processor_runs_on_every_machine_with_its_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processor = module.processor.__wrapped__

    def machine(name: str, *features: str) -> None:
        of_machine = binding.FeatureMap(dict.fromkeys(features, True))
        monkeypatch.setattr(binding, "get_host_cpu_name", lambda: name)
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: of_machine)

    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+one,+two")
    machine("builder", "one", "two", "three")
    chosen_here = processor()
    machine("worker", "one", "two")
    assert processor() == chosen_here
    machine("old", "one")
    with pytest.raises(UsageError, match="lacks two, and NUMBA_CPU_FEATURES lets"):
        processor()


def exchange(path: pathlib.Path, patch: pytest.MonkeyPatch) -> None:
    """Gives two files each other's names."""
    other = next(each for each in kept(path.parent) if each != path)
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


def let_others_write(path: pathlib.Path, patch: pytest.MonkeyPatch) -> None:
    path.chmod(0o666)


def fill_the_disk(path: pathlib.Path, patch: pytest.MonkeyPatch) -> None:
    path.unlink()

    def fail(*paths: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(os, "replace", fail)


def take_the_folder(path: pathlib.Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machine_code, "_parents", lambda: iter([path]))
    machine_code.cache_folder.cache_clear()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        *((each, "takes a few") for each in (exchange, let_others_write)),
        (fill_the_disk, os.strerror(errno.ENOSPC)),
        (take_the_folder, "takes a few seconds"),
    ],
)
def test_a_cache_that_cannot_be_used_is_told_once_and_stops_no_run(
    damage: Callable[[pathlib.Path, pytest.MonkeyPatch], None],
    told: str,
    chosen: pathlib.Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    functions = ((add_one, 2), (add_two, 3))
    for function, result in functions:
        assert not loaded(function, np.int64(1), result)
    files = kept(chosen)
    with pytest.MonkeyPatch.context() as patch:
        for path in files[:1] if damage is exchange else files:
            damage(path, patch)
        for function, result in functions:
            assert not loaded(function, np.int64(1), result)
        records = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert len(records) == 1
        assert all(told in record.getMessage() for record in records)
        left = kept(chosen)
    assert not left or damage is not fill_the_disk, "what was half written was left"
    machine_code.cache_folder.cache_clear()
    if damage is fill_the_disk:
        return
    for function, result in functions:
        assert loaded(function, np.int64(1), result)
