"""Makes Beam build a pipeline faster in the tests.

In every run Beam asks thousands of times for the signatures of the same functions. The answers do
not change in a process, so here Beam remembers them. Beam also records the lines of code that set
each type hint, for messages about wrong types; here it does not. It pickles with cloudpickle, which
looks at each object in Python; here it does so only if Python's own pickler fails. It compresses
what is pickled, for which bz2 clears megabytes each time; here it does not. It makes a parser of
flags for each view of its options; here it remembers what a parser gave. Tests that start a process
or use an engine run Beam without these changes.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

_quiet = logging.NullHandler()
logging.root.addHandler(_quiet)
try:
    # Beam logs what is not installed, and pytest would show it after its last line.
    from apache_beam.internal import cloudpickle_pickler
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.worker.bundle_processor import BundleProcessor
    from apache_beam.transforms import core
    from apache_beam.typehints import decorators
    from apache_beam.typehints.decorators import IOTypeHints
finally:
    logging.root.removeHandler(_quiet)

_ANSWER = TypeVar("_ANSWER")

_cloudpickled = cloudpickle_pickler._dumps


def _for_methods(ask: Callable[..., _ANSWER]) -> Callable[..., _ANSWER]:
    """Remembers what Beam asks about a method, because it is the same for all its objects."""
    answers: dict[FunctionType, _ANSWER] = {}

    def remembered(f: Callable[..., Any]) -> _ANSWER:
        if not (isinstance(f, MethodType) and isinstance(f.__func__, FunctionType)):
            return ask(f)
        if f.__func__ not in answers:
            answers[f.__func__] = ask(f)
        return answers[f.__func__]

    return remembered


_look_up = _for_methods(core.get_function_args_defaults)


def _args_defaults(f: Callable[..., Any]) -> tuple[list[str], list[Any]]:
    names, defaults = _look_up(f)
    return list(names), list(defaults)


def _pickled(o: Any, *arguments: Any, **keywords: Any) -> bytes:
    try:
        return pickle.dumps(o, pickle.HIGHEST_PROTOCOL)
    except Exception:  # objects raise whatever they like
        return _cloudpickled(o, *arguments, **keywords)


_make_options = PipelineOptions.__init__

_options: dict[tuple[type, tuple[str, ...]], dict[str, Any]] = {}


def _init_options(self: Any, flags: Sequence[str] | None = None, **keywords: Any) -> None:
    if flags is None or keywords:
        _make_options(self, flags, **keywords)
        return
    key = type(self), tuple(flags)
    if key not in _options:
        _make_options(self, flags)
        _options[key] = copy.deepcopy(self.__dict__)
    self.__dict__.update(copy.deepcopy(_options[key]), _flags=flags)


def remember() -> None:
    """From now on Beam remembers in this process."""
    core.get_function_args_defaults = _args_defaults
    core._check_fn_use_yield_and_return = _for_methods(core._check_fn_use_yield_and_return)
    decorators.get_signature = _for_methods(decorators.get_signature)
    IOTypeHints.from_callable = _for_methods(IOTypeHints.from_callable)
    IOTypeHints._make_origin = lambda *_, **__: []
    cloudpickle_pickler._dumps = _pickled
    cloudpickle_pickler.bz2 = SimpleNamespace(
        compress=lambda data, compresslevel: data, decompress=lambda data: data
    )
    PipelineOptions.__init__ = _init_options


@contextlib.contextmanager
def without_reports() -> Iterator[None]:
    """Beam's workers report nothing of their bundles: the command does not read such reports.

    In a run of few lines they were an eighth of the CPU.
    """
    with mock.patch.object(BundleProcessor, "monitoring_infos", return_value=[]):
        yield
