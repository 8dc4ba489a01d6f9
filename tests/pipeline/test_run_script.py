"""run.sh: one command from a fresh copy to a score, and clear errors if this is not possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROJECT

# A Python that reports another version and cannot make virtual environments.
STUB_PYTHON = """#!/bin/sh
case "$1" in
  -V | -VV) echo "Python {version}" ;;
  -c) exec "{python}" -c "import sys; sys.version_info = {numbers}; $2" ;;
  -m) echo "stub: $*" >&2; exit 1 ;;
esac
"""
STUB_COMMAND = """#!/bin/sh
echo beam-bleu "$@"
"""


def copy_of_the_project(folder: Path) -> Path:
    """The files that run.sh needs, in a folder with a space in its name."""
    project = folder / "a project"
    project.mkdir()
    for name in ("run.sh", "pyproject.toml"):
        shutil.copy(PROJECT / name, project)
    return project


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def stub_python(folder: Path, version: str) -> Path:
    numbers = tuple(map(int, version.split(".")))
    text = STUB_PYTHON.format(version=version, numbers=numbers, python=sys.executable)
    return executable(folder / "python", text)


def run_script(
    project: Path, *arguments: str, python: Path | str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / "run.sh", *arguments],
        env=os.environ | {"PYTHON": str(python)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )


def stamp(project: Path, python: Path | str) -> str:
    """The file that run.sh writes after installing: the Python, pyproject.toml and the folder."""
    version = subprocess.run([python, "-VV"], capture_output=True, text=True, check=True).stdout
    pyproject = (project / "pyproject.toml").read_text()
    return f"{version}{pyproject}{project}"


def is_installed(project: Path) -> bool:
    installed = project / ".venv" / "installed"
    return (
        installed.is_file()
        and shutil.which("python3") is not None
        and installed.read_text().rstrip("\n") == stamp(project, "python3")
    )


def pretend_to_be_installed(project: Path, python: Path | str) -> None:
    executable(project / ".venv" / "bin" / "beam-bleu", STUB_COMMAND)
    (project / ".venv" / "installed").write_text(stamp(project, python) + "\n")


def test_the_script_is_bash():
    check = subprocess.run(["bash", "-n", PROJECT / "run.sh"], capture_output=True, text=True)
    assert (check.returncode, check.stderr) == (0, "")
    assert os.access(PROJECT / "run.sh", os.X_OK)


@pytest.mark.parametrize("arguments", [(), ("--version",), ("test",)])
@pytest.mark.parametrize("version", ["2.7.18", "3.8.18", "3.9.99"])
def test_an_old_python_is_named(tmp_path, version, arguments):
    project = copy_of_the_project(tmp_path)
    run = run_script(project, *arguments, python=stub_python(tmp_path, version))
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        f"run.sh: Python {version} is too old\n  set PYTHON to a Python 3.10 or later\n"
    )
    assert not (project / ".venv").exists()


@pytest.mark.parametrize("arguments", [(), ("--version",), ("test",)])
def test_a_missing_python_is_named(tmp_path, arguments):
    project = copy_of_the_project(tmp_path)
    run = run_script(project, *arguments, python="/nowhere/python3")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        "run.sh: there is no /nowhere/python3\n  install Python 3.10 or later, or set PYTHON\n"
    )


@pytest.mark.parametrize("version", ["3.10.0", "3.12.1", "4.0.0"])
def test_a_python_that_cannot_make_environments_is_named(tmp_path, version):
    # Debian's python3 without python3-venv.
    project = copy_of_the_project(tmp_path)
    python = stub_python(tmp_path, version)
    run = run_script(project, python=python)
    assert (run.returncode, run.stdout) == (1, "")
    first, stub, *last = run.stderr.splitlines()
    assert first == f"run.sh: installing into {project}/.venv (once)"
    assert stub == f"stub: -m venv --clear {project}/.venv"
    assert last == [
        f"run.sh: {python} cannot make a virtual environment",
        "  install its venv module (Debian: python3-venv)",
    ]
    assert not (project / ".venv" / "installed").exists()


def test_arguments_reach_the_command_as_they_were_typed(tmp_path):
    project = copy_of_the_project(tmp_path)
    pretend_to_be_installed(project, sys.executable)
    run = run_script(project, "--candidates", "my system=a b.txt", "*", python=sys.executable)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "beam-bleu --candidates my system=a b.txt *\n"


LINKS = [
    ("{project}/run.sh", "/", "{folder}/link"),  # absolute
    ("a project/run.sh", "{folder}", "./link"),  # relative to the link's folder ...
    ("a project/run.sh", "/", "{folder}/link"),  # ... and not to the one we are in
    ("a project/run.sh", "{project}", "../link"),
    ("first", "{folder}/other", "../link"),  # to another link
]


@pytest.mark.parametrize(("target", "cwd", "called"), LINKS)
def test_the_script_finds_its_project_through_links(tmp_path, target, cwd, called):
    project = copy_of_the_project(tmp_path)
    pretend_to_be_installed(project, sys.executable)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "second").symlink_to("../a project/run.sh")
    (tmp_path / "first").symlink_to("other/second")
    places = {"project": project, "folder": tmp_path}
    (tmp_path / "link").symlink_to(target.format(**places))
    done = subprocess.run(
        [called.format(**places), "--version"],
        env=os.environ | {"PYTHON": sys.executable, "CDPATH": str(tmp_path)},
        cwd=cwd.format(**places),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "beam-bleu --version\n")


def test_the_script_finds_its_project_where_cd_prints_where_it_went(tmp_path):
    project = copy_of_the_project(tmp_path)
    pretend_to_be_installed(project, sys.executable)
    done = subprocess.run(
        ["bash", "a project/run.sh", "--version"],
        env=os.environ | {"PYTHON": sys.executable, "CDPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "beam-bleu --version\n")


def test_a_path_through_a_linked_folder_is_the_same_project(tmp_path):
    project = copy_of_the_project(tmp_path)
    pretend_to_be_installed(project, sys.executable)
    (tmp_path / "link").symlink_to(project)
    run = run_script(tmp_path / "link", "--version", python=sys.executable)
    assert (run.returncode, run.stderr, run.stdout) == (0, "", "beam-bleu --version\n")


def test_without_arguments_the_example_is_scored(tmp_path):
    project = copy_of_the_project(tmp_path)
    pretend_to_be_installed(project, sys.executable)
    words = run_script(project, python=sys.executable).stdout.split(f"{project}/examples/")
    named = [word.split()[0] for word in words[1:]]
    assert named == [
        "systems/atlas.txt",
        "systems/birch.txt",
        "systems/cobalt.txt",
        "references/a.txt",
        "references/b.txt",
    ]
    for name in named:
        assert (PROJECT / "examples" / name).is_file()


def test_a_second_call_does_not_install_again(tmp_path):
    project, python = PROJECT, "python3"
    if not is_installed(project):  # here the tests run from another environment
        project, python = copy_of_the_project(tmp_path), sys.executable
        pretend_to_be_installed(project, python)
    run = run_script(project, "--version", python=python)
    assert run.returncode == 0, run.stderr
    assert "installing" not in run.stderr
    assert run.stdout.startswith("beam-bleu ")


@pytest.mark.parametrize("change", ["pyproject", "python", "place"])
def test_a_change_is_installed_again(tmp_path, change):
    project = copy_of_the_project(tmp_path)
    python = stub_python(tmp_path, "3.12.1")
    pretend_to_be_installed(project, python)
    assert "installing" not in run_script(project, python=python).stderr
    if change == "pyproject":
        with open(project / "pyproject.toml", "a") as file:
            file.write("# a change\n")
    elif change == "python":
        stub_python(tmp_path, "3.13.0")
    else:
        project = project.rename(tmp_path / "moved")
    assert "installing" in run_script(project, python=python).stderr
