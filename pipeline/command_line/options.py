"""The command line: beam-bleu's own flags, checked strictly, and Beam's."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from beam_bleu.pipeline.command_line.beam_flags import (
    KeptViews,
    beam_parser,
    check_in_process,
    parse_beam_flags,
)
from beam_bleu.pipeline.command_line.config import FLAGS, Config, flags_without_secrets, our_parser
from beam_bleu.pipeline.command_line.definition_flags import job_metrics, with_report
from beam_bleu.pipeline.command_line.evidence_flags import evidence
from beam_bleu.pipeline.command_line.gate_flags import gates_of_run
from beam_bleu.pipeline.command_line.layouts import unpooled_label, with_layout
from beam_bleu.pipeline.command_line.metric_flags import check_language_flags, with_choices
from beam_bleu.pipeline.command_line.monitoring_flags import lineage, monitoring
from beam_bleu.pipeline.command_line.parser import with_underscores
from beam_bleu.pipeline.command_line.paths import check_output, checked_path
from beam_bleu.pipeline.command_line.rules import check_rules
from beam_bleu.pipeline.command_line.sacrebleu_flags import refuse_absent
from beam_bleu.pipeline.command_line.slice_flags import (
    check_columns,
    check_labels,
    document_label,
    slicing,
)
from beam_bleu.pipeline.command_line.sources import source
from beam_bleu.pipeline.engines.runners import Runner, find_runner
from beam_bleu.pipeline.job import Job, new_run
from beam_bleu.pipeline.output.redaction import redacted
from beam_bleu.pipeline.output.run_record import RunFacts
from beam_bleu.pipeline.scoring.scorings import JobMetrics
from beam_bleu.transforms.definition.flags import SEE_HELP, nearest
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.needs import TEXTS
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.pairing.records.columns.wanted import KEPT_TEXTS


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A parsed command line.

    Attributes:
      job: the job; its output is "" if --output is not given.
      flags: the flags.
      runner: the engine.
      beam: Beam's options.
      mode: whether Beam's in-process runner has threads (in_memory) or processes.
    """

    job: Job
    flags: Config
    runner: Runner
    beam: PipelineOptions
    mode: str

    @property
    def noisy(self) -> bool:
        """Whether Beam's workers print tracebacks to this process's stderr."""
        return self.runner.in_process and self.mode != "in_memory"

    @property
    def elsewhere(self) -> bool:
        """Whether the steps run in other processes, which cannot tell their progress."""
        return not self.runner.in_process or self.mode == "multi_processing"


def parse(argv: Sequence[str], named: Callable[[RunFacts], None] | None = None) -> Arguments:
    """Parses and checks a command line.

    Args:
      argv: the command line.
      named: called when the engine and the folder are known. After this, the files of -i are
        listed and the model of a tokenizer is read, which can fail with an `InputError`.

    Raises:
      UsageError: a flag is unknown, or a value or a combination is impossible.
      InputError: a pattern of -i matches nothing, or the file of --spm_model cannot be read,
        or is not a model.
      SystemExit: after --help or --version.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    values, others = _our_values(argv[:end])
    of_beam, given, references = parse_beam_flags(others)
    for word in references:
        if word.startswith("-") and word != "-":
            _refuse(word.partition("=")[0])
    flags = with_choices(Config, {**vars(values), "refs": references})
    runner = find_runner(of_beam.runner)
    _check_engine(runner, given, argv[end + 1 :])
    beams_values = {name: getattr(of_beam, name) for name in given}
    options = KeptViews(runner.flags_of_engine(argv[end + 1 :]), **beams_values)
    if "redirects" in flags.allow:
        from beam_bleu.transforms.wiring.object_store_clients import WebOptions  # few runs need it

        options.view_as(WebOptions).allow_web_redirects = True
    FileSystems.set_options(options)  # some filesystems do not work without their options
    anywhere = not runner.in_process
    if anywhere and flags.output is None:
        raise UsageError(
            f"--runner {of_beam.runner} needs --output",
            "name a folder that the workers and this machine can read and write",
        )
    mode = options.view_as(DirectOptions).direct_running_mode
    has_threads = runner.in_process and mode == "in_memory"
    run, threads = new_run(), flags.threads or (_available_threads() if has_threads else 1)
    in_metrics, of_lineage = monitoring(flags), lineage(flags)
    output = "" if flags.output is None else checked_path("--output", flags.output, anywhere)
    if named is not None:
        words = tuple(redacted(argv, flags_without_secrets()))
        replaces, label = flags.if_exists == "replace", flags.partition
        named(RunFacts(run, output, runner.name, words, label, replaces, in_metrics, of_lineage))
    check_language_flags(flags)
    flags = with_layout(flags)
    check_rules(flags)
    flags = with_report(flags)
    metrics = job_metrics(flags, unpooled_label(flags))
    texts = source(flags, anywhere, metrics.needs)
    if output:
        inputs = [(stream.label, stream.pattern) for stream in texts.inputs]
        if model := flags.choices.get("spm_model"):
            inputs.append(("--spm_model", checked_path("--spm_model", model, anywhere)))
        check_output(output, inputs)
    job = dataclasses.replace(
        job_of(flags, texts, metrics, run, threads),
        output=output,
        manifest=bool(output),
        if_exists=flags.if_exists,
    )
    return Arguments(job, flags, runner, options, mode)


def _available_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _our_values(argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The values of our own flags, and the words that are neither our flags nor their values.

    Raises:
      UsageError: a value is impossible, or a word after the systems of -i belongs to no flag.
    """
    ours = our_parser()
    optional = {each.spelling: each for each in FLAGS if each.const is not None}
    words = with_underscores(argv, beam_parser().by_flag())
    for number, (typed, word) in enumerate(zip(argv, words, strict=True)):
        refuse_absent(typed.partition("=")[0])
        flag = optional.get(word)
        if flag is not None and not {*words[number + 1 : number + 2]} & {*flag.choices}:
            words[number] = f"{word}={flag.const}"  # the next word can be a file
    systems = next((n for n, word in enumerate(words) if word.startswith("-i")), len(words))
    flags, before = ours.parse_known_args(words[:systems])
    flags, after = ours.parse_known_args(words[systems:], flags)
    late = parse_beam_flags(after)[2]
    if late and not late[0].startswith("-"):  # it could be meant as a system
        raise UsageError(
            f"unexpected argument {late[0]!r} after -i and its systems",
            "name the references before -i, and all systems directly after it",
        )
    return flags, [*before, *after]


def _refuse(flag: str) -> NoReturn:
    """Refuses an unknown flag."""
    close = nearest(flag, [*beam_parser().by_flag(), *our_parser().by_flag()])
    remedy = f"{SEE_HELP}; put flags that only the engine knows after --"
    raise UsageError(f"unknown flag {flag}", f"did you mean {close}?" if close else remedy)


def _check_engine(runner: Runner, given: Mapping[str, str], words: Sequence[str]) -> None:
    """Checks the flags that are only for an engine.

    Args:
      runner: the engine.
      given: Beam's flags that are given.
      words: those after --, where only the engine reads them.
    """
    known = {**our_parser().by_flag(), **beam_parser().by_flag()}
    for word in words:
        if with_underscores([word])[0].partition("=")[0] in known:
            raise UsageError(
                f"{word} comes after --, where only the engine reads it", "put it before the --"
            )
    if not runner.in_process:
        return
    if words:
        raise UsageError(
            f"{words[0]} comes after --, the place for flags of an engine, but this job runs "
            "in-process",
            "leave it out, put it before the --, or name the engine with --runner",
        )
    check_in_process(given)


def job_of(
    flags: Config,
    source: Source,
    metrics: JobMetrics,
    run: str = "",
    threads: int = 1,
) -> Job:
    """The job that flags describe, without an output folder.

    Args:
      flags: the parsed flags, with the settings of their layout.
      source: the input.
      metrics: the metrics.
      run: the run's name; a new one if it is "".
      threads: the number of threads of a worker.

    Raises:
      UsageError: a value or a combination is impossible, or something has no effect.
      InputError: a file that a flag names cannot be read.
    """
    slices = slicing(flags)
    if "references" not in metrics.needs.roles and any(LENGTH in item for item in slices.items):
        raise UsageError(
            f"--slice_by {LENGTH}: the references have this length, and --metrics "
            f"{' '.join(flags.metrics)} reads none",
            "leave it out, or ask for a metric of texts, too",
        )
    check_labels(flags, source.labels)
    documents = document_label(flags, source.labels)
    job = Job(
        source=source,
        metrics=metrics,
        output="",
        segment_scores=flags.segment_scores,
        examples=flags.examples,
        run=run or new_run(),
        threads=threads,
        allow=tuple(sorted({*flags.allow})),
        slicing=slices,
        evidence=evidence(flags, source.systems, documents),
        most_rejected=flags.most_rejected,
    )
    check_columns(job.schema_of_segments.names if job.segment_scores else source.kept)
    if source.keeps_texts and not {*TEXTS.roles} <= {*metrics.needs.roles}:
        raise UsageError(
            f"--keep {KEPT_TEXTS}: the metrics do not need the texts of candidates and references",
            f"leave {KEPT_TEXTS} out, or ask for a metric of texts, too",
        )
    return dataclasses.replace(job, gates=gates_of_run(flags, job))
