"""`beam-bleu doctor --runner ...`: asks an engine's workers what they can do, by a small job."""

from __future__ import annotations

from collections.abc import Sequence

from beam_bleu.pipeline.command_line.options import Arguments, parse
from beam_bleu.pipeline.engines.handshake import (
    REINSTALL,
    Handshake,
    Software,
    Worker,
    differs,
    shown_name,
)
from beam_bleu.pipeline.engines.installation import Fact, Status
from beam_bleu.pipeline.engines.sent_jobs import engine_failure, follow, sent_job
from beam_bleu.pipeline.errors.marked_steps import Marked, filesystem_options
from beam_bleu.pipeline.errors.reporting import as_bleu_error
from beam_bleu.pipeline.output.run_results import remove_handover
from beam_bleu.transforms.errors import JobError, UsageError
from beam_bleu.transforms.pairing.files.found_files import check_visible


def facts_of_engine(argv: Sequence[str]) -> list[Fact]:
    """What workers answer about the job of a command line; the job itself does not run."""
    arguments = parse(argv)
    runner, job = arguments.runner, arguments.job
    if runner.in_process:
        raise UsageError(
            "doctor with the flags of a job asks the workers of an engine, and this job has none",
            "name the engine with --runner, or leave out all flags",
        )
    check_visible(job.source.inputs)
    runner.prepare(arguments.beam, job.run)
    handshake = Handshake.of(job, arguments.beam)
    heard: list[Worker] = []
    try:
        _run(arguments, handshake, heard)
    except Exception as error:
        if not heard:
            known = engine_failure(error, None, arguments.beam)
            raise known or as_bleu_error(error) from error
    finally:
        remove_handover(job.output, job.run)
    if not heard:
        raise JobError(
            f"the workers' answers are not in {job.output}, though their job is done",
            "name a folder with --output that is the same for the workers and for this process",
        )
    return facts_of_workers(handshake.software, heard, job.output)


def _run(arguments: Arguments, handshake: Handshake, heard: list[Worker]) -> None:
    with arguments.runner.pipeline(arguments.beam) as pipeline:
        filesystems = filesystem_options(arguments.beam)
        _ = pipeline | handshake.steps(lambda dofn: Marked(dofn, filesystems))
        job = sent_job(pipeline.run(), arguments.beam)
        follow(job, handshake, arguments.flags.worker_timeout, heard.extend)


def facts_of_workers(launcher: Software, workers: Sequence[Worker], output: str) -> list[Fact]:
    facts = []
    for host in sorted({worker.host for worker in workers}):
        of_host = [worker for worker in workers if worker.host == host]
        for name, version in launcher.items():
            said = sorted({worker.software.get(name) or "is missing" for worker in of_host})
            text = ", ".join(said) + ("" if said == [version] else f"; here it is {version}")
            is_wrong = any(differs(name, worker, version) for worker in of_host)
            status: Status = "FAIL" if is_wrong else "ok"
            facts.append(Fact(host, shown_name(name), status, text, REINSTALL if is_wrong else ""))
        errors = {(error.cause, error.remedy) for worker in of_host for error in worker.errors}
        facts += [Fact(host, "access", "FAIL", *error) for error in sorted(errors)]
        if not errors:
            text = f"the kernel counts right, each stream can be read, {output} can be written"
            facts.append(Fact(host, "access", "ok", text))
    return facts
