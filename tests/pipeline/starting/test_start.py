"""A run imports nothing that it does not need, and keeps the memory that it frees."""

from __future__ import annotations

import importlib
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

import pytest
from command_line import COMMAND, PROJECT, REFERENCES, SYSTEMS, called, streams, typed

from beam_bleu.pipeline.cheap_start import DeferredLoader, leave_out_unused_packages
from beam_bleu.pipeline.folder.paths import has_module

UNNEEDED = (
    "numba",
    "pandas",
    "pymongo",
    # Parts of packages that are loaded when they are used.
    "beartype.meta",
    "cryptography.hazmat",
    "pyarrow._compute",
    "pyparsing",
    "regex._main",
    "urllib3",
    "yaml.loader",
    # Parts of Beam's extras for object stores.
    "apitools",
    "azure",
    "boto3",
    "google.api_core",
    "google.auth",
    "google.cloud.storage",
    "obstore",
)

PROGRAM = f"""
import atexit, sys
from beam_bleu.pipeline.main import command
unneeded = {UNNEEDED}
atexit.register(
    lambda: print("loaded:", *(name for name in unneeded if name in sys.modules), file=sys.stderr)
)
command()
"""


def test_a_run_with_compiled_code_in_the_cache_imports_nothing_unneeded() -> None:
    words = streams([SYSTEMS["birch"]], REFERENCES)
    expected = called(*words)  # it leaves its code in the cache
    done = subprocess.run(
        [*COMMAND[:1], "-c", PROGRAM, *words], cwd=PROJECT, capture_output=True, check=True
    )
    assert done.stderr.decode().splitlines()[-1] == "loaded:"
    assert done.stdout == expected.out


USING_THEM = """
from beam_bleu.pipeline.cheap_start import leave_out_unused_packages
leave_out_unused_packages(["a.txt"])
import fastavro, grpc, io, pyarrow.compute, pyarrow.parquet, requests, yaml
from apache_beam.typehints.typehints import BeartypeDoorException, is_subhint
from cryptography.fernet import Fernet
from fastavro import parse_schema, schemaless_reader, schemaless_writer
key = Fernet(b"A" * 43 + b"=")
schema, file = parse_schema({"type": "int"}), io.BytesIO()
schemaless_writer(file, schema, 4)
file.seek(0)
print([
    pyarrow.compute.sum([1, 2, 3]).as_py(),
    is_subhint(bool, int) and issubclass(BeartypeDoorException, Exception),
    is_subhint(str, int),
    schemaless_reader(file, schema),
    len(key.decrypt(key.encrypt(b"x"))),
])
assert requests.exceptions.RequestException and grpc.aio.Channel and yaml.safe_load("1") == 1
assert pyarrow.parquet.ParquetFile and issubclass(requests.Timeout, OSError)
"""

LIBRARIES = ("boto3", "hdfs")
"""Libraries of Beam's filesystems that are one module, so that a test can replace them."""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES:
        tmp_path.joinpath(f"{library}.py").touch()
        monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    importlib.invalidate_caches()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("a.txt -i name=* --output=b", set()),
        ("s3://a.txt -i name=s3://* --output=s3://b", set()),
        ("a.txt -i name=hdfs://host/*", {*LIBRARIES}),
        ("--input=delta:s3://bucket/table", {*LIBRARIES}),
        ("a.txt -i b.txt --runner DataflowRunner", {*LIBRARIES}),
        ("doctor", {*LIBRARIES}),
    ],
)
def test_only_hdfs_tables_engines_and_the_doctor_see_all_libraries(words, found):
    leave_out_unused_packages(words.split())
    assert {library for library in LIBRARIES if has_module(library)} == found


def test_what_beam_imports_from_deferred_packages_works():
    done = subprocess.run(
        [*COMMAND[:1], "-c", USING_THEM], cwd=PROJECT, capture_output=True, check=True
    )
    assert done.stdout == b"[6, True, False, 4, 1]\n"


FREEING = """
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
        [sys.executable, "-c", FREEING], capture_output=True, text=True, check=True
    )
    faults, given_back = map(int, run.stdout.split())
    assert faults < 8_000  # 10 times 32 MB in new pages of 4 KB are 80,000
    assert given_back > 6_000  # 32 MB are 8,192 pages


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


PACKAGE = """
import pathlib, time
with pathlib.Path(__file__).with_name("runs.txt").open("a") as runs:
    runs.write("run ")
time.sleep(0.01)

class Failure(Exception):
    pass

def double(value):
    from late_package import FACTOR
    return FACTOR * value

import late_package.part
PART = late_package.part.VALUE
FACTOR = 2
"""


class _Finder:
    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != "late_package":
            return None
        spec = PathFinder.find_spec(name)
        assert spec is not None
        spec.loader = DeferredLoader(spec, ["double", "Failure"])
        return spec


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package that is deferred."""
    place = tmp_path / "late_package"
    place.mkdir()
    place.joinpath("__init__.py").write_text(PACKAGE)
    place.joinpath("part.py").write_text("VALUE = 5\n")
    place.joinpath("runs.txt").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [_Finder(), *sys.meta_path])
    yield place
    for name in ("late_package", "late_package.part"):
        sys.modules.pop(name, None)


def _runs(folder: Path) -> int:
    return len((folder / "runs.txt").read_text().split())


def test_the_code_runs_once_and_only_when_threads_use_it(folder: Path) -> None:
    module = importlib.import_module("late_package")
    assert _runs(folder) == 0
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(lambda: module.double(module.PART)) for _ in range(8)]
    assert [each.result() for each in found] == [10] * 8
    assert _runs(folder) == 1
    assert (module.FACTOR, module.PART, module.double(4)) == (2, 5, 8)
    assert type(module) is ModuleType
    assert module.__file__ == str(folder / "__init__.py")


def test_threads_that_need_a_package_and_its_part_do_not_wait_for_each_other(folder, monkeypatch):
    both_run = ModuleType("both_run")
    both_run.wait = threading.Barrier(2, timeout=60).wait
    monkeypatch.setitem(sys.modules, "both_run", both_run)
    first = "from both_run import wait; wait()\n"
    folder.joinpath("__init__.py").write_text(f"FACTOR = 2; {first}import late_package.part\n")
    folder.joinpath("part.py").write_text(
        f"import late_package; {first}VALUE = late_package.FACTOR\n"
    )
    module = importlib.import_module("late_package")
    with ThreadPoolExecutor(2) as pool:
        package = pool.submit(lambda: module.FACTOR)
        part = pool.submit(lambda: importlib.import_module("late_package.part").VALUE)
        assert (package.result(60), part.result(60)) == (2, 2)
