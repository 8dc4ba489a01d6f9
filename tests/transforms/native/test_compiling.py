"""Compiled code gives what Python would give; its cache is never stale, and never stops a run."""

from __future__ import annotations

import errno
import logging
import math
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from llvmlite import binding

import beam_bleu.transforms
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.native import compiling as module
from beam_bleu.transforms.native import machine_code
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.machine_code import key_and_words
from beam_bleu.transforms.native.memory import MOST_KEPT, KeptMemory

PACKAGE = pathlib.Path(beam_bleu.transforms.__file__).parent


@pytest.fixture(autouse=True)
def chosen(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """What the user has chosen as NUMBA_CACHE_DIR: a folder for each test."""
    machine_code._warnings.clear()
    machine_code.cache_folder.cache_clear()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    yield tmp_path / "chosen"
    machine_code.cache_folder.cache_clear()


def choose() -> pathlib.Path | None:
    """The choice of a new process."""
    machine_code._warnings.clear()
    machine_code.cache_folder.cache_clear()
    return machine_code.cache_folder()


def test_a_folder_that_others_can_write_is_not_used(chosen, caplog):
    before = os.umask(0o000)  # what is made is safe whatever it is
    try:
        folder = choose()
    finally:
        os.umask(before)
    assert folder is not None
    assert folder.parent == chosen
    assert choose() == folder

    def require_unused() -> None:
        with caplog.at_level(logging.WARNING, "beam_bleu"):
            assert choose() is None
        assert str(folder) in caplog.text

    folder.chmod(0o775)
    require_unused()
    if os.geteuid() == 0:  # only root can give a folder to another user
        folder.chmod(0o700)
        os.chown(folder, 12345, -1)
        caplog.clear()
        require_unused()


def test_if_the_package_cannot_be_written_the_users_cache_is_used(tmp_path, monkeypatch):
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

    It leaves no bytecode, with which Python itself would not see what `changed` does.
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


def test_a_change_of_what_code_depends_on_is_noticed_and_no_other(tmp_path):
    copy = tmp_path / "beam_bleu" / "transforms"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in PROBE.items():
        (copy / name).write_text(text)
    program = "import beam_bleu.transforms.score.probe"
    assert printed(program, tmp_path) == 4_001
    (copy / "statistics" / "matching.py").write_text("another file")
    assert printed(program, tmp_path) == 4_000
    changed(copy / "statistics" / "probe_code.py", "x - 1", "x - 9")
    assert printed(program, tmp_path) == -4_000 + 1
    changed(copy / "native" / "probe_constant.py", "LENGTH = 3", "LENGTH = 7")
    assert printed(program, tmp_path) == 1


def add_one(x):
    return x + 1


def loaded(function: Callable[[Any], Any], argument: Any, result: Any) -> bool:
    """Calls a function as a new process would; returns whether it came from the cache."""
    before = module.FUNCTIONS["loaded"]
    assert module.compiled(function)(argument) == result
    return module.FUNCTIONS["loaded"] > before


def kept(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files in the cache."""
    return [path for path in folder.rglob("*") if not path.is_dir()]


def test_code_for_a_chosen_processor_runs_on_every_machine_with_its_instructions(monkeypatch):
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


def exchange(path, patch):
    """Gives two files each other's names."""
    other = next(each for each in kept(path.parent) if each != path)
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


def let_others_write(path, patch):
    path.chmod(0o666)


def fill_the_disk(path, patch):
    path.unlink()

    def fail(*paths):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(os, "replace", fail)


def take_the_folder(path, patch):
    patch.setattr(machine_code, "_parents", lambda: iter([path]))
    machine_code.cache_folder.cache_clear()


@pytest.mark.parametrize("damage", [exchange, let_others_write, fill_the_disk, take_the_folder])
def test_a_cache_that_cannot_be_used_is_told_once_and_stops_no_run(damage, chosen, caplog):
    arguments = (np.int64(1), np.float64(1))  # there is code for each type
    for argument in arguments:
        assert not loaded(add_one, argument, 2)
        assert loaded(add_one, argument, 2)
    files = kept(chosen)
    with pytest.MonkeyPatch.context() as patch:
        for path in files[:1] if damage is exchange else files:
            damage(path, patch)
        for argument in arguments:
            assert not loaded(add_one, argument, 2)
        (told,) = (each for each in caplog.records if each.levelno == logging.WARNING)
        left = kept(chosen)
    if damage is fill_the_disk:
        assert os.strerror(errno.ENOSPC) in told.getMessage()
        assert not left, "what was half written was left"
        return
    assert "takes a few" in told.getMessage()
    machine_code.cache_folder.cache_clear()
    for argument in arguments:
        assert loaded(add_one, argument, 2)


# Calls of machine code


def echoed(number, pair, flag, real, unsigned):
    return number + 1, pair[0], not flag, real, unsigned


def summed(matrix, weights):
    total = 0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total += matrix[i, j] * weights[j]
    return total


def doubled(values):
    (items,) = values  # a tuple of arrays
    for i in range(items.size):
        items[i] *= 2


def inverse(x):
    return 1.0 / x


def test_numbers_and_tuples_come_back() -> None:
    function = compiled(echoed)
    largest = np.uint64(2**64 - 1)
    for number, real in ((-5, -0.5), (2**63 - 2, math.inf)):
        found = function(number, (largest, np.uint64(7)), True, real, largest)
        assert found == (number + 1, 2**64 - 1, False, real, 2**64 - 1)
        assert [type(each) for each in found] == [int, int, bool, float, int]
    assert math.isnan(function(0, (largest, largest), False, math.nan, largest)[3])


def test_other_values_are_refused() -> None:
    for wrong in [2**64, 2**70, -(2**63) - 1, "text", None, [1], {}]:
        for argument in (wrong, (1, wrong)):
            with pytest.raises(TypeError, match="compiled code cannot be called with"):
                key_and_words([argument])


def test_arrays_of_each_layout() -> None:
    weights, function = np.array([1, 10, 100]), compiled(summed)
    for matrix in (
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(24).reshape(4, 6)[::2, ::-2],
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.frombuffer(np.arange(6).tobytes(), np.int64).reshape(2, 3),
        np.empty((0, 3), np.int64),
    ):
        assert function(matrix, weights) == int((matrix @ weights).sum())


def test_an_exception_of_compiled_code_is_an_error() -> None:
    assert compiled(inverse)(4.0) == 0.25
    with pytest.raises(ArithmeticError, match="inverse"):
        compiled(inverse)(0.0)


def test_threads_share_one_function() -> None:
    function = compiled(doubled)
    arrays = [np.full(1000, i) for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(function, zip(arrays, strict=True)))
    assert [array[0] for array in arrays] == [2 * i for i in range(8)]
    assert len(function.loaded) == 1  # type: ignore[attr-defined]


def test_arguments_of_other_types_have_other_keys() -> None:
    rows = np.arange(4).reshape(2, 2)
    read_only = rows.copy()
    read_only.flags.writeable = False
    arguments = [
        *(rows, rows.T, rows[:, ::-1], rows.ravel(), rows.astype(">i8"), rows.astype(np.uint64)),
        *(read_only, 1, 2**63, True, 1.0, np.int64(1), (1, 1.0), (1.0, 1), ()),
    ]
    keys = [key_and_words([argument])[0] for argument in arguments]
    assert len(set(keys)) == len(set(map(repr, keys))) == len(keys)
    same = [rows, rows.copy(), rows[:1], np.frombuffer(bytearray(48)).view(np.int64).reshape(3, 2)]
    assert {key_and_words([array])[0] for array in same} == {keys[0]}
    whole = [key_and_words([number])[0] for number in (2**64 - 1, 2**63 - 1, -(2**63))]
    assert whole[0] != whole[1] == whole[2]


def test_memory_is_used_again_on_the_same_thread_if_it_is_large_enough() -> None:
    memory = KeptMemory()
    first = memory.memory_for("one", 1000)
    assert memory.memory_for("one", 10) is first
    assert memory.memory_for("other", 10) is not first
    larger = memory.memory_for("one", 1001)
    assert larger.size >= 1001
    assert memory.memory_for("one", MOST_KEPT + 1).size > MOST_KEPT  # not kept
    assert memory.memory_for("one", 10) is larger
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(memory.memory_for, "one", 10).result() is not larger
