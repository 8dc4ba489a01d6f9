"""Workers that do not have the code get it with the job."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command_line import EXAMPLE, called
from engine_parts import need

from deploy.local import parts
from deploy.local.cluster import Workers
from deploy.local.engines import cluster_here
from deploy.local.hosts.installing import copy_sources, make_wheel

# The boot program installs into the workers' own environment, not into a new one each time.
BOOT = {"RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT": "1"}


def run(*command, cwd):
    environment = {**os.environ, **BOOT}
    environment.pop("PYTHONPATH", None)
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, check=False)


def checked(*command, cwd):
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a wheel, and an environment with what it depends on, but without the wheel."""
    need("prism")
    need("boot")
    folder = tmp_path_factory.mktemp("dependencies")
    wheel = make_wheel(folder)
    checked(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    pip = [folder / "venv/bin/python", "-m", "pip"]
    checked(*pip, "install", "--quiet", "--no-compile", wheel, cwd=folder)
    checked(*pip, "uninstall", "--quiet", "--yes", "beam-bleu", cwd=folder)
    return folder


def environment(place, folder):
    """A new Python environment with the dependencies; returns its bin/."""
    checked(sys.executable, "-m", "venv", place, cwd=folder)
    # A source package is built here and on the worker. The setuptools of venv is too old for that.
    command = [place / "bin/python", "-m", "pip", "install", "--quiet", "build", "setuptools>=77"]
    checked(*command, cwd=folder)
    (site,) = place.glob("lib/python3*/site-packages")
    (dependencies,) = folder.glob("venv/lib/python3*/site-packages")
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    return place / "bin"


@pytest.mark.parametrize("given", ["--extra_package", "--setup_file"])
def test_workers_get_the_code_with_the_job(given, folder, tmp_path, monkeypatch):
    (wheel,) = folder.glob("*.whl")
    launcher = environment(tmp_path / "launcher", folder)
    checked(launcher / "python", "-m", "pip", "install", "--quiet", "--no-deps", wheel, cwd=folder)
    if given == "--extra_package":
        staged = f"--extra_package={wheel}"
    else:
        staged = f"--setup_file={copy_sources(tmp_path / 'sources')}/pyproject.toml"
    for name, value in BOOT.items():
        monkeypatch.setenv(name, value)
    bare = environment(tmp_path / "bare", folder)
    cluster = cluster_here("prism", tmp_path / "prism", Workers(str(bare / "python"), parts.boot()))
    command = [launcher / "beam-bleu", *EXAMPLE, "--format=json", "--output", tmp_path / "out"]
    with cluster:
        without = run(*command, *cluster.flags(), cwd=tmp_path)
        assert without.returncode == 1
        assert b"the workers do not have beam-bleu" in without.stderr
        assert not (tmp_path / "out" / "scores.json").exists()

        with_it = run(*command, *cluster.flags(), staged, cwd=tmp_path)
    assert with_it.returncode == 0, with_it.stderr
    assert with_it.stdout == called(*EXAMPLE, "--format=json").out
