"""For all tests: chooses the tests that run, and makes sacreBLEU add floats as on Python 3.11."""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
import sacrebleu.metrics.bleu
from hypothesis import HealthCheck, settings

from beam_bleu.transforms.native.machine_code import cache_folder
from deploy.local.engines import ENGINES

# No test asks the service of a cloud's machine for credentials.
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
for name in ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"):
    os.environ[name] = "127.0.0.1:1"

os.environ.pop("COLUMNS", None)  # the width of tables

TESTS = pathlib.Path(__file__).parent

SETS = {
    "fast": "the tests that are in no other set",
    "slow": "tests of rare things that take long",
    "libraries": "tests that need a library of the extra test-libraries",
    "browser": "tests of reports in a real browser",
    "engines": "a smoke test of each engine, object store and other program around jobs",
    "nightly": "all tests on real engines, faults of clusters and hosts, load, and long attacks",
}
"""The sets of tests. Every test is in one set. An option with its name runs a set: --slow. The
option --nightly also runs the set `engines`.

Without an option, the sets of the given paths run. For example, tests/browser is in `browser`.
"""

SET_OF_PATH = {
    "browser": "browser",
    "deploy/test_dataflow_graph.py": "libraries",
    "engines": "nightly",
    "pipeline/output/test_lineage.py": "libraries",
    "pipeline/report/test_charts.py": "libraries",
    "pipeline/report/test_page.py": "libraries",
    "pipeline/test_delta_and_iceberg.py": "libraries",
    "transforms/text/test_library_tokenizers.py": "libraries",
    "pipeline/library/test_beam_yaml.py": "libraries",
}
"""Files and folders whose tests are in one set, unless a test has the mark of another set. Tests
elsewhere that have no mark are fast."""

settings.register_profile(
    # Each run has the same examples. There are no time limits, because the machine may be busy.
    "tests",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")

# Modules and tests are more than half a million objects. With Python's default of 700, looking for
# garbage among new objects so often was a tenth of the time.
gc.set_threshold(20_000)


def left_to_right(numbers):
    """`sum` as in Python before 3.12. Since 3.12 it compensates for rounding."""
    total = 0
    for number in numbers:
        total += number
    return total


if sys.version_info >= (3, 12):
    sacrebleu.metrics.bleu.sum = left_to_right


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sets of tests")
    for name, meaning in SETS.items():
        group.addoption(f"--{name}", action="store_true", help=f"run {meaning}")


def chosen(config: pytest.Config) -> set[str]:
    """The sets that run: those of the options or, without options, those of the arguments.

    A test that is named ("file::test") runs even if it is slow or nightly.
    """
    options = {name for name in SETS if config.getoption(name)}
    paths = [pathlib.Path(argument.split("::")[0]).absolute() for argument in config.args]
    named = {"slow", "nightly"} if any("::" in argument for argument in config.args) else set()
    run = options or {set_of_path(path) or "fast" for path in paths} | named
    return run | {"engines"} if "nightly" in run else run


@functools.cache
def set_of_path(path: pathlib.Path) -> str | None:
    """The set of the tests of a file that have no mark; None if the file is in no row."""
    if not path.is_relative_to(TESTS):
        return None
    inside = path.relative_to(TESTS)
    for each in (inside, *inside.parents):
        if each.as_posix() in SET_OF_PATH:
            return SET_OF_PATH[each.as_posix()]
    return None


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _own_temporary_files(config)
    for path in SET_OF_PATH:
        if not (TESTS / path).exists():
            raise pytest.UsageError(f"SET_OF_PATH in tests/conftest.py names {path}: it is gone")


def _own_temporary_files(config: pytest.Config) -> None:
    """Makes one folder for the temporary files of all tests, and of the programs that they start.

    It goes with all that is left in it: by pipelines that were never run, by programs that were
    killed. Folders of `tmp_path` stay where pytest keeps those of the last three times.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = tempfile.mkdtemp(prefix="beam-bleu-tests-")
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_report_header(config: pytest.Config) -> str:
    others = [f"--{name}" for name in SETS if name not in chosen(config)]
    return f"sets of tests: {', '.join(sorted(chosen(config)))} (not: {', '.join(others)})"


def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """Does not import files of sets that do not run: their libraries may not be installed."""
    whole = set_of_path(collection_path)
    sets = {"engines", "nightly"} if whole == "nightly" else {whole}
    return True if whole and not sets & chosen(config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of other sets, and groups the tests that must share a process."""
    run = chosen(config)
    kept, dropped = [], []
    for item in items:
        marked = [name for name in SETS if item.get_closest_marker(name)]
        assert len(marked) <= 1, f"{item.nodeid} is in several sets: {marked}"
        its_set = marked[0] if marked else set_of_path(item.path) or "fast"
        (kept if its_set in run else dropped).append(item)
        if config.pluginmanager.hasplugin("xdist"):
            # The tests of a file share fixtures. The tests of an engine share its cluster.
            item.add_marker(pytest.mark.xdist_group(engine_of(item) or item.nodeid.split("::")[0]))
    items[:] = kept
    if dropped:
        config.hook.pytest_deselected(items=dropped)


def pytest_collection_finish() -> None:
    """Leaves the modules and the tests out of all later searches for garbage."""
    gc.freeze()


def engine_of(item: pytest.Item) -> str | None:
    """The engine whose cluster a test uses, if it uses one."""
    called = getattr(item, "callspec", None)
    # Other parameters may be arrays: comparing them gives no truth value.
    values = [each for each in called.params.values() if isinstance(each, str)] if called else []
    names = {*getattr(item, "fixturenames", ()), *values}
    return next((name for name in ENGINES if name in names), None)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Imports Beam where tests run; before several processes need the kernel, compiles it once."""
    option = session.config.option
    if option.collectonly or not getattr(option, "numprocesses", None):  # None in a worker
        importlib.import_module("quicker_beam")  # first, because it hides what Beam logs
        return
    kept = cache_folder()
    if kept and not any(kept.glob("*.nbc")):
        # Not above: it imports Beam, while the processes that run the tests wait for this one.
        from command_line import COMMAND, EXAMPLE, PROJECT

        with tempfile.TemporaryDirectory() as folder:
            arguments = [*EXAMPLE, "--segment_scores", "--output", folder]
            subprocess.run(
                [*COMMAND, *arguments], cwd=PROJECT, stdout=subprocess.DEVNULL, check=True
            )


@pytest.fixture(autouse=True)
def _logging_kept():
    """The command sets the log level of its process. This restores it after each test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def out(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder for the output, which does not exist yet."""
    return tmp_path / "out"
