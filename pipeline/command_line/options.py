"""Parses a whole command line, beam-bleu's flags and Beam's, into a checked job and its runner."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from beam_bleu.pipeline.command_line.config import (
    FLAGS,
    Config,
    KeptViews,
    beam_parser,
    check_in_process,
    flags_without_secrets,
    our_parser,
    parse_beam_flags,
)
from beam_bleu.pipeline.command_line.definition_flags import job_metrics, with_choices, with_report
from beam_bleu.pipeline.command_line.evidence_flags import evidence, gates_of_run
from beam_bleu.pipeline.command_line.layouts import unpooled_label, with_layout
from beam_bleu.pipeline.command_line.parser import check_rules, with_underscores
from beam_bleu.pipeline.command_line.sacrebleu_flags import in_our_words
from beam_bleu.pipeline.command_line.source_flags import (
    DOCUMENT,
    check_columns,
    check_labels,
    slicing,
)
from beam_bleu.pipeline.command_line.sources import source, with_ids_of_formats
from beam_bleu.pipeline.engines.runners import Runner, find_runner
from beam_bleu.pipeline.folder.paths import check_output, checked_path, require_module
from beam_bleu.pipeline.output.run_record import redacted
from beam_bleu.pipeline.scoring.job import Job, JobMetrics, new_run
from beam_bleu.transforms.definition.flags import SEE_HELP, nearest
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import UsageError, installing
from beam_bleu.transforms.pairing.needs import TEXTS
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.pairing.records.wanted import KEPT_TEXTS


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A parsed command line. Without --output, the output of the job is ""."""

    job: Job
    flags: Config
    runner: Runner
    beam: PipelineOptions
    mode: str

    @property
    def noisy(self) -> bool:
        return self.runner.in_process and self.mode != "in_memory"

    @property
    def elsewhere(self) -> bool:
        """Whether the steps run in other processes, which cannot report their progress."""
        return not self.runner.in_process or self.mode == "multi_processing"


def parse(argv: Sequence[str], named: Callable[..., None] | None = None) -> Arguments:
    """Parses and checks a command line. Calls `named` as soon as engine and folder are known.

    Only then does it list the files of -i and read models, which can raise an `InputError`.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    values, others = _our_values(argv[:end])
    of_beam, spellings, references = parse_beam_flags(others)
    for word in references:
        if word.startswith("-") and word != "-":
            flag = word.partition("=")[0]
            close = nearest(flag, [*beam_parser().by_flag(), *our_parser().by_flag()])
            remedy = f"{SEE_HELP}; put flags that only the engine knows after --"
            raise UsageError(f"unknown flag {flag}", f"did you mean {close}?" if close else remedy)
    flags = with_choices(Config, {**vars(values), "refs": references})
    runner = find_runner(of_beam.runner)
    _check_engine(runner, spellings, argv[end + 1 :])
    beams_values = {name: getattr(of_beam, name) for name in spellings}
    options = KeptViews(runner.flags_of_engine(argv[end + 1 :]), **beams_values)
    if "redirects" in flags.allow:
        from beam_bleu.transforms.wiring.object_store_clients import WebOptions  # few runs need it

        options.view_as(WebOptions).allow_web_redirects = True
    FileSystems.set_options(options)  # without which some filesystems do not work
    anywhere = not runner.in_process
    if anywhere and flags.output is None:
        raise UsageError(
            f"--runner {of_beam.runner} needs --output",
            "name a folder that the workers and this machine can read and write",
        )
    mode = options.view_as(DirectOptions).direct_running_mode
    has_threads = runner.in_process and mode == "in_memory"
    run, threads = new_run(), flags.threads or (_available_threads() if has_threads else 1)
    if flags.lineage is not None:
        require_module("--lineage", "openlineage.client", installing("lineage"))
    output = "" if flags.output is None else checked_path("--output", flags.output, anywhere)
    if named is not None:
        named(
            output,
            replaces=flags.if_exists == "replace",
            labels=dict(flags.metrics_label),
            slices=flags.metrics_slices,
            lineage=flags.lineage or "",
            run=run,
            partition=flags.partition,
            runner=runner.name,
            arguments=redacted(argv, flags_without_secrets()),
        )
    flags = with_ids_of_formats(with_layout(flags))
    check_rules(flags)
    flags = with_report(flags)
    metrics = job_metrics(flags, unpooled_label(flags))
    texts = source(flags, anywhere, metrics)
    if output:
        inputs = [(stream.label, stream.pattern) for stream in texts.inputs]
        if model := flags.choices.get("spm_model"):
            inputs.append(("--spm_model", checked_path("--spm_model", model, anywhere)))
        check_output(output, inputs)
    job = job_of(flags, texts, metrics, output, run, threads)
    return Arguments(job, flags, runner, options, mode)


def _available_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _our_values(argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The values of our own flags, and all words that do not belong to one of them."""
    ours = our_parser()
    optional = {each.spelling: each for each in FLAGS if each.const is not None}
    words = with_underscores(in_our_words(argv), beam_parser().by_flag())
    for number, word in enumerate(words):
        flag = optional.get(word)
        if flag is not None and not {*words[number + 1 : number + 2]} & {*flag.choices}:
            words[number] = f"{word}={flag.const}"  # the next word is not its value
    systems = next((n for n, word in enumerate(words) if word.startswith("-i")), len(words))
    flags, before = ours.parse_known_args(words[:systems])
    flags, after = ours.parse_known_args(words[systems:], flags)
    late = parse_beam_flags(after)[2]
    if late and not late[0].startswith("-"):  # the user may have meant it as a system
        raise UsageError(
            f"unexpected argument {late[0]!r} after -i and its systems",
            "name the references before -i, and all systems directly after it",
        )
    return flags, [*before, *after]


def _check_engine(runner: Runner, spellings: Mapping[str, str], words: Sequence[str]) -> None:
    known = {**our_parser().by_flag(), **beam_parser().by_flag()}
    for word in words:
        if runner.in_process or with_underscores([word])[0].partition("=")[0] in known:
            raise UsageError(
                f"{word} comes after --, where only an engine reads it",
                "put it before the --, or leave it out",
            )
    if runner.in_process:
        check_in_process(spellings)


def job_of(
    flags: Config,
    source: Source,
    metrics: JobMetrics,
    output: str = "",
    run: str = "",
    threads: int = 1,
) -> Job:
    slices = slicing(flags)
    if flags.metrics_by:
        slices = slices.within(str(metrics.unpooled))
    if flags.documents not in (None, *source.labels) and DOCUMENT in source.labels:
        flags = dataclasses.replace(flags, documents=DOCUMENT)  # --documents names files
    check_labels(flags, source.labels)
    if "references" not in metrics.needs.roles and any(LENGTH in item for item in slices.items):
        raise UsageError(
            f"--slice_by {LENGTH}: the references have this length, and --metrics "
            f"{' '.join(flags.chosen_metrics)} reads none",
            "leave it out, or ask for a metric of texts, too",
        )
    job = Job(
        source=source,
        metrics=metrics,
        output=output,
        manifest=bool(output),
        segment_scores=flags.segment_scores,
        examples=flags.examples,
        confusions=flags.confusions,
        run=run or new_run(),
        threads=threads,
        allow=tuple(sorted({*flags.allow})),
        slicing=slices,
        evidence=evidence(flags, source.systems),
        most_rejected=flags.most_rejected,
        gates=gates_of_run(flags, metrics.scorings, source.systems, slices),
        if_exists=flags.if_exists,
    )
    check_columns(job.schema_of_segments.names if job.segment_scores else source.kept)
    if source.keeps_texts and not {*TEXTS.roles} <= {*metrics.needs.roles}:
        raise UsageError(
            f"--keep {KEPT_TEXTS}: the metrics do not need the texts of candidates and references",
            "name columns to keep instead: --keep COLUMN,...; or ask for a metric of texts, too",
        )
    return job
