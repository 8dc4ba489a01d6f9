"""run.sh: one command from a fresh copy to a score, and clear errors if this is not possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from command_line import PROJECT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, for which pytest installs the same under another name
    import tomli as tomllib

# A uv that writes down which extras it is asked for. FAULT is what does not work.
STUB_UV = """#!/bin/bash
case "$1" in
  venv)
    environment=${{@: -1}}
    rm -rf "$environment" && mkdir -p "$environment/bin"
    cp "${{PYTHON:-{python}}}" "$environment/bin/python" ;;
  pip)
    echo "${{@: -1}}" >>asked
    case $FAULT in
      killed) kill -9 $PPID; exit 1 ;;
      offline) echo "stub: no network" >&2; exit 1 ;;
      held) until [[ -e go ]]; do sleep 0.05; done ;;
    esac
    printf '#!/bin/sh\\necho beam-bleu "$@"\\n' >.venv/bin/beam-bleu
    chmod +x .venv/bin/beam-bleu ;;
esac
"""


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def stub_python(path: Path, version: str) -> Path:
    return executable(path, f"#!/bin/sh\necho Python {version}\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that run.sh needs, in a folder with a space in its name, and a uv beside it."""
    folder = tmp_path / "a project"
    for name in ("run.sh", "pyproject.toml", "deploy/constraints.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, folder / name)
    python = stub_python(tmp_path / "python", "3.12")
    executable(tmp_path / "bin" / "uv", STUB_UV.format(python=python))
    return folder


def variables(project: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    return kept | {"PATH": f"{project.parent / 'bin'}:{kept['PATH']}"} | more


def run_script(project: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs run.sh; keywords are variables."""
    return subprocess.run(
        [project / "run.sh", *arguments],
        env=variables(project, **more),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )


def asked(project: Path) -> list[str]:
    """The extras of each installation that uv was asked for."""
    return (project / "asked").read_text().splitlines()


def test_the_first_call_installs_and_the_next_one_only_runs(project: Path) -> None:
    first = run_script(project, "--candidates", "my system=a b.txt", "*")
    shown = "beam-bleu --candidates my system=a b.txt *\n"
    assert (first.returncode, first.stdout) == (0, shown)
    assert first.stderr == f"run.sh: installing into {project}/.venv, with these extras: staging\n"
    second = run_script(project, "--version", FAULT="offline")
    assert (second.returncode, second.stderr) == (0, "")
    assert asked(project) == [".[staging]"]
    # The script finds its project through links.
    other = project.parent / "other"
    other.mkdir()
    (other / "second").symlink_to("../a project/run.sh")
    (project.parent / "link").symlink_to("other/second")
    words = ["../link", "--version"]
    done = subprocess.check_output(words, env=variables(project), cwd=other, timeout=60)
    assert done == b"beam-bleu --version\n"


def test_a_change_is_installed_again_with_all_extras(project: Path, tmp_path: Path) -> None:
    def assert_installed_again(number: int) -> None:
        assert run_script(project, "--version").stdout == "beam-bleu --version\n"
        assert asked(project) == [".[gcp,staging,yaml]"] * number
        assert run_script(project, "--version").stderr == ""

    assert run_script(project, "install", "yaml", "gcp").returncode == 0
    with open(project / "pyproject.toml", "a") as file:
        file.write("# a change\n")
    assert_installed_again(2)
    # An upgrade of the system has changed the environment's Python.
    stub_python(project / ".venv" / "bin" / "python", "3.13")
    assert_installed_again(3)
    project = project.rename(tmp_path / "moved")
    assert_installed_again(4)
    (project / ".venv" / "bin" / "beam-bleu").unlink()
    assert_installed_again(5)


def test_every_extra_can_be_installed_and_no_other(project: Path) -> None:
    found = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    extras = list(found["project"]["optional-dependencies"])
    for wrong in ("yamll", "", "dependencies", "y*", "ja ko"):
        run = run_script(project, "install", "gcp", wrong)
        assert (run.returncode, run.stdout) == (1, "")
        assert run.stderr.splitlines() == [
            f"run.sh: there is no extra {wrong}",
            f"  choose from: {' '.join(extras)}",
        ]
    assert run_script(project, "install", *extras).returncode == 0
    assert asked(project) == [f".[{','.join(sorted(extras))}]"]


def test_an_installation_that_failed_is_repaired(project: Path) -> None:
    assert run_script(project, "install", "gcp").returncode == 0
    run = run_script(project, "install", "yaml", FAULT="offline")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines()[1:] == [
        *("stub: no network", "run.sh: installing failed", "  uv says why above")
    ]
    assert run_script(project, "--version", FAULT="offline").stdout == "beam-bleu --version\n"
    assert run_script(project, "install", "yaml", FAULT="killed").returncode != 0
    run = run_script(project, "--version")
    assert (run.returncode, run.stdout) == (0, "beam-bleu --version\n")
    assert asked(project)[-1] == ".[gcp,staging]"


@pytest.mark.skipif(not shutil.which("flock"), reason="run.sh locks with the program flock")
def test_two_calls_at_once_install_once(project: Path) -> None:
    words = [project / "run.sh", "--version"]
    environment = variables(project, FAULT="held")
    calls = [subprocess.Popen(words, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    while not (project / "asked").exists():
        time.sleep(0.05)
    time.sleep(0.2)
    (project / "go").touch()
    assert [call.communicate(timeout=60)[0] for call in calls] == [b"beam-bleu --version\n"] * 2
    assert asked(project) == [".[staging]"]


def test_a_run_refuses_another_python_and_install_takes_it(project: Path, tmp_path: Path) -> None:
    assert run_script(project, "install", "yaml").returncode == 0
    older = str(stub_python(tmp_path / "older", "3.11"))
    run = run_script(project, "--version", PYTHON=older)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines() == [
        f"run.sh: PYTHON is {older}, and .venv has Python 3.12",
        "  unset it, or call ./run.sh install",
    ]
    assert run_script(project, "install", PYTHON=older).returncode == 0
    assert asked(project) == [".[staging,yaml]"] * 2
    assert run_script(project, "--version", PYTHON=older).stdout == "beam-bleu --version\n"


def test_a_set_of_tests_installs_what_it_needs(project: Path) -> None:
    assert run_script(project, "test", "--libraries", "tests/x.py").returncode == 0
    assert asked(project) == [".[staging,test]", ".[staging,test,test-libraries]"]
