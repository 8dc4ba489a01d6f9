"""A deferred module behaves like any other module, but its code runs when it is first used."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

import pytest

from beam_bleu.pipeline.cheap_start import DeferredLoader

RUNS = "runs.txt"

PACKAGE = f"""
import pathlib, time
with pathlib.Path(__file__).with_name("{RUNS}").open("a") as runs:
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
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [_Finder(), *sys.meta_path])
    yield place
    for name in ("late_package", "late_package.part"):
        sys.modules.pop(name, None)


def _module() -> ModuleType:
    return importlib.import_module("late_package")


def _runs(folder: Path) -> int:
    file = folder / RUNS
    return len(file.read_text().split()) if file.exists() else 0


def test_the_code_runs_once_and_only_when_it_is_used(folder: Path) -> None:
    module = _module()
    assert _runs(folder) == 0
    assert (module.FACTOR, module.PART, module.double(4)) == (2, 5, 8)
    assert _runs(folder) == 1
    assert type(module) is ModuleType
    assert module.__file__ == str(folder / "__init__.py")


def test_threads_that_use_a_module_at_once_run_its_code_once(folder: Path) -> None:
    module, found = _module(), []
    threads = [
        threading.Thread(target=lambda: found.append(module.double(module.PART))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [10] * 8
    assert _runs(folder) == 1


def test_threads_that_need_a_package_and_its_part_do_not_wait_for_each_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_run = ModuleType("both_run")
    both_run.wait = threading.Barrier(2, timeout=60).wait
    monkeypatch.setitem(sys.modules, "both_run", both_run)
    first = "from both_run import wait; wait()\n"
    folder.joinpath("__init__.py").write_text(f"FACTOR = 2; {first}import late_package.part\n")
    folder.joinpath("part.py").write_text(
        f"import late_package; {first}VALUE = late_package.FACTOR\n"
    )
    module, found = _module(), []

    def use_the_package() -> None:
        found.append(module.FACTOR)

    def import_the_part() -> None:
        found.append(importlib.import_module("late_package.part").VALUE)

    threads = [
        threading.Thread(target=each, daemon=True) for each in (use_the_package, import_the_part)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [2, 2]


def test_code_that_fails_fails_again_at_the_next_use(folder: Path) -> None:
    folder.joinpath("part.py").write_text("raise ImportError('a library is missing')\n")
    module = _module()
    for _ in range(2):
        with pytest.raises(ImportError, match="a library is missing"):
            _ = module.FACTOR
