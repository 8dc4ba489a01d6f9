""".ci/run: it runs all checks, on the oldest and the newest Python, and tells which have failed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROJECT

from deploy.local.engines import SERVICES

TOOLS = [
    *("bash", "cat", "dirname", "env", "git", "head", "id", "mktemp", "nice", "rm", "sed", "tail"),
    "tee",
]
"""The programs that .ci/run calls, beside Python."""

# It writes down how it is called. FAILING is the call that fails.
RUN_SH = r"""#!/usr/bin/env bash
[[ -e uncommitted ]] && place=here || place=clone
[[ $place == here || ! ${PYTHONPATH-} ]] || exit 9
[[ ! $* =~ ^test\ --(browser|engines)$ || ${BEAM_BLEU_REQUIRED_ENGINES-} ]] || exit 9
python=${PYTHON-none}
echo "${python##*/} $place: $*" >>"$CALLS"
echo "======= 7 passed in 1.50s (0:00:01) ======="
[[ $* != "$FAILING" ]]
"""

# A Python of another version.
PYTHON = """#!/usr/bin/env bash
case "$2" in
  *ensurepip*) [[ $3 == {version} ]] && echo "$0" ;;
  *) echo "Python {version}.9" ;;
esac
"""

# The program that fetches engines.
PARTS = """#!/usr/bin/env bash
echo "fetching: $*" >>"$CALLS"
[[ fetching != "$FAILING" ]]
"""


def value(name: str) -> str:
    """The value of a variable of .ci/run."""
    return re.search(rf'^{name}="(.*)"$', (PROJECT / ".ci/run").read_text(), re.M)[1]


NUMBERS = f"test {value('numbers')}"
FETCHING = ["none here: install test report", f"fetching: -m engine_parts {value('engines')} spark"]

IN_THIS_FOLDER = [
    "none here: lint",
    "none here: docs",
    "none here: test --slow --libraries",
    f"none here: test --fast {value('looking_at_libraries')}",
    "none here: test --browser",
    "none here: test --engines",
]


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=x", "-c", "user.email=x")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


class Machine:
    """A machine with a checkout of a project, and with the Pythons that a test adds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._project = folder / "a project"
        write_program(self._project / "run.sh", RUN_SH)
        write_program(self._project / ".venv/bin/python", PARTS)
        (self._project / ".gitignore").write_text(".venv\n")
        (self._project / ".ci").mkdir()
        shutil.copy(PROJECT / ".ci/run", self._project / ".ci")
        git(self._project, "init", "--quiet")
        git(self._project, "add", ".")
        git(self._project, "commit", "--quiet", "--message", "all")
        (self._project / "uncommitted").touch()
        (folder / "bin").mkdir()
        (folder / "temporary").mkdir()
        for tool in TOOLS:
            (folder / "bin" / tool).symlink_to(shutil.which(tool))

    def replace(self, program: str, text: str) -> None:
        (self._folder / "bin" / program).unlink(missing_ok=True)
        write_program(self._folder / "bin" / program, text)

    def on_path(self, version: str, text: str = PYTHON) -> None:
        write_program(self._folder / f"bin/python{version}", text.format(version=version))

    def of_pyenv(self, version: str, folder: str) -> None:
        path = self._folder / f".pyenv/versions/{folder}/bin/python"
        write_program(path, PYTHON.format(version=version))

    def runs(self, failing: str = "nothing") -> tuple[int, list[str], str]:
        """The exit code of .ci/run, the calls of run.sh, and what it prints at its end.

        The calls are without those that fetch engines, because these run beside the others.
        """
        calls = self._folder / "calls"
        calls.unlink(missing_ok=True)
        variables = {
            "PATH": str(self._folder / "bin"),
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder / "temporary"),
            "CALLS": str(calls),
            "FAILING": failing,
            "PYTHONPATH": "of/the/user",
        }
        done = subprocess.run(
            [self._project / ".ci/run"], env=variables, capture_output=True, text=True, timeout=60
        )
        assert done.stderr == ""
        assert list((self._folder / "temporary").iterdir()) == []
        assert "the clones do not have the changes that are not committed\n" in done.stdout
        _, _, summary = done.stdout.rpartition("\n.ci/run:\n")
        lines = calls.read_text().splitlines()
        assert [line for line in lines if line in FETCHING] == FETCHING
        return done.returncode, [line for line in lines if line not in FETCHING], summary


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def ended(summary: str) -> list[str]:
    """How each check has ended."""
    return [re.sub(r"  +\d+:\d\d ", "", line) for line in summary.splitlines()]


def test_the_commands_of_the_readme_come_first_and_fewer_tests_on_the_oldest_python(machine):
    for version in ("3.9", "3.11", "3.12", "3.14", "3.15"):
        machine.on_path(version)
    code, calls, summary = machine.runs()
    newcomers = [
        *("python3.14 clone: ", "python3.14 clone: test"),
        *("python3.11 clone: ", f"python3.11 clone: {NUMBERS}"),
    ]
    assert calls == [*newcomers, *IN_THIS_FOLDER]
    assert code == 0
    assert ended(summary) == [
        "passed ./run.sh, Python 3.14.9: 7 passed in 1.50s",
        "passed ./run.sh test, Python 3.14.9: 7 passed in 1.50s",
        "passed ./run.sh, Python 3.11.9: 7 passed in 1.50s",
        "passed ./run.sh test (numbers and the command), Python 3.11.9: 7 passed in 1.50s",
        "passed ./run.sh lint: 7 passed in 1.50s",
        "passed ./run.sh docs: 7 passed in 1.50s",
        "passed ./run.sh test --slow --libraries: 7 passed in 1.50s",
        "passed the fast tests of libraries: 7 passed in 1.50s",
        "passed ./run.sh test --browser: 7 passed in 1.50s",
        "passed fetching the engines: 7 passed in 1.50s",
        "passed ./run.sh test --engines: 7 passed in 1.50s",
    ]


@pytest.mark.parametrize("failing", ["", "test", "lint", "fetching", "test --engines"])
def test_a_check_that_fails_stops_no_other_and_fails_the_whole(machine, failing):
    machine.on_path("3.10")
    machine.on_path("3.13")
    code, calls, summary = machine.runs(failing)
    assert code == 1
    assert len(calls) + 1 == len(ended(summary)) == 11
    failed = [line for line in ended(summary) if line.startswith("FAILED ")]
    assert len(failed) == (2 if failing == "" else 1)
    for line in failed:
        assert line.removeprefix("FAILED ").removeprefix("./run.sh").strip().startswith(failing)


def test_a_shim_that_fails_is_no_python(machine):
    machine.on_path("3.10", "#!/usr/bin/env bash\necho pyenv: no such command >&2\nexit 127\n")
    machine.of_pyenv("3.10", "3.10.13")
    machine.of_pyenv("3.13", "3.13.0")
    machine.of_pyenv("3.14", "3.13.1")  # another version than its folder says
    machine.on_path("3.12")
    _, _, summary = machine.runs()
    assert [line.rpartition(", ")[2] for line in ended(summary) if ".9" in line] == [
        f"Python {version}.9: 7 passed in 1.50s" for version in ("3.13", "3.13", "3.10", "3.10")
    ]


def test_one_python_is_the_oldest_and_the_newest(machine):
    machine.on_path("3.12")
    code, calls, _ = machine.runs()
    assert (code, calls) == (0, ["python3.12 clone: ", "python3.12 clone: test", *IN_THIS_FOLDER])


def test_a_machine_without_a_python_fails(machine):
    code, calls, summary = machine.runs()
    assert (code, calls) == (1, IN_THIS_FOLDER)
    assert ended(summary)[0] == "FAILED a Python"


APT_GET = """#!/usr/bin/env bash
echo "apt-get: $*" >>"$CALLS"
echo "apt-get $1 says something"
[[ $1 != "$FAILING" ]]
"""


@pytest.mark.parametrize("failing", ["nothing", "install", "update"])
def test_root_installs_programs_of_debian_that_are_missing(machine, failing):
    machine.on_path("3.12")
    machine.replace("apt-get", APT_GET)
    machine.replace("id", "#!/usr/bin/env bash\necho 0\n")
    code, calls, summary = machine.runs(failing)
    install = f"install --yes --no-install-recommends {value('debian')}"
    commands = ["update", install] if failing != "update" else ["update"]
    asked = [f"apt-get: {command}" for command in commands]
    assert calls == ["python3.12 clone: ", "python3.12 clone: test", *asked, *IN_THIS_FOLDER]
    outcome = "passed" if failing == "nothing" else "FAILED"
    assert ended(summary)[2].startswith(f"{outcome} apt-get install {value('debian')}")
    assert code == (outcome == "FAILED")


def test_programs_are_not_installed_again_or_by_others_than_root(machine):
    machine.on_path("3.12")
    machine.replace("apt-get", APT_GET)
    for user, programs in ((1000, []), (0, ["chromium", "pdflatex"])):
        machine.replace("id", f"#!/usr/bin/env bash\necho {user}\n")
        for program in programs:
            machine.replace(program, "#!/usr/bin/env bash\n")
        code, calls, _ = machine.runs()
        assert code == 0
        assert not any(call.startswith("apt-get") for call in calls)


def test_the_versions_are_those_of_the_workflow():
    workflow = (PROJECT / ".github/workflows/tests.yml").read_text()
    (matrix,) = re.findall(r"^ +python: \[(.*)\]", workflow, re.M)
    assert value("supported").split() == re.findall(r'"([\d.]+)"', matrix)


def test_the_files_that_it_names_exist():
    paths = [*value("looking_at_libraries").split(), *value("numbers").split()]
    assert all((PROJECT / path).exists() for path in paths)


def test_each_engine_and_store_has_one_smoke_test():
    """One function; a store and an engine are a parameter of it."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--engines", "tests/engines"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    tests = re.findall(r"^tests/engines/test_(\w+)\.py::\w+(?:\[(\w+).*])?$", done.stdout, re.M)
    with_jobs = [name for file, name in tests if file in ("engines_agree", "object_store")]
    assert sorted(with_jobs) == sorted(SERVICES)
    others = {"airflow", "hosts", "kubernetes_schemas", "latex", "monitoring"}
    assert {file for file, _ in tests} == {"engines_agree", "object_store", *others}
