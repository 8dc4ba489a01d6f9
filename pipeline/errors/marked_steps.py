"""Makes the steps of the command's job raise errors with marks, and reach all filesystems."""

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

from beam_bleu.pipeline.errors.error_marks import marked_error, marking
from beam_bleu.pipeline.starting.plain_steps import PlainDoFn
from beam_bleu.transforms.errors import BleuError

__all__ = ["filesystem_options", "marked"]


def filesystem_options(options: PipelineOptions) -> dict[str, Any]:
    """The options of filesystems that are not the default ones, such as s3_endpoint_url."""
    changed: dict[str, Any] = {}
    for kind in (AzureOptions, HadoopFileSystemOptions, S3Options):
        view = options.view_as(kind)
        changed |= view.get_all_options(drop_default=True, current_only=True)
    return changed


def marked(
    dofn: beam.DoFn,
    filesystems: Mapping[str, Any] | None = None,
    set_up: Callable[[beam.DoFn], None] | None = None,
) -> beam.DoFn:
    """A DoFn that does the same, and adds marks to the errors that it raises.

    Args:
      dofn: the DoFn. Its `process` takes an element, and can take a `window` and a `timestamp`.
      filesystems: the options of filesystems, for workers that get none from their engine. Beam's
        pool of workers passes them on only if it uses Beam's boot program.
      set_up: sets the DoFn up on a worker; by default it is the DoFn's own `setup`.

    Raises:
      TypeError: its `process` has another parameter.
    """
    parameters = tuple(inspect.signature(dofn.process).parameters)[1:]
    if not {*parameters} <= {"window", "timestamp"}:
        raise TypeError(f"a marked step can have a window and a timestamp, not {parameters}")
    kind = _MarkedInWindow if parameters else _Marked
    return kind(dofn, dict(filesystems or {}), set_up or methodcaller("setup"), parameters)


class _Marked(PlainDoFn):
    """A step whose elements need neither a window nor a timestamp.

    Beam calls it in a shorter way than a step that asks for them.
    """

    def __init__(
        self,
        dofn: beam.DoFn,
        filesystems: dict[str, Any],
        set_up: Callable[[beam.DoFn], None],
        parameters: tuple[str, ...],
    ) -> None:
        self._dofn = dofn
        self._filesystems = filesystems
        self._set_up = set_up
        self._parameters = parameters

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
    def process(self, element):  # type: ignore[no-untyped-def]
        return self._outputs(element, {})

    def _outputs(self, element: Any, arguments: Mapping[str, Any]) -> Iterator[Any]:
        # Not `marking`, which takes longer: there is an element for each batch.
        try:
            yield from self._dofn.process(element, **arguments) or ()
        except BleuError as error:
            raise marked_error(error) from error.__cause__

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

    def display_data(self) -> Any:
        return self._dofn.display_data()

    def default_label(self) -> str:
        # Both classes have the same one, so that labels do not depend on what a DoFn asks for.
        label: str = _Marked.__name__
        return label


class _MarkedInWindow(_Marked):
    """A step that gets the window of an element, its timestamp, or both, as it asks."""

    def process(  # type: ignore[no-untyped-def]
        self, element, window=beam.DoFn.WindowParam, timestamp=beam.DoFn.TimestampParam
    ):
        there = {"window": window, "timestamp": timestamp}
        return self._outputs(element, {name: there[name] for name in self._parameters})
