"""DoFn wrappers for the steps of a job: they mark errors, and pass on filesystem options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from operator import methodcaller
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import (
    AzureOptions,
    HadoopFileSystemOptions,
    PipelineOptions,
    S3Options,
)
from apache_beam.transforms.core import CallableWrapperDoFn

from beam_bleu.pipeline.errors.told_errors import marking


class PlainDoFn(beam.DoFn):
    """A DoFn that is cheap to build: Beam looks for parameters to fill in `process` only."""

    def __dir__(self) -> list[str]:
        return ["process"]


def look_only_where_state_can_be() -> None:
    """Makes Beam look for state in `process` only, also for `Map` and `FlatMap`: it is faster."""
    CallableWrapperDoFn.__dir__ = PlainDoFn.__dir__


def filesystem_options(options: PipelineOptions) -> dict[str, Any]:
    """The filesystem options that differ from their defaults, such as s3_endpoint_url."""
    changed: dict[str, Any] = {}
    for kind in (AzureOptions, HadoopFileSystemOptions, S3Options):
        view = options.view_as(kind)
        changed |= view.get_all_options(drop_default=True, current_only=True)
    return changed


class Marked(PlainDoFn):
    """Wraps a DoFn, and puts a mark on each error that it raises (see told_errors.py).

    It also sets the filesystem options, because Beam's worker pool may not pass them on.
    """

    def __init__(
        self,
        dofn: beam.DoFn,
        filesystems: Mapping[str, Any] | None = None,
        set_up: Callable[[beam.DoFn], None] = methodcaller("setup"),
    ) -> None:
        self._dofn = dofn
        self._filesystems = dict(filesystems or {})
        self._set_up = set_up
        self._parameters = tuple(inspect.signature(dofn.process).parameters)[1:]

    def setup(self) -> None:
        if self._filesystems and FileSystems._pipeline_options is None:
            FileSystems.set_options(PipelineOptions.from_dictionary(self._filesystems))
        with marking():
            self._set_up(self._dofn)

    def start_bundle(self) -> None:
        with marking():
            self._dofn.start_bundle()

    # No annotations: with --runtime_type_check, Beam would check them, and it cannot check Any.
    def process(  # type: ignore[no-untyped-def]
        self, element, window=beam.DoFn.WindowParam, timestamp=beam.DoFn.TimestampParam
    ):
        available = {"window": window, "timestamp": timestamp}
        wanted = {name: available[name] for name in self._parameters}
        with marking():
            yield from self._dofn.process(element, **wanted) or ()

    def finish_bundle(self) -> Iterator[Any]:
        with marking():
            yield from self._dofn.finish_bundle() or ()

    def teardown(self) -> None:
        with marking():
            self._dofn.teardown()

    # Beam calls these to find the types of inputs and outputs, by which it chooses coders.

    def default_type_hints(self) -> Any:
        return self._dofn.get_type_hints()

    def infer_output_type(self, input_type: Any) -> Any:
        return self._dofn.infer_output_type(input_type)
