"""The command `beam-bleu`: parse, run, print, and end with the right exit code."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import sys
from collections.abc import Sequence
from typing import NoReturn

from pipeline.reporting import end, importing, reported, warn
from pipeline.terminal import open_standard_streams, silent_stderr, write_to_stdout
from transforms.errors import JobError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code (see the README)."""
    argv = sys.argv[1:] if argv is None else argv
    return reported(lambda: write_to_stdout(_run(argv)), verbose="--verbose" in argv)


def command() -> NoReturn:
    """The command as a process of its own: runs it, and ends the process with its exit code."""
    open_standard_streams()
    end(main())


def _run(argv: Sequence[str]) -> bytes:
    """Runs the job of a command line; returns what stdout shows."""
    # Beam takes half a second to import, and logs while it does. A fifth of this
    # went into collecting garbage among a million objects of which none is.
    gc.disable()
    with importing():
        from apache_beam.runners.runner import PipelineState

        from pipeline.graph import build
        from pipeline.options import parse
        from pipeline.output import last_written, output_folder, read_scores
        from pipeline.segment_shards import discard
        from pipeline.table import table

    arguments = parse(argv)
    arguments.runner.check(arguments.beam)
    with importing():  # the runner
        pipeline = arguments.runner.pipeline(arguments.beam)
    with output_folder(arguments.job.output, arguments.runner.in_process) as folder:
        written_before = last_written(folder)
        job = dataclasses.replace(arguments.job, output=folder)
        build(pipeline, job)
        gc.freeze()
        gc.enable()
        try:
            hidden = arguments.noisy and not arguments.verbose
            with silent_stderr() if hidden else contextlib.nullcontext():
                state = pipeline.run().wait_until_finish()
            if state not in (None, PipelineState.DONE):
                raise JobError(f"the job ended as {state}", "look at the engine's log")
            scores = read_scores(folder, written_before)
        except BaseException:
            # A job on an engine may go on without this process.
            if arguments.runner.in_process and job.segment_config is not None:
                discard(folder, job.run)
            raise
    document = json.loads(scores)
    for warning in document["warnings"]:
        warn(warning)
    for each in document.get("presets", ()):
        for warning in each["warnings"]:
            warn(f"{each['preset']}: {warning}")
    return scores if arguments.format == "json" else table(document).encode()
