"""Makes Beam build a pipeline in a third of the time in the tests.

In every run Beam asks thousands of times for the signatures and the types of the same functions,
reads the source of the same steps, parses the same flags once for each class of options and again
for all classes, looks for IPython, and compresses the same steps. The answers do not change in a
process, so here Beam remembers them. Beam also records the lines of code that set each type hint,
for messages about wrong types; here it does not. It pickles with cloudpickle, which looks at each
object in Python; here it does so only if Python's own pickler fails. Tests that start a process or
use an engine run Beam without these changes.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import copy
import functools
import logging
import pickle
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, TypeVar
from unittest import mock

_quiet = logging.NullHandler()
logging.root.addHandler(_quiet)
try:
    # Beam logs what is not installed, and pytest would show it after its last line.
    from apache_beam.internal import cloudpickle_pickler
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.worker.bundle_processor import BundleProcessor
    from apache_beam.transforms import core, userstate
    from apache_beam.typehints import decorators, trivial_inference
    from apache_beam.typehints.decorators import IOTypeHints
    from apache_beam.utils import interactive_utils
finally:
    logging.root.removeHandler(_quiet)

_ANSWER = TypeVar("_ANSWER")

_all_of = PipelineOptions.get_all_options
_parse = PipelineOptions.__init__
_parsed: dict[tuple[type, tuple[str, ...]], tuple[Any, dict[str, Any]]] = {}
_values: dict[tuple[Any, ...], tuple[dict[str, Any], dict[str, Any]]] = {}
_find_specs = userstate.get_dofn_specs
_specs: weakref.WeakKeyDictionary[core.DoFn, tuple[set[Any], set[Any]]] = (
    weakref.WeakKeyDictionary()
)
_infer = trivial_inference.infer_return_type_func
_inferred: dict[tuple[Any, ...], Any] = {}
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


def _init(self: PipelineOptions, flags: Sequence[str] | None = None, **keywords: Any) -> None:
    if flags is None or isinstance(flags, str):
        _parse(self, flags, **keywords)
        return
    key = type(self), tuple(flags)
    if key not in _parsed:
        _parse(self, flags)
        _parsed[key] = copy.deepcopy((vars(self._visible_options), self._all_options))
    visible, values = _parsed[key]
    self._flags = flags
    self._visible_options = argparse.Namespace(**_own(visible))
    self._all_options = {**_own(values), **keywords}


def _get_all_options(self: PipelineOptions, *arguments: Any, **keywords: Any) -> dict[str, Any]:
    if self._flags:  # Beam warns about some of them each time
        return _all_of(self, *arguments, **keywords)
    classes = len(PipelineOptions.__subclasses__())
    key = type(self), classes, arguments, tuple(keywords.items())
    before, values = _values.get(key, (None, {}))
    if before != self._all_options:
        before, values = copy.deepcopy(self._all_options), _all_of(self, *arguments, **keywords)
        _values[key] = before, values
    return _own(values)


def _own(values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the values of options, which are plain, or lists or objects of plain values."""
    return {
        name: value.copy() if isinstance(value, (dict, list)) else value
        for name, value in values.items()
    }


def _names_of_options(self: PipelineOptions) -> list[str]:
    return [*vars(self._visible_options)]  # `dir` would list what all objects have, too


def _dofn_specs(dofn: core.DoFn) -> tuple[set[Any], set[Any]]:
    """The state and the timers of a step, for which Beam asks eight times."""
    if dofn not in _specs:
        _specs[dofn] = _find_specs(dofn)
    states, timers = _specs[dofn]
    return set(states), set(timers)


def _return_type(f: FunctionType, inputs: Sequence[Any], *arguments: Any) -> Any:
    """The type that a function returns; Beam finds it in the code of the function.

    For sums by key it looks at the same code of its own each time.
    """
    if f is not core.CombineValuesDoFn.process:
        return _infer(f, inputs, *arguments)
    step, *others = inputs
    combine_fn = step.value.combinefn
    if isinstance(combine_fn, core.CallableWrapperCombineFn):  # several have the same type
        return _infer(f, inputs, *arguments)
    key = type(combine_fn), *map(str, others)
    if key not in _inferred:
        _inferred[key] = _infer(f, inputs, *arguments)
    return _inferred[key]


def _pickled(o: Any, *arguments: Any, **keywords: Any) -> bytes:
    try:
        return pickle.dumps(o, pickle.HIGHEST_PROTOCOL)
    except Exception:  # objects raise whatever they like
        return _cloudpickled(o, *arguments, **keywords)


def _no_origin(*_: Any, **__: Any) -> list[str]:
    return []


def remember() -> None:
    """From now on Beam remembers in this process."""
    core.get_function_args_defaults = _args_defaults
    core._check_fn_use_yield_and_return = _for_methods(core._check_fn_use_yield_and_return)
    userstate.get_dofn_specs = _dofn_specs
    decorators.get_signature = _for_methods(decorators.get_signature)
    trivial_inference.infer_return_type_func = _return_type
    interactive_utils.is_in_ipython = functools.cache(interactive_utils.is_in_ipython)
    IOTypeHints.from_callable = _for_methods(IOTypeHints.from_callable)
    IOTypeHints._make_origin = _no_origin
    PipelineOptions.__init__ = _init
    PipelineOptions.get_all_options = _get_all_options
    PipelineOptions._visible_option_list = _names_of_options
    cloudpickle_pickler._dumps = _pickled
    remembering = functools.lru_cache(maxsize=2000)
    cloudpickle_pickler.bz2 = types.SimpleNamespace(
        compress=remembering(bz2.compress), decompress=remembering(bz2.decompress)
    )


@contextlib.contextmanager
def without_reports() -> Iterator[None]:
    """Beam's workers report nothing of their bundles: the command does not read such reports.

    In a run of few lines they were an eighth of the CPU.
    """
    with mock.patch.object(BundleProcessor, "monitoring_infos", _nothing):
        yield


def _nothing(_: BundleProcessor) -> list[Any]:
    return []
