"""What we use of other packages without a promise of theirs: a release without it is named here.

docs/performance.md says what each one gains.
"""

from __future__ import annotations

import importlib.metadata
import pkgutil
import platform

import numpy as np
import pytest

from beam_bleu.transforms.native import machine_code

USED = {
    "apache-beam": [
        ("apache_beam.transforms.core", "CallableWrapperDoFn", "starting/plain_steps.py"),
        ("apache_beam.runners.worker.statesampler", "StateSampler", "engines/in_process.py"),
        ("apache_beam.options.pipeline_options", "PipelineOptions", "command_line/beam_flags.py"),
    ],
    "numba": [
        ("numba.core", "cgutils", "native/emitting.py"),
        ("numba.core.codegen", "CodeLibrary", "native/front_end.py"),
        ("numba.core.codegen.CPUCodeLibrary", "_get_module_for_linking", "native/front_end.py"),
        ("numba.core.compiler", "_LowerResult", "native/front_end.py"),
        ("numba.core.typed_passes", "NativeLowering", "native/front_end.py"),
        ("numba.core.compiler_lock", "global_compiler_lock", "native/emitting.py"),
        ("numba.core.registry", "cpu_target", "native/emitting.py"),
        ("numba.np.arrayobj", "make_array", "native/emitting.py"),
        ("numba.np.arrayobj", "populate_array", "native/emitting.py"),
    ],
    "Python": [
        ("importlib._bootstrap", "_get_module_lock", "starting/unused_packages.py"),
        ("importlib._bootstrap", "_DeadlockError", "starting/unused_packages.py"),
        ("argparse", "_ActionsContainer", "command_line/*_flags.py"),
        ("argparse", "_ArgumentGroup", "command_line/options.py"),
    ],
}


def version_of(package: str) -> str:
    if package == "Python":
        return platform.python_version()
    return importlib.metadata.version(package)


@pytest.mark.parametrize(
    ("package", "module", "name", "file"),
    [(package, *each) for package, names in USED.items() for each in names],
)
def test_a_release_still_has_what_we_use(package, module, name, file):
    told = f"{package} {version_of(package)} has no {module}.{name}, which {file} uses"
    assert hasattr(pkgutil.resolve_name(module), name), told


def test_beams_samplers_still_start_and_stop_in_the_way_that_the_runner_replaces():
    from apache_beam.runners.worker.statesampler import StateSampler

    told = f"apache-beam {version_of('apache-beam')}: engines/in_process.py replaces what this does"
    start, stop = StateSampler.start.__code__.co_names, StateSampler.stop.__code__.co_names
    tracked = {"threading", "current_thread", "tracked_thread", "set_current_tracker"}
    assert set(start) == tracked | {"super", "start", "started"}, told
    assert set(stop) == {"set_current_tracker", "super", "stop"}, told


@pytest.mark.parametrize("array", [np.arange(5), np.zeros((2, 3)), np.zeros(0, np.uint8)], ids=str)
def test_numpy_still_keeps_the_address_of_data_where_compiled_code_looks(array):
    found = machine_code._word_at(id(array) + machine_code._DATA).value
    told = f"numpy {np.__version__}: native/machine_code.py reads the address of an array's data"
    assert found == array.ctypes.data, told
