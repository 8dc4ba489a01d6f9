"""Workers that do not have the code get it with the job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import EXAMPLE, Run, called
from engine_parts import need

from deploy.local import parts
from deploy.local.cluster import Workers
from deploy.local.engines import cluster_here
from deploy.local.hosts.installing import copy_sources, make_wheel

# The boot program installs into the workers' own environment, not into a new one each time.
BOOT = {"RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT": "1"}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **BOOT}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, check=False
    )
    return done


def checked(*command: str | Path, cwd: Path) -> str:
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project without files of earlier builds."""
    need("prism")
    need("boot")
    return copy_sources(tmp_path_factory.mktemp("sources") / "of")


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def dependencies(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel's dependencies, but without the wheel."""
    folder = tmp_path_factory.mktemp("dependencies")
    checked(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv/bin/python"
    checked(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=folder)
    checked(python, "-m", "pip", "uninstall", "--quiet", "--yes", "beam-bleu", cwd=folder)
    found = checked(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    )
    return Path(found.strip())


def environment(folder: Path, dependencies: Path) -> Path:
    """A new Python environment with the dependencies; returns its bin/."""
    checked(sys.executable, "-m", "venv", folder, cwd=dependencies)
    # A source package is built here and on the worker. The setuptools of venv is too old for that.
    command = [folder / "bin/python", "-m", "pip", "install", "--quiet", "build", "setuptools>=77"]
    checked(*command, cwd=folder)
    site = next(folder.glob("lib/python3*/site-packages"))
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    return folder / "bin"


@pytest.fixture(scope="module")
def launcher(wheel: Path, dependencies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed from the wheel."""
    folder = tmp_path_factory.mktemp("launcher")
    programs = environment(folder / "venv", dependencies)
    checked(programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", wheel, cwd=folder)
    return programs / "beam-bleu"


@pytest.fixture(params=["a wheel", "pyproject.toml"])
def staged(request: pytest.FixtureRequest, wheel: Path, sources: Path) -> str:
    if request.param == "a wheel":
        return f"--extra_package={wheel}"
    return f"--setup_file={sources}/pyproject.toml"


def test_workers_get_the_code_with_the_job(
    staged: str, launcher: Path, dependencies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = environment(tmp_path / "bare", dependencies)
    for name, value in BOOT.items():
        monkeypatch.setenv(name, value)
    workers = Workers(str(bare / "python"), parts.boot())
    cluster = cluster_here("prism", tmp_path / "prism", workers)
    arguments = [*map(str, EXAMPLE), "--format=json", "--output", tmp_path / "out"]
    with cluster:
        without = run(launcher, *arguments, *cluster.flags(), cwd=tmp_path)
        assert without.returncode == 1
        assert b"the workers do not have beam-bleu" in without.stderr
        assert not (tmp_path / "out" / "scores.json").exists()

        with_it = run(launcher, *arguments, *cluster.flags(), staged, cwd=tmp_path)
    assert with_it.returncode == 0, with_it.stderr
    assert Run(0, with_it.stdout, "") == called(*EXAMPLE, "--format=json")
