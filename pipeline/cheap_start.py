"""Makes short runs cheap: imports fewer packages at the start, and keeps freed memory.

Beam and Arrow import packages that the command seldom uses, which would take a third of the time of
a start. The code of a deferred module runs when one of its attributes is first read. Importing a
submodule of a deferred package does not run the package's code first, as it otherwise would.

`importlib.util.LazyLoader` is not enough: it can load such a submodule twice, and until Python 3.12
lets several threads run the code at once. Here the code runs under the import system's own lock. If
two threads wait for each other, Python lets one of them go on with an unfinished module, so no
thread should import submodules of a deferred package while another begins to use it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.abc
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import _bootstrap
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_IMPORTING = ("cached", "class", "dict", "file", "loader", "name", "package", "path", "spec")
# The attributes that Python itself sets and reads while it imports a module or its submodules.
_KNOWN_BEFORE = frozenset(f"__{name}__" for name in _IMPORTING)


class _DeferredModule(ModuleType):
    """A module whose code has not run yet. Once it has, the module becomes an ordinary one."""

    def __getattribute__(self, name: str) -> Any:
        if name in _KNOWN_BEFORE:
            return super().__getattribute__(name)
        loader: DeferredLoader = self.__dict__["__deferred__"]
        return loader.attribute(self, name)


class DeferredLoader(importlib.abc.Loader):
    """Runs the code of a module when the module is first used.

    `callables` are functions that importers only call: importing one does not load the module, but
    calling it does.
    """

    def __init__(self, spec: ModuleSpec, callables: Sequence[str] = ()) -> None:
        assert spec.loader is not None
        self._name = spec.name
        self._loader = spec.loader
        self._callables = callables
        self._has_begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _DeferredModule(spec.name)
        module.__dict__["__deferred__"] = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Runs no code: only sets the attributes that the module's own loader would set."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader

    def attribute(self, module: ModuleType, name: str) -> Any:
        if name in self._callables and not self._has_begun:
            return self._caller(module, name)
        self._run(module)
        return ModuleType.__getattribute__(module, name)

    def _run(self, module: ModuleType) -> None:
        package = sys.modules.get(module.__name__.rpartition(".")[0])
        if isinstance(package, _DeferredModule):
            _ = package.__doc__  # loads the package before its submodule, as ordinary imports do
        # A module's code also reads its own module, so this lock is reentrant.
        lock = _bootstrap._get_module_lock(self._name)  # type: ignore[attr-defined]
        try:
            lock.acquire()
        except _bootstrap._DeadlockError:  # type: ignore[attr-defined]
            return  # the thread that runs the code is waiting for this one
        try:
            if not self._has_begun:
                self._has_begun = True
                self._loader.exec_module(module)
                module.__class__ = ModuleType
                del module.__dict__["__deferred__"]
        except BaseException:
            self._has_begun = False  # the next use raises the same error
            raise
        finally:
            lock.release()

    def _caller(self, module: ModuleType, name: str) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            self._run(module)
            return ModuleType.__getattribute__(module, name)(*args, **keywords)

        return call


# Packages that no run uses. To Beam and Arrow, they seem not to be installed.
_UNUSED = (
    "bson",  # with pymongo: Beam's transforms for MongoDB
    "google.cloud.pubsub",  # Beam's transforms for Pub/Sub
    "pandas",  # Beam's DataFrames, and conversions of Arrow
)

# Packages that Beam's filesystems import. We use only Beam's HDFS: object stores need just obstore.
# Runners on other machines can need the other packages, too.
_OF_BEAMS_FILESYSTEMS = (
    *("apitools", "google.api_core", "google.auth", "google.cloud"),  # gs://
    "boto3",  # s3://
    "azure",  # azfs://
    "hdfs",
)

# Modules that runs on this machine load on first use. Importing a function that is listed here does
# not count as a use; calling it does.
_SELDOM_USED: Mapping[str, Sequence[str]] = {
    "beartype": (),
    "beartype.door": ("is_subhint",),  # for type hints that no step of the job has
    "cryptography.fernet": ("Fernet",),  # for --gbek
    "dateutil.parser": (),  # for times as text
    "fastavro": ("parse_schema", "schemaless_reader", "schemaless_writer"),
    "fastavro.read": ("block_reader",),  # for Avro
    "fastavro.write": ("Writer",),
    "grpc.aio": (),  # for clients with asyncio
    "httplib2": (),  # to stage files from URLs
    "pyarrow.compute": (),  # for records, labels and other options
    "pyarrow.parquet": (),  # for --segment_scores and Parquet
    "regex": (),  # for BigQuery
    "requests": (),  # for Dataflow, and for jars of Flink and Spark
    "yaml": (),  # for transforms of other languages
}


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, left_out: Collection[str], deferred: Mapping[str, Sequence[str]]) -> None:
        self._left_out = left_out
        self._deferred = deferred

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname in self._left_out:
            raise ModuleNotFoundError(f"this run does not use {fullname}", name=fullname)
        if fullname not in self._deferred:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = DeferredLoader(spec, self._deferred[fullname])
        return spec


def leave_out_unused_packages(argv: Sequence[str]) -> None:
    if _stays_here(argv):
        finder = _Finder((*_UNUSED, *_OF_BEAMS_FILESYSTEMS), _SELDOM_USED)
    else:
        # Google's and Azure's libraries import submodules of deferred packages in an order in which
        # some of these packages could not be loaded.
        finder = _Finder(_UNUSED, {})
    sys.meta_path.insert(0, finder)


def _stays_here(argv: Sequence[str]) -> bool:
    """Whether a command line names no engine, no HDFS and no remote table (delta:s3://...)."""
    if argv and argv[0] == "doctor":  # which reports what is installed
        return False
    needs_libraries = re.compile(r"--runner(=|$)|.*(hdfs://|:\w+://)")
    return not any(map(needs_libraries.match, argv))


# Parameters of mallopt, from glibc's malloc.h. musl and macOS have no such function.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8

_LARGEST_KEPT = 2**25  # the largest value that each version of glibc accepts, in bytes
_MOST_KEPT = 2**28


def keep_freed_memory() -> None:
    """With glibc, makes this process keep freed memory instead of returning it to the system.

    By default, glibc often returns the megabytes of a batch, and the system must clear new pages
    for the next. All threads share one arena, because one often frees what another allocated.
    """
    _call("mallopt", _ARENA_MAX, 1)
    _call("mallopt", _MMAP_THRESHOLD, _LARGEST_KEPT)
    _call("mallopt", _TRIM_THRESHOLD, _MOST_KEPT)


def give_back_freed_memory() -> None:
    """Returns freed memory to the system, before a step that needs much memory of another kind."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            getattr(ctypes.CDLL(None), name)(*arguments)
