"""Steps that are cheap to build, raise errors with marks, and reach all filesystems."""

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
    """A DoFn in which only `process` has parameters that Beam fills in."""

    def __dir__(self) -> list[str]:
        return ["process"]


def look_only_where_state_can_be() -> None:
    """Makes Beam look for state only in `process` of `Map` and `FlatMap`: nothing else has any."""
    CallableWrapperDoFn.__dir__ = PlainDoFn.__dir__


def filesystem_options(options: PipelineOptions) -> dict[str, Any]:
    """The options of filesystems that are not the default ones, such as s3_endpoint_url."""
    changed: dict[str, Any] = {}
    for kind in (AzureOptions, HadoopFileSystemOptions, S3Options):
        view = options.view_as(kind)
        changed |= view.get_all_options(drop_default=True, current_only=True)
    return changed


class Marked(PlainDoFn):
    """A DoFn that does the same as another one, and marks the errors that it raises.

    It sets the options of filesystems, because Beam's pool of workers may not pass them on.
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

    # With --runtime_type_check Beam takes types that are written here for types to check, and
    # cannot check Any.
    def process(  # type: ignore[no-untyped-def]
        self, element, window=beam.DoFn.WindowParam, timestamp=beam.DoFn.TimestampParam
    ):
        there = {"window": window, "timestamp": timestamp}
        wanted = {name: there[name] for name in self._parameters}
        with marking():
            yield from self._dofn.process(element, **wanted) or ()

    def finish_bundle(self) -> Iterator[Any]:
        with marking():
            yield from self._dofn.finish_bundle() or ()

    def teardown(self) -> None:
        with marking():
            self._dofn.teardown()

    # Beam uses these methods to find the types of inputs and outputs, and chooses coders by them.

    def default_type_hints(self) -> Any:
        return self._dofn.get_type_hints()

    def infer_output_type(self, input_type: Any) -> Any:
        return self._dofn.infer_output_type(input_type)
