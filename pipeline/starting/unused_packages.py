"""Packages that Beam and Arrow import if they are installed, and that the command does not use.

To import them takes a third of the time of a start, and more with the libraries of object stores.
Workers on other machines are not affected, because they do not run this command.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from beam_bleu.pipeline.command_line.known_filesystems import FILESYSTEMS
from beam_bleu.pipeline.starting.deferred_modules import DeferredLoader

_UNUSED = (
    "bson",  # with pymongo: Beam's transforms for MongoDB
    "google.cloud.pubsub",  # Beam's transforms for Pub/Sub
    "pandas",  # Beam's DataFrames, and conversions of Arrow
)
"""No run uses them. Beam and Arrow do without them, as in installations that do not have them."""

_OF_OTHER_MACHINES = tuple(
    package for filesystem in FILESYSTEMS.values() for package in filesystem.packages
)
"""Runs on files of this machine do not use them."""

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
"""Runs on this machine load them when they are first used, and for these functions when they are
first called."""


class _Finder(importlib.abc.MetaPathFinder):
    """Finds deferred modules, and says that left-out packages are not installed."""

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
    """From now on, this process imports only packages that a command line can need.

    Args:
      argv: the words after the name of the command.
    """
    if _stays_here(argv):
        finder = _Finder((*_UNUSED, *_OF_OTHER_MACHINES), _SELDOM_USED)
    else:
        # Libraries of object stores import parts of deferred packages, in an order in which some
        # of these packages cannot be loaded.
        finder = _Finder(_UNUSED, {})
    sys.meta_path.insert(0, finder)


def _stays_here(argv: Sequence[str]) -> bool:
    """Whether a command line names neither an engine nor a filesystem of other machines."""
    if argv and argv[0] == "doctor":  # it tells what is installed
        return False
    return not any(
        word.partition("=")[0] == "--runner" or any(f"{name}://" in word for name in FILESYSTEMS)
        for word in argv
    )
