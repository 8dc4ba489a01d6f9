"""The entry point of `beam-bleu`: parses flags, runs the job, prints scores, sets the exit code."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import importlib.metadata
import logging
import os
import platform
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from beam_bleu.pipeline.cheap_start import (
    give_back_freed_memory,
    keep_freed_memory,
    leave_out_unused_packages,
)
from beam_bleu.pipeline.command_line.help import SUBCOMMANDS, short_help
from beam_bleu.pipeline.command_line.parser import logs
from beam_bleu.pipeline.errors.reporting import end, reported, uninterrupted, warn
from beam_bleu.pipeline.errors.terminal import (
    open_standard_streams,
    progress_shown,
    say,
    silent_stderr,
    write_to_stdout,
)
from beam_bleu.pipeline.errors.told_errors import USAGE
from beam_bleu.pipeline.output.run_record import RunRecord
from beam_bleu.transforms.definition.flags import nearest
from beam_bleu.transforms.errors import JobError, UsageError
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.options import Arguments
    from beam_bleu.pipeline.output.run_results import RunResult

_LOG = logging.getLogger("beam_bleu")


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    if not argv:
        say(short_help().rstrip())
        return USAGE
    if argv[0] in SUBCOMMANDS:
        module = f"beam_bleu.pipeline.subcommands.{SUBCOMMANDS[argv[0]].module}"
        code: int = getattr(importlib.import_module(module), f"{argv[0]}_command")(argv[1:])
        return code
    shown, record = logs(argv), RunRecord()
    return reported(
        lambda: _run(argv, record), shown.verbose, shown.quiet, record.end, shown.log_format
    )


def command() -> NoReturn:
    """The console script: runs the command, and ends the process with its exit code."""
    open_standard_streams()
    keep_freed_memory()
    leave_out_unused_packages(sys.argv[1:])
    end(main())


def _refuse_mistyped_subcommand(word: str) -> None:
    near = "--help" if word == "help" else nearest(word, SUBCOMMANDS)
    if near is not None and word.isalpha() and not os.path.lexists(word):
        raise UsageError(
            f"there is no file {word}, and no subcommand of this name", f"did you mean {near}?"
        )


def _run(argv: Sequence[str], record: RunRecord) -> None:
    _refuse_mistyped_subcommand(argv[0])
    PROGRESS.reset()
    # Importing Beam takes half a second. A fifth of that would be garbage collection, which would
    # visit a million objects and free none of them.
    gc.disable()
    try:
        with uninterrupted():
            from beam_bleu.pipeline.command_line.options import parse

        arguments = parse(argv, record.named)
    except BaseException:
        gc.enable()  # for a caller that goes on in the same process
        raise
    from beam_bleu.pipeline.saved.judging import gate_outcome

    result = _existing(arguments, record)
    if result is None:
        result = _scored(arguments, record)
    job = arguments.job
    error, warnings = gate_outcome(job.gates, result.result, job.output)
    result = dataclasses.replace(result, notes=(*result.notes, *warnings))
    record.finished(result)
    if arguments.flags.report:
        _write_report(job.output)
    for warning in result.warnings:
        warn(warning)
    shown = arguments.flags.shown(result.scores, result.result, job.source.notes)
    write_to_stdout(shown)
    if error is not None:
        raise error


def _write_report(output: str) -> None:
    """Writes the HTML report. A failure is only a warning: the run already has its result."""
    from beam_bleu.pipeline.report.page import write_report

    give_back_freed_memory()
    try:
        write_report(output)
    except Exception as error:  # each library and filesystem has exceptions of its own
        cause = getattr(error, "cause", None) or f"{type(error).__name__}: {error}"
        warn(f"there is no report: {cause}; make it again with beam-bleu report {output}")


def _existing(arguments: Arguments, record: RunRecord) -> RunResult | None:
    """The result that the output folder already has for this job; None if the job must run."""
    with uninterrupted():
        from beam_bleu.pipeline.output.run_results import RunResult, existing_result

    scores = existing_result(arguments.job)
    if scores is None:
        return None
    gc.enable()
    record.kept()
    note = f"{arguments.job.output} already has the result, so nothing was scored"
    return RunResult.of(scores, [note])


def _scored(arguments: Arguments, record: RunRecord) -> RunResult:
    runner, job = arguments.runner, arguments.job
    _log_start(runner.name, job.threads)
    try:
        with progress_shown("off" if arguments.flags.quiet else arguments.flags.progress):
            if not runner.in_process:
                from beam_bleu.transforms.pairing.files.found_files import check_visible

                check_visible(job.source.inputs)
            runner.prepare(arguments.beam, job.run)
            return _launch(arguments, record)
    finally:
        _log_end()


def _launch(arguments: Arguments, record: RunRecord) -> RunResult:
    with uninterrupted():
        from apache_beam.runners.runner import PipelineState

        from beam_bleu.pipeline.errors.marked_steps import look_only_where_state_can_be
        from beam_bleu.pipeline.folder.publication import discard, prepare
        from beam_bleu.pipeline.graph import build
        from beam_bleu.pipeline.output.run_results import awaited, handed_over
        from beam_bleu.pipeline.output.temporary_files import files_of_beam, with_temporary_files

    look_only_where_state_can_be()
    with (
        files_of_beam(arguments.runner.in_process),
        arguments.runner.pipeline(arguments.beam) as pipeline,
        awaited(arguments.job, arguments.runner.in_process) as job,
        contextlib.ExitStack() as stack,
    ):
        prepare(job.output, lambda: record.start(arguments.job.source.inputs))
        # Only now: reading a pipe can take long, and a run killed meanwhile must leave its record.
        source = stack.enter_context(with_temporary_files(job.source, arguments.runner.in_process))
        job = dataclasses.replace(job, source=source)
        handshake = sent = None
        if not arguments.runner.in_process:
            with uninterrupted():
                from beam_bleu.pipeline.engines import sent_jobs
                from beam_bleu.pipeline.engines.handshake import Handshake

            handshake = Handshake.of(job, arguments.beam)
        build(pipeline, job, handshake)
        gc.freeze()
        gc.enable()
        try:
            if arguments.elsewhere:
                PROGRESS.begin("running" if arguments.runner.in_process else "submitting")
            hidden = arguments.noisy and not arguments.flags.verbose
            with silent_stderr() if hidden else contextlib.nullcontext():
                result = pipeline.run()
                if handshake is None:
                    state = result.wait_until_finish()
                else:
                    sent = sent_jobs.sent_job(result, arguments.beam)
                    record.submitted(sent.id)
                    timeout = arguments.flags.worker_timeout
                    state = sent_jobs.follow(sent, handshake, timeout, record.answered)
                if state not in (None, PipelineState.DONE):
                    raise JobError(
                        f"the job ended in the state {state}", "look at the engine's log"
                    )
            return handed_over(job)
        except BaseException as error:
            # A job on an engine may outlive this process, and still write its files.
            if arguments.runner.in_process:
                discard(job.output, job.run)
            if handshake is not None and isinstance(error, Exception):
                known = sent_jobs.engine_failure(error, sent, arguments.beam)
                if known is not None:
                    raise known from error
            raise


def _log_start(runner: str, threads: int) -> None:
    if _LOG.isEnabledFor(logging.INFO):  # looking up a version takes milliseconds
        beam, python = importlib.metadata.version("apache-beam"), platform.python_version()
        _LOG.info("beam-bleu %s, Apache Beam %s, Python %s", VERSION, beam, python)
        _LOG.info("runner: %s, threads: %d", runner, threads)


def _log_end() -> None:
    if not _LOG.isEnabledFor(logging.INFO):
        return
    from beam_bleu.transforms.native.compiling import FUNCTIONS
    from beam_bleu.transforms.native.machine_code import cache_folder

    functions = ", ".join(f"{number} {how}" for how, number in FUNCTIONS.items())
    folder = cache_folder() or "none can be used"
    _LOG.info("compiled functions: %s; cache folder: %s", functions, folder)
    seconds = PROGRESS.seconds
    of_phases = ", ".join(f"{phase} {of_phase:.1f}" for phase, of_phase in seconds.items())
    _LOG.info("seconds: %s; in all %.1f", of_phases, sum(seconds.values()))


if __name__ == "__main__":  # `python pipeline/main.py` would do nothing and print nothing
    command()
