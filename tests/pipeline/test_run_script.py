"""run.sh: one command from a fresh copy to a score, and clear errors if this is not possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import PROJECT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, for which pytest installs the same under another name
    import tomli as tomllib

# A Python of another version. It makes virtual environments with copies of itself, and its pip
# writes down what it is asked to install. FAULT is what does not work.
STUB_PYTHON = """#!/bin/bash
here=$(cd "$(dirname "$0")/.." && pwd)
case "$*" in
  -V) echo "Python {version}" ;;
  "-I -S -c "*) echo "Python {minor}" ;;
  "-c "*) exec "{python}" -S -c "import sys; sys.version_info = {numbers}; ${{@: -1}}" ;;
  "-m venv "*)
    [[ $FAULT != venv ]] || {{ echo "stub: $*" >&2; exit 1; }}
    environment=${{@: -1}}
    rm -rf "$environment" && mkdir -p "$environment/bin" && cp "$0" "$environment/bin/python" ;;
  "-m ensurepip "*)
    touch "$here/pip"
    [[ $FAULT != ensurepip ]] || kill -9 $PPID ;;
  "-m pip --version") [[ -e $here/pip ]] ;;
  "-m pip check") [[ $FAULT != broken ]] ;;
  "-m pip install "*)
    echo "${{@: -1}}" >>"$here/../asked"
    case $FAULT in
      killed) kill -9 $PPID; exit 1 ;;
      offline | broken) echo "stub: no network" >&2; exit 1 ;;
      held) until [[ -e $here/../go ]]; do sleep 0.05; done ;;
    esac
    printf '#!/bin/sh\\necho beam-bleu "$@"\\n' >"$here/bin/beam-bleu"
    chmod +x "$here/bin/beam-bleu" ;;
  *) echo "stub: what is $*?" >&2; exit 1 ;;
esac
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


def stub_python(folder: Path, version: str = "3.12.1", name: str = "python3") -> Path:
    numbers = tuple(map(int, version.split(".")))
    text = STUB_PYTHON.format(
        version=version,
        minor=version.rpartition(".")[0],
        numbers=numbers,
        python=sys.executable,
    )
    return executable(folder / name, text)


def environment(python: Path | str | None = None, fault: str = "") -> dict[str, str]:
    """The variables for a call, which ask pip not to use the network."""
    variables = os.environ | {"FAULT": fault, "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    variables.pop("PYTHON", None)
    return variables if python is None else variables | {"PYTHON": str(python)}


def run_script(
    project: Path, *arguments: str, python: Path | str | None = None, fault: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / "run.sh", *arguments],
        env=environment(python, fault),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )


def installed(folder: Path, *extras: str) -> Path:
    """A project in a folder, installed with these extras by a stub of Python 3.12."""
    project = copy_of_the_project(folder)
    run = run_script(project, "install", *extras, python=stub_python(folder))
    assert run.returncode == 0, run.stderr
    return project


def asked(project: Path) -> list[list[str]]:
    """The extras of each installation that pip was asked for."""
    lines = (project / "asked").read_text().splitlines()
    assert all(line.startswith(f"{project}[") for line in lines)
    return [line.removeprefix(f"{project}[").removesuffix("]").split(",") for line in lines]


@pytest.mark.parametrize(("version", "arguments"), [("2.7.18", ()), ("3.9.99", ("test",))])
def test_an_old_python_is_named(tmp_path, version, arguments):
    project = copy_of_the_project(tmp_path)
    run = run_script(project, *arguments, python=stub_python(tmp_path, version))
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        f"run.sh: Python {version} is too old\n  set PYTHON to a Python 3.10 or later\n"
    )
    assert not (project / ".venv").exists()


def test_arguments_reach_the_command_as_they_were_typed(tmp_path):
    project = installed(tmp_path)
    run = run_script(project, "--candidates", "my system=a b.txt", "*")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "beam-bleu --candidates my system=a b.txt *\n"


def test_the_script_finds_its_project_through_links(tmp_path):
    installed(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "second").symlink_to("../a project/run.sh")
    (tmp_path / "link").symlink_to("other/second")
    done = subprocess.run(
        ["../link", "--version"],
        env=environment() | {"CDPATH": str(tmp_path)},
        cwd=tmp_path / "other",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "beam-bleu --version\n")


def test_the_first_call_installs_and_runs(tmp_path):
    project = copy_of_the_project(tmp_path)
    run = run_script(project, "--version", python=stub_python(tmp_path))
    assert (run.returncode, run.stdout) == (0, "beam-bleu --version\n")
    assert run.stderr == f"run.sh: installing into {project}/.venv (once)\n"
    assert asked(project) == [["staging"]]


def state(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


@pytest.mark.parametrize("others", ["none", "newer", "broken"])
def test_an_installed_project_needs_no_other_python_and_writes_nothing(tmp_path, others):
    # As under cron: PATH has another Python than the one of the user who installed.
    project = installed(tmp_path, "yaml")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "cat", "dirname", "env", "readlink", "sed"):
        (programs / name).symlink_to(shutil.which(name) or name)
    if others == "newer":
        stub_python(programs, "3.14.0")
    elif others == "broken":
        executable(programs / "python3", "#!/bin/sh\nexit 1\n")
    before = state(project)
    done = subprocess.run(
        [project / "run.sh", "--version"],
        env={"PATH": str(programs), "FAULT": "offline"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "beam-bleu --version\n")
    assert state(project) == before


@pytest.mark.parametrize("change", ["pyproject", "python", "place", "no command"])
def test_a_change_is_installed_again_with_all_extras(tmp_path, change):
    project = installed(tmp_path, "yaml", "gcp")
    assert "installing" not in run_script(project).stderr
    if change == "pyproject":
        with open(project / "pyproject.toml", "a") as file:
            file.write("# a change\n")
    elif change == "python":  # an upgrade of the system has changed the environment's Python
        stub_python(project / ".venv" / "bin", "3.13.0", "python")
    elif change == "place":
        project = project.rename(tmp_path / "moved")
        (project / "asked").unlink()
    else:
        (project / ".venv" / "bin" / "beam-bleu").unlink()
    newest = stub_python(tmp_path, "3.13.0" if change == "python" else "3.12.1")
    run = run_script(project, python=newest)
    assert run.returncode == 0, run.stderr
    assert f"installing into {project}/.venv, with the extras gcp yaml (once)" in run.stderr
    assert asked(project)[-1] == ["gcp", "yaml", "staging"]
    assert "installing" not in run_script(project).stderr


def test_every_extra_of_pyproject_can_be_installed_and_no_other(tmp_path):
    project = copy_of_the_project(tmp_path)
    found = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    extras = list(found["project"]["optional-dependencies"])
    for wrong in ("yamll", "", "yam", "dependencies", "y*", "ja ko"):
        run = run_script(project, "install", "gcp", wrong, python=stub_python(tmp_path))
        assert (run.returncode, run.stdout) == (1, "")
        assert run.stderr.splitlines() == [
            f"run.sh: there is no extra {wrong}",
            f"  choose from: {' '.join(extras)}",
        ]
    assert not (project / ".venv").exists()
    run = run_script(project, "install", *extras, python=stub_python(tmp_path))
    assert run.returncode == 0, run.stderr
    assert asked(project) == [[*extras, "staging"]]


@pytest.mark.parametrize("moment", ["ensurepip", "killed"])
def test_an_interrupted_installation_is_repaired(tmp_path, moment):
    project = copy_of_the_project(tmp_path)
    python = stub_python(tmp_path)
    assert run_script(project, "install", "yaml", python=python, fault=moment).returncode != 0
    run = run_script(project, "install", "yaml", python=python)
    assert run.returncode == 0, run.stderr
    assert asked(project)[-1] == ["yaml", "staging"]
    assert run_script(project, "--version").stdout == "beam-bleu --version\n"


@pytest.mark.parametrize(("fault", "works"), [("offline", True), ("broken", False)])
def test_an_extra_that_cannot_be_fetched(tmp_path, fault, works):
    # pip has changed nothing, so the job of the night still runs, without the network. But if
    # packages do not fit together, they must be installed again.
    project = installed(tmp_path)
    run = run_script(project, "install", "gcp", python=stub_python(tmp_path), fault=fault)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines()[1:] == [
        "stub: no network",
        "run.sh: installing failed",
        "  pip says why above",
    ]
    assert ("installing" in run_script(project, python=stub_python(tmp_path)).stderr) != works


def test_two_calls_at_once_install_once(tmp_path):
    project = copy_of_the_project(tmp_path)
    variables = environment(stub_python(tmp_path), fault="held")
    errors = [tmp_path / "first", tmp_path / "second"]
    calls = []
    for path in errors:
        with open(path, "wb") as err:
            words = [project / "run.sh", "--version"]
            calls.append(subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=err))
    # One call installs until the other one waits for it.
    end = time.monotonic() + 60
    while not any("waiting" in path.read_text() for path in errors) and time.monotonic() < end:
        time.sleep(0.05)
    (project / "go").touch()
    assert [call.communicate(timeout=60)[0] for call in calls] == [b"beam-bleu --version\n"] * 2
    assert sorted(path.read_text() for path in errors) == [
        f"run.sh: installing into {project}/.venv (once)\n",
        "run.sh: waiting for another call that installs\n",
    ]
    assert asked(project) == [["staging"]]


def test_a_run_refuses_a_python_of_another_version_and_install_takes_it(tmp_path):
    project = installed(tmp_path, "yaml")
    older = stub_python(tmp_path, "3.11.2", "older")
    run = run_script(project, "--version", python=older)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines() == [
        f"run.sh: PYTHON is {older} (Python 3.11), and .venv has Python 3.12",
        f"  unset PYTHON, or make .venv again with it: PYTHON={older} ./run.sh install",
    ]
    assert len(asked(project)) == 1
    assert run_script(project, "install", python=older).returncode == 0
    assert asked(project)[1:] == [["yaml", "staging"]]
    assert run_script(project, "--version", python=older).stdout == "beam-bleu --version\n"
    assert run_script(project, "--version").stdout == "beam-bleu --version\n"
