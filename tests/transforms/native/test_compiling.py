"""The cache of compiled code: it is never stale, and it never stops a run."""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
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
from beam_bleu.transforms.native import cache_folder
from beam_bleu.transforms.native import compiling as module

PACKAGE = pathlib.Path(beam_bleu.transforms.__file__).parent

COUNT = """
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import count_batch
config = BleuConfig(max_ngram_order=1)
counts = count_batch(to_batch([("a~b", ["a"])]), config.text, config).counts
print(counts[0, 0, CANDIDATE_LENGTH])
"""


@pytest.fixture(autouse=True)
def _no_warning_yet() -> None:
    cache_folder._warned.cache_clear()


PROBE = {
    "native/probe_constant.py": "LENGTH = 3\n",
    "native/probe_made.py": """
from beam_bleu.transforms.native.compiling import ir, operation

def _times(number):
    @operation("int64", "int64")
    def times(builder, x):
        return builder.mul(x, ir.Constant(ir.IntType(64), number))
    return times

once = _times(1)
tenfold = _times(10)
""",
    "statistics/probe_code.py": """
from beam_bleu.transforms.native.compiling import inner

@inner
def one_less(x, steps=1):
    return x - 1
""",
    "score/probe.py": """
from beam_bleu.transforms.native import probe_constant
from beam_bleu.transforms.native.compiling import FUNCTIONS, compiled
from beam_bleu.transforms.native.probe_made import once as times
from beam_bleu.transforms.statistics.probe_code import one_less

@compiled
def length(x):
    return times(one_less(x)) + probe_constant.LENGTH

print(length(2) * 1000 + FUNCTIONS.compiled)
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
    made = copy / "native" / "probe_made.py"
    changed(made, "once = _times(1)\ntenfold", "tenfold = _times(1)\nonce")
    assert printed(program, tmp_path) == -63_000 + 1
    changed(made, "builder.mul", "builder.add")
    assert printed(program, tmp_path) == 10_000 + 1


def test_every_compiled_function_has_a_key_of_its_own() -> None:
    for source in PACKAGE.rglob("*.py"):
        if "native.compiling import" in source.read_text():
            name = ".".join(source.relative_to(PACKAGE).with_suffix("").parts)
            importlib.import_module(f"beam_bleu.transforms.{name}")
    functions = [
        value
        for name, loaded in sys.modules.items()
        if name.startswith("beam_bleu.transforms.")
        for value in vars(loaded).values()
        if isinstance(value, module.CompiledFunction) and value.function.__module__ == name
        if "<locals>" not in value.function.__qualname__  # they are not kept
    ]
    assert len(functions) > 100
    assert len({each._file_name(()) for each in functions}) == len(functions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "after"),
    [
        ("text/byte_classes.py", '("{", "~")', '("{", "}")', 1),
        # The old compiled code would write the length of the reference, 1, to this column.
        (
            "metrics/bleu/columns.py",
            "CANDIDATE_LENGTH, SHORTEST, CLOSEST",
            "SHORTEST, CANDIDATE_LENGTH, CLOSEST",
            3,
        ),
    ],
    ids=["code", "a constant"],
)
def test_a_change_below_the_kernel_is_noticed(
    file: str, old: str, new: str, after: int, copy: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    assert printed(COUNT, tmp_path) == 3
    changed(copy / file, old, new)
    assert printed(COUNT, tmp_path) == after


def add_one(x):
    return x + 1


def add_two(x):
    return x + 2


def loaded(function: Callable[[Any], Any], argument: Any, result: Any) -> bool:
    """Calls a function as a new process would; returns whether it came from the cache."""
    before = module.FUNCTIONS.loaded
    assert module.compiled(function)(argument) == result
    return module.FUNCTIONS.loaded > before


def kept(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files in the cache."""
    return [path for path in folder.rglob("*") if not path.is_dir()]


def test_a_function_is_kept_for_each_type(chosen: pathlib.Path) -> None:
    for argument in (np.int64(1), np.float64(1)):
        assert not loaded(add_one, argument, 2)
        assert loaded(add_one, argument, 2)
    assert not loaded(add_two, np.int64(1), 3)
    assert len(kept(chosen)) == 3


@pytest.mark.parametrize(
    "compiler",
    [
        "numba",
    ],
)
def test_code_of_another_compiler_is_not_used(
    compiler: str, chosen: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not loaded(add_one, np.int64(1), 2)
    version = importlib.metadata.version
    with monkeypatch.context() as changed:
        changed.setattr(
            importlib.metadata,
            "version",
            lambda name: "0.1" if name == compiler else version(name),
        )
        module._compilers.cache_clear()
        assert not loaded(add_one, np.int64(1), 2)
    module._compilers.cache_clear()
    assert loaded(add_one, np.int64(1), 2)


def test_code_for_a_chosen_processor_runs_on_every_machine_with_its_instructions(
    chosen: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def machine(name: str, *features: str) -> None:
        of_machine = binding.FeatureMap(dict.fromkeys(features, True))
        monkeypatch.setattr(binding, "get_host_cpu_name", lambda: name)
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: of_machine)
        module.processor.cache_clear()

    with monkeypatch.context() as changed:
        changed.setenv("NUMBA_CPU_NAME", "generic")
        changed.setenv("NUMBA_CPU_FEATURES", "+one,+two")
        module._compilers.cache_clear()
        machine("builder", "one", "two", "three")
        chosen_here = module.processor()
        machine("worker", "one", "two")
        assert module.processor() == chosen_here
        machine("old", "one")
        with pytest.raises(UsageError, match="lacks two, and NUMBA_CPU_FEATURES lets"):
            module.processor()
        changed.delenv("NUMBA_CPU_FEATURES")
        machine("builder", "one", "two")
        of_builder = module.processor()
        machine("worker", "one", "two")
        assert module.processor() != of_builder
    monkeypatch.undo()
    module.processor.cache_clear()
    module._compilers.cache_clear()


def truncate(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def fill_with_garbage(path: pathlib.Path) -> None:
    path.write_bytes(b"garbage " * 1000)


def change_a_bit(path: pathlib.Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def be_of_another_function(path: pathlib.Path) -> None:
    """Exchanges two files, so that only their names are wrong."""
    other = next(each for each in kept(path.parent) if each != path)
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


def be_written_by_others(path: pathlib.Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        fill_with_garbage,
        change_a_bit,
        be_of_another_function,
        be_written_by_others,
    ],
)
def test_a_bad_file_is_named_once_and_replaced(
    damage: Callable[[pathlib.Path], None],
    chosen: pathlib.Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for function, result in ((add_one, 2), (add_two, 3)):
        assert not loaded(function, np.int64(1), result)
    files = kept(chosen)
    for path in files[:1] if damage is be_of_another_function else files:
        damage(path)
    for function, result in ((add_one, 2), (add_two, 3)):
        assert not loaded(function, np.int64(1), result)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("beam_bleu", logging.WARNING)
    assert any(str(path) in record.getMessage() for path in files)
    assert "takes a few seconds" in record.getMessage()
    for function, result in ((add_one, 2), (add_two, 3)):
        assert loaded(function, np.int64(1), result)


@pytest.mark.parametrize(
    "error",
    [
        errno.ENOSPC,
        errno.EROFS,
    ],
)
def test_a_full_disk_is_a_warning(
    error: int,
    chosen: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*paths: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "replace", fail)
    for function, result in ((add_one, 2), (add_two, 3)):
        assert not loaded(function, np.int64(1), result)
    (record,) = caplog.records
    assert str(chosen) in record.getMessage()
    assert os.strerror(error) in record.getMessage()
    assert kept(chosen) == [], "what was half written was left"


def test_code_compiles_where_no_folder_can_be_written(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(cache_folder, "_parents", lambda: iter([tmp_path / "file"]))
    for function, result in ((add_one, 2), (add_two, 3)):
        assert not loaded(function, np.int64(1), result)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    (record,) = caplog.records
    assert str(tmp_path / "file") in record.getMessage()
    assert "takes a few seconds" in record.getMessage()
