"""Runners: which one a name means, and which cannot be trusted with a score."""

from __future__ import annotations

import dataclasses
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.runner import create_runner

from transforms.errors import UsageError

_IN_PROCESS = ("directrunner", "fnapirunner", "switchingdirectrunner")

_REFUSED = {
    "daskrunner": "it drops tagged outputs and all but one of a pipeline's last steps, "
    "so that parts of a corpus are lost without an error",
}


@dataclasses.dataclass(frozen=True)
class Runner:
    """A runner by name.

    Attributes:
      name: what Beam knows it by.
      in_process: whether it is our default, Beam's in-process runner.
    """

    name: str
    in_process: bool

    def create(self) -> Any:
        """The runner itself.

        Raises:
          UsageError: there is none of this name, or what it needs is not installed.
        """
        if not self.in_process:
            try:
                return create_runner(self.name)
            except (ImportError, AttributeError, ValueError) as error:
                raise UsageError(
                    f"--runner {self.name} cannot be loaded: {error}",
                    "check its name, and that what it needs is installed",
                ) from error
        # Beam's DirectRunner would first try to download another runner (Prism).
        from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner

        return FnApiRunner()

    def pipeline(self, options: PipelineOptions) -> beam.Pipeline:
        """An empty pipeline for this runner.

        Raises:
          UsageError: there is no such runner, or it wants other options.
        """
        runner = self.create()
        try:
            return beam.Pipeline(runner=runner, options=options)
        except ValueError as error:  # Beam checks the options here, and lists what is wrong
            wrong = " ".join(str(error).splitlines()[1:]) or str(error)
            raise UsageError(
                f"--runner {self.name}: {wrong}", "give the runner the flags that it needs"
            ) from error


def find_runner(name: str | None) -> Runner:
    """The runner of a `--runner` flag; None is the default.

    Raises:
      UsageError: there is no such runner, or it is known to lose data.
    """
    if name is None:
        return Runner("FnApiRunner", in_process=True)
    last = name.rpartition(".")[2].lower()
    if not last.endswith("runner"):
        last += "runner"
    if last in _REFUSED:
        raise UsageError(f"--runner {name} is refused: {_REFUSED[last]}", "use another runner")
    if last in _IN_PROCESS:
        return Runner("FnApiRunner", in_process=True)
    known = {known.lower(): known for known in StandardOptions.KNOWN_RUNNER_NAMES}
    if "." not in name and last not in known:
        raise UsageError(
            f"--runner {name}: there is no such runner",
            f"choose one of {', '.join(known.values())}, or a class by its full name",
        )
    return Runner(name if "." in name else known[last], in_process=False)
