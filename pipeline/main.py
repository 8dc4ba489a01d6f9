"""The command `beam-bleu`: parse, run, print, and end with the right exit code."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import logging
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence

from transforms.errors import BleuError, JobError, find_error

_STEP = re.compile(r" \[while running '[^']*'\]")
"""What Beam adds to the message of an exception."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code (see the README)."""
    argv = sys.argv[1:] if argv is None else argv
    verbose = "--verbose" in argv
    # Beam logs a traceback for every exception of a worker, and warns of
    # optional packages when it is imported.
    logging.basicConfig(
        level=logging.INFO if verbose else logging.CRITICAL, stream=sys.stderr, force=True
    )
    try:
        result = _run(argv)
    except KeyboardInterrupt:
        print("beam-bleu: interrupted", file=sys.stderr)
        return 130
    except Exception as error:  # whatever an engine raises ends as a cause and a remedy
        if verbose:
            traceback.print_exc()
        return _report(_as_bleu_error(error))
    sys.stdout.buffer.write(result)
    sys.stdout.buffer.flush()
    return 0


def _run(argv: Sequence[str]) -> bytes:
    """Runs the job of a command line; returns what stdout shows."""
    # Beam takes half a second to import, and logs while it does. A fifth of this
    # went into collecting garbage among a million objects of which none is.
    gc.disable()
    import apache_beam as beam

    from pipeline.graph import build
    from pipeline.options import parse
    from pipeline.output import last_written, read_scores
    from pipeline.table import table

    arguments = parse(argv)
    with _output_folder(arguments.job.output, arguments.runner.in_process) as folder:
        written_before = last_written(folder)
        pipeline = beam.Pipeline(runner=arguments.runner.create(), options=arguments.beam)
        build(pipeline, dataclasses.replace(arguments.job, output=folder))
        gc.freeze()
        gc.enable()
        state = pipeline.run().wait_until_finish()
        if state not in (None, beam.runners.runner.PipelineState.DONE):
            raise JobError(f"the job ended as {state}", "look at the engine's log")
        scores = read_scores(folder, written_before)
    if arguments.format == "json":
        return scores
    return table(json.loads(scores)).encode()


@contextlib.contextmanager
def _output_folder(folder: str, in_process: bool) -> Iterator[str]:
    """The folder for scores.json: the given one, or a temporary one."""
    if not folder:
        with tempfile.TemporaryDirectory(prefix="beam-bleu-") as temporary:
            yield temporary
        return
    if in_process and "://" not in folder:
        # Found out now rather than at the end of a long job.
        try:
            os.makedirs(folder, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise JobError(
                f"--output {folder} cannot be written: {error.strerror}", "check the folder"
            ) from error
    yield folder


def _as_bleu_error(error: BaseException) -> BleuError:
    """What went wrong, found by its marker wherever an engine has put it."""
    cause: BaseException | None = error
    while cause is not None:
        found = cause if isinstance(cause, BleuError) else find_error(str(cause))
        if found is not None:
            return found
        cause = cause.__cause__ or cause.__context__
    lines = [line for line in str(error).splitlines() if line.strip()]
    last = lines[-1].strip() if lines else type(error).__name__
    return JobError(f"the job failed: {last}", "run it again with --verbose to see the log")


def _report(error: BleuError) -> int:
    cause = _STEP.sub("", error.cause)
    print(f"beam-bleu: {cause}\n  {error.remedy}", file=sys.stderr)
    return error.exit_code
