"""The launcher of the Flex Template, which Dataflow starts: it submits the job, and ends.

The template's parameter `arguments` is the command line of beam-bleu. Dataflow passes each
parameter as `--name=value`, and Beam's switches as `--name=true`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.errors.reporting import reported, uninterrupted, warn
from beam_bleu.transforms.errors import UsageError

_ARGUMENTS = "--arguments"


def main(argv: Sequence[str] | None = None) -> int:
    """Submits the job; returns the exit code, which is 0 when the service has accepted it."""
    given = sys.argv[1:] if argv is None else argv
    # Twice, because only Beam's own messages say which job the service has made.
    verbose = 2 if "--verbose" in " ".join(given).replace("=", " ").split() else 0
    return reported(lambda: _launch(given), verbose=verbose)


def command_line(given: Sequence[str]) -> list[str]:
    """The command line of beam-bleu for these template parameters."""
    from beam_bleu.pipeline.command_line.config import beam_parser

    switches = {
        name for flag in beam_parser().actions() if flag.nargs == 0 for name in flag.option_strings
    }
    return [word for parameter in given for word in _words(parameter, switches)]


def _words(parameter: str, switches: set[str]) -> Iterator[str]:
    name, _, value = parameter.partition("=")
    if name == _ARGUMENTS:
        try:
            yield from shlex.split(value)
        except ValueError as error:
            raise UsageError(f"{_ARGUMENTS}: {error}", "quote as in a shell") from error
    elif name in switches and value in ("true", "false"):
        yield from [name] if value == "true" else []
    else:
        yield parameter


def _launch(given: Sequence[str]) -> None:
    # Imported inside `reported`, which keeps Beam from logging while it is imported.
    with uninterrupted():
        from beam_bleu.pipeline.command_line.options import parse
        from beam_bleu.pipeline.folder.publication import prepare
        from beam_bleu.pipeline.graph import build
        from beam_bleu.pipeline.output.run_results import existing_result

    # Dataflow may pass --runner itself; the last one counts.
    arguments = parse(["--runner=DataflowRunner", *command_line(given)])
    if not arguments.job.output:
        raise UsageError("--output is missing", "name a folder that the workers can write")
    if arguments.flags.report:
        raise UsageError(
            "--report: this program does not wait for the job, so it cannot make the page",
            f"leave it out, and then run beam-bleu report {arguments.job.output}",
        )
    if existing_result(arguments.job) is not None:
        warn(f"{arguments.job.output} has the result already, so no job was submitted")
        return
    job = arguments.job
    arguments.runner.prepare(arguments.beam, job.run)
    with arguments.runner.pipeline(arguments.beam) as pipeline:
        prepare(job.output)
        build(pipeline, arguments.job)  # without a launcher that waits for the result
        # Not wait_until_finish: the service accepts the job only after this program has ended. The
        # job's own last step writes scores.json.
        pipeline.run()


if __name__ == "__main__":
    sys.exit(main())
