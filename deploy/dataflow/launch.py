"""The program with which Dataflow starts the Flex Template: it submits the job and ends.

A template's parameter has a name and one string. Dataflow gives it to this
program as `--name=value`, switches as `--name=true`, and adds flags of Beam's.
`command_line` turns that into the command line of beam-bleu.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.errors.reporting import reported, uninterrupted, warn
from beam_bleu.transforms.errors import UsageError

SEPARATOR = ";"
"""Separates the streams in one parameter. For gcloud a comma starts the next parameter."""


def main(argv: Sequence[str] | None = None) -> int:
    """Submits the job; returns the exit code, which is 0 when the service has accepted it."""
    given = sys.argv[1:] if argv is None else argv
    # Twice: the messages of Beam tell which job the service made.
    return reported(lambda: _launch(given), verbose=2 if "--verbose=true" in given else 0)


def command_line(given: Sequence[str]) -> list[str]:
    """The command line of beam-bleu that template parameters mean.

    Args:
      given: the parameters, each as `--name=value`.

    Raises:
      UsageError: the value of a switch is neither true nor false.
    """
    from beam_bleu.pipeline.command_line.beam_flags import beam_parser
    from beam_bleu.pipeline.command_line.config import FLAGS

    lists = {word for flag in FLAGS if flag.is_many for word in flag.words}
    switches = {word for flag in FLAGS if not flag.metavar for word in flag.words}
    switches |= {
        word
        for action in beam_parser().actions()
        if action.nargs == 0
        for word in action.option_strings
    }
    with_value = {word for flag in FLAGS if flag.const is not None for word in flag.words}
    return [word for one in given for word in _words(one, lists, switches, with_value)]


def _words(given: str, lists: set[str], switches: set[str], with_value: set[str]) -> Iterator[str]:
    name, equals, value = given.partition("=")
    # A switch that may have a value can also be given as true or false.
    if value in ("true", "false") and name in with_value:
        switches = {name}
    if equals and name in lists:
        for part in value.split(SEPARATOR):
            yield f"{name}={part.strip()}"
    elif equals and name in switches:
        if value not in ("true", "false"):
            raise UsageError(f"{name} must be true or false, got {value!r}", "give one of them")
        if value == "true":
            yield name
    else:
        yield given


def _launch(given: Sequence[str]) -> None:
    # Imported only now, because `reported` keeps Beam from logging while it is imported.
    with uninterrupted():
        from beam_bleu.pipeline.command_line.options import parse
        from beam_bleu.pipeline.graph import build
        from beam_bleu.pipeline.output.publication import prepare
        from beam_bleu.pipeline.output.reruns import existing_result

    # Dataflow gives --runner itself, and the last --runner counts.
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
    arguments.runner.prepare(arguments.beam, job.source.systems, job.run)
    pipeline = arguments.runner.pipeline(arguments.beam)
    for note in prepare(arguments.job.output, arguments.job.data_kinds):
        warn(note)
    build(pipeline, arguments.job)  # no launcher waits for it
    # Not wait_until_finish: the service takes the job only when this program has
    # ended. The job's own last step writes scores.json.
    pipeline.run()


if __name__ == "__main__":
    sys.exit(main())
