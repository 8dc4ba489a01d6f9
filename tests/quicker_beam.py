"""Makes Beam build a pipeline in less than half the time in the tests.

In every run Beam asks thousands of times for the signatures of the same functions, reads the source
of the same steps, parses the same flags once for each class of options, and compresses the same
steps. The answers do not change in a process, so here Beam remembers them. Beam also records the
lines of code that set each type hint, for messages about wrong types; here it does not. Tests that
start a process or use an engine run Beam without these changes.
"""

from __future__ import annotations

import bz2
import copy
import functools
import logging
import types
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

_quiet = logging.NullHandler()
logging.root.addHandler(_quiet)
try:
    # Beam logs what is not installed, and pytest would show it after its last line.
    from apache_beam.internal import cloudpickle_pickler
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.transforms import core
    from apache_beam.typehints.decorators import IOTypeHints
finally:
    logging.root.removeHandler(_quiet)

_look_up = core.get_function_args_defaults
_parse = PipelineOptions.__init__
_warn_of_source = core._check_fn_use_yield_and_return
_arguments: dict[FunctionType, tuple[list[str], list[Any]]] = {}
_parsed: dict[tuple[type, tuple[str, ...]], tuple[Any, dict[str, Any]]] = {}
_warned: dict[FunctionType, bool] = {}


def _args_defaults(f: Callable[..., Any]) -> tuple[list[str], list[Any]]:
    if not (isinstance(f, MethodType) and isinstance(f.__func__, FunctionType)):
        return _look_up(f)
    if f.__func__ not in _arguments:
        _arguments[f.__func__] = _look_up(f)
    names, defaults = _arguments[f.__func__]
    return list(names), list(defaults)


def _init(self: PipelineOptions, flags: Sequence[str] | None = None, **keywords: Any) -> None:
    if flags is None or isinstance(flags, str):
        _parse(self, flags, **keywords)
        return
    key = type(self), tuple(flags)
    if key not in _parsed:
        _parse(self, flags)
        _parsed[key] = copy.deepcopy((self._visible_options, self._all_options))
    self._flags = flags
    self._visible_options, values = copy.deepcopy(_parsed[key])
    self._all_options = {**values, **keywords}


def _returns_and_yields(fn: Callable[..., Any]) -> bool:
    if not (isinstance(fn, MethodType) and isinstance(fn.__func__, FunctionType)):
        return _warn_of_source(fn)
    if fn.__func__ not in _warned:
        _warned[fn.__func__] = _warn_of_source(fn)
    return _warned[fn.__func__]


def _no_origin(*_: Any, **__: Any) -> list[str]:
    return []


def remember() -> None:
    """From now on Beam remembers in this process."""
    core.get_function_args_defaults = _args_defaults
    core._check_fn_use_yield_and_return = _returns_and_yields
    IOTypeHints._make_origin = _no_origin
    PipelineOptions.__init__ = _init
    remembering = functools.lru_cache(maxsize=2000)
    cloudpickle_pickler.bz2 = types.SimpleNamespace(
        compress=remembering(bz2.compress), decompress=remembering(bz2.decompress)
    )
