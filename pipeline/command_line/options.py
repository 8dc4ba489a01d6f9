"""The command line: beam-bleu's own flags, checked strictly, and Beam's."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from typing import NoReturn

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from beam_bleu.pipeline.command_line.beam_flags import (
    KeptViews,
    beam_help,
    beam_parser,
    check_in_process,
    parse_beam_flags,
)
from beam_bleu.pipeline.command_line.definition_flags import (
    add_more_scores_flags,
    add_preset_flag,
)
from beam_bleu.pipeline.command_line.evidence_flags import add_evidence_flags
from beam_bleu.pipeline.command_line.gate_flags import add_gate_flags
from beam_bleu.pipeline.command_line.help import TOPICS, Formatter, epilog, short_help, usage
from beam_bleu.pipeline.command_line.job_flags import job_of
from beam_bleu.pipeline.command_line.keep_flag import add_keep_flag
from beam_bleu.pipeline.command_line.layouts import add_layout_flag, unpooled_label, with_layout
from beam_bleu.pipeline.command_line.lineage_flag import add_lineage_flag, lineage
from beam_bleu.pipeline.command_line.log_flags import add_log_flags, check_log_flags
from beam_bleu.pipeline.command_line.metric_flags import (
    add_flags,
    add_metrics_flag,
    flags_of,
    needs_of,
    usual_flags,
)
from beam_bleu.pipeline.command_line.monitoring_flags import add_monitoring_flags, monitoring
from beam_bleu.pipeline.command_line.output_flags import (
    Display,
    add_display_flags,
    add_report_flag,
    add_rerun_flags,
    add_saving_flags,
    display,
    if_exists,
    partition,
    with_report,
)
from beam_bleu.pipeline.command_line.parser import (
    SEE_HELP,
    Parser,
    Words,
    divided,
    known_flag,
    positive,
)
from beam_bleu.pipeline.command_line.paths import checked_path, refuse_overlap
from beam_bleu.pipeline.command_line.record_flags import (
    add_bringing_together_flags,
    add_record_flags,
    add_rejecting_flags,
    most_rejected,
)
from beam_bleu.pipeline.command_line.sacrebleu_flags import refuse_absent
from beam_bleu.pipeline.command_line.slice_flags import (
    add_document_flag,
    add_slice_flags,
    check_labels_are_used,
)
from beam_bleu.pipeline.command_line.source_flags import (
    add_checking_flags,
    add_reading_flags,
    add_text_flags,
    source,
    stdin_by_default,
)
from beam_bleu.pipeline.command_line.suggestions import nearest
from beam_bleu.pipeline.command_line.token_flags import add_language_flags, check_language_flags
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.pipeline.display.shown_progress import ProgressMode
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.pipeline.engines.runners import SHOWN_RUNNERS, WORKER_TIMEOUT, Runner, find_runner
from beam_bleu.pipeline.job import Job, new_run
from beam_bleu.pipeline.output.redaction import redacted
from beam_bleu.pipeline.output.run_record import RunFacts
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, METRICS_OF_TEXTS
from beam_bleu.transforms.version import VERSION
from beam_bleu.transforms.wiring.thread_pool import available_threads


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A parsed command line.

    Attributes:
      job: the job; its output is "" if --output is not given.
      display: what stdout shows.
      verbose: how often --verbose is given.
      progress: how stderr shows the progress.
      runner: the engine.
      beam: Beam's options.
      noisy: whether Beam's workers print tracebacks to this process's stderr.
      stdin_by_default: whether stdin is the system, because no system is named.
      elsewhere: whether the steps run in other processes, which cannot tell their progress.
      report: whether this process makes a page of the result.
      worker_timeout: the seconds that the workers of an engine may take to answer;
        None if the user has given no number.
    """

    job: Job
    display: Display
    verbose: int
    progress: ProgressMode
    runner: Runner
    beam: PipelineOptions
    noisy: bool = False
    stdin_by_default: bool = False
    elsewhere: bool = False
    report: bool = False
    worker_timeout: int | None = None


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
    ours, beams = our_parser(), beam_parser()
    words = divided(argv, ours, beams)
    for word in words.for_engine:
        if known_flag(word, ours, beams):
            raise UsageError(
                f"{word} comes after --, where only the engine reads it", "put it before the --"
            )
    if words.after_optional:
        flag, word = words.after_optional[0]
        choices = " or ".join(ours.by_flag()[flag].choices or ())
        raise UsageError(
            f"unexpected argument {word!r} after {flag}",
            f"{flag} takes {choices}, or no value"
            + ("" if flag == "--help" else "; name the references before -i"),
        )
    flags = with_report(ours.parse_args([*words.references, *words.ours]))
    of_beam = parse_beam_flags(beams, words.beams)
    if words.unknown:
        _refuse(words, ours, beams)
    if words.after_systems:
        raise UsageError(
            f"unexpected argument {words.after_systems[0]!r} after -i and its systems",
            "name the references before -i, and all systems directly after it",
        )
    check_log_flags(flags)
    runner = find_runner(of_beam.runner)
    if runner.in_process:
        if words.for_engine:
            raise UsageError(
                f"{words.for_engine[0]} comes after --, the place for flags of an engine, "
                "but this job runs in-process",
                "leave it out, put it before the --, or name the engine with --runner",
            )
        check_in_process(beams, of_beam)
        if flags.worker_timeout is not None:
            raise UsageError(
                "--worker_timeout is for an engine, but this job runs in-process",
                "name the engine with --runner, or leave the flag out",
            )
    options = KeptViews([*words.beams, *runner.flags_of_engine(words.for_engine)])
    if "redirects" in flags.allow:
        from beam_bleu.transforms.wiring.object_store_clients import WebOptions  # few runs need it

        options.view_as(WebOptions).allow_web_redirects = True
    FileSystems.set_options(options)  # some filesystems do not work without their options
    if not runner.in_process and flags.output is None:
        raise UsageError(
            f"--runner {of_beam.runner} needs --output",
            "name a folder that the workers and this machine can read and write",
        )
    mode = options.view_as(DirectOptions).direct_running_mode
    in_memory = mode == "in_memory"
    threads = flags.threads or (available_threads() if runner.in_process and in_memory else 1)
    run, in_metrics, of_lineage = new_run(), monitoring(flags), lineage(flags)

    def tell(output: str, label: str | None, replaces: bool) -> None:
        if named is not None:
            words = redacted([utf8(word) for word in argv], flags_without_secrets())
            named(
                RunFacts(
                    run,
                    output,
                    runner.name,
                    tuple(words),
                    label,
                    replaces,
                    monitoring=in_metrics,
                    lineage=of_lineage,
                )
            )

    return Arguments(
        _job(flags, threads, runner, run, tell),
        display(flags),
        flags.verbose,
        "off" if flags.quiet else flags.progress,
        runner,
        options,
        noisy=runner.in_process and not in_memory,
        stdin_by_default=stdin_by_default(flags),
        elsewhere=not runner.in_process or mode == "multi_processing",
        report=flags.report,
        worker_timeout=flags.worker_timeout,
    )


def our_flags() -> list[argparse.Action]:
    """beam-bleu's own flags, as argparse knows them, for code that describes or translates them."""
    return our_parser().actions()


def our_groups() -> list[tuple[str, list[argparse.Action]]]:
    """The title of each group of beam-bleu's own flags, and these flags."""
    return our_parser().groups()


def help_of(flag: argparse.Action) -> str:
    """What --help says of a flag. argparse fills in values after a single %."""
    return str(flag.help) % vars(flag)


def beam_flags() -> list[argparse.Action]:
    """Beam's flags, as argparse knows them."""
    return beam_parser().actions()


def flags_without_secrets() -> frozenset[str]:
    """Flags whose values are never secrets, with all spellings: ours, and Beam's switches."""
    switches = [flag for flag in beam_flags() if flag.nargs == 0]
    return frozenset(word for flag in [*our_flags(), *switches] for word in flag.option_strings)


@functools.cache  # a run also asks which values of flags are never secrets
def our_parser() -> Parser:
    """The parser of beam-bleu's own flags."""
    parser = Parser(
        prog="beam-bleu",
        usage=usage(),
        description="Scores text files and records by BLEU and other metrics, with sacreBLEU's "
        "exact\nnumbers, as an Apache Beam job.",
        formatter_class=Formatter,
        add_help=False,
    )
    group = parser.add_argument_group
    texts = group("input")
    add_text_flags(texts)
    checks = group("input, checks")
    add_checking_flags(checks)
    add_rejecting_flags(checks)
    add_record_flags(group("input, records"))
    several = group("input, records of several systems, and known layouts")
    add_bringing_together_flags(several)
    add_layout_flag(several)
    add_metrics_flag(group("definition, metrics"))
    tokens = group("definition, from texts to tokens")
    add_preset_flag(tokens)
    add_flags(tokens, usual_flags(of_text=True))
    add_language_flags(tokens)
    add_flags(group("definition, from n-grams to a score"), usual_flags(of_text=False))
    others = flags_of(METRICS_OF_TEXTS, besides=[DEFAULT_METRIC])
    add_flags(group("definition, other metrics"), others)
    add_flags(group("definition, metrics of numbers"), flags_of(besides=METRICS_OF_TEXTS))
    output = group("output")
    add_display_flags(output)
    output.add_argument(
        "--output", metavar="DIR", help="the folder in which scores.json is written"
    )
    add_saving_flags(output)
    add_rerun_flags(output)
    more_scores = group("output, more scores")
    add_more_scores_flags(more_scores)
    add_keep_flag(more_scores)
    add_report_flag(more_scores)
    of_monitoring = group("output, monitoring")
    add_monitoring_flags(of_monitoring)
    add_lineage_flag(of_monitoring)
    slices = group("slices and documents")
    add_slice_flags(slices)
    add_document_flag(slices)
    add_evidence_flags(group("evidence"))
    add_gate_flags(group("gates"))
    engine = group("engine")
    _show_runner(engine)
    engine.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="how many threads a worker has; default: all cores in-process, 1 on an engine",
    )
    add_reading_flags(engine)
    engine.add_argument(
        "--worker_timeout",
        type=positive,
        metavar="SECONDS",
        help="how long the workers of an engine may take to answer before the job is "
        f"cancelled; default {WORKER_TIMEOUT}; "
        "without this flag, a job is never cancelled while it may be in the engine's queue",
    )
    about = group("messages and help")
    add_log_flags(about)
    about.add_argument("-h", action=_ShortHelp, dest="help", nargs=0, help="show the usual flags")
    about.add_argument(
        "--help",
        action=_Help,
        nargs="?",
        choices=list(TOPICS),
        metavar="TOPIC",
        help=f"show all flags, or those of a topic: {', '.join(TOPICS)}",
    )
    about.add_argument("--help_beam", action=_BeamHelp, nargs=0, help="show Beam's flags")
    about.add_argument(
        "-V",
        "--version",
        action="version",
        version=f"beam-bleu {VERSION}",
        help="show the version",
    )
    return parser


def _show_runner(group: argparse._ArgumentGroup) -> None:
    """Shows --runner in --help. Beam's parser reads it, so ours must not know it."""
    runner = argparse.Action(
        ["--runner"],
        "runner",
        metavar="NAME",
        help=f"where the job runs: {', '.join(SHOWN_RUNNERS)}, or a class by its full name; "
        "default DirectRunner: in this process",
    )
    group._group_actions.append(runner)


class _ShortHelp(argparse.Action):
    """The action of -h: prints the usual flags and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        write_to_stdout(short_help().encode())
        parser.exit()


class _Help(argparse.Action):
    """The action of --help: prints all flags, or those of a topic, and ends the program."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, topic: object, *_: object
    ) -> NoReturn:
        assert isinstance(parser, Parser)
        parser.epilog = epilog()  # as wide as the terminal is now
        text = parser.format_groups(TOPICS[str(topic)]) if topic else parser.format_help()
        write_to_stdout(text.encode())
        parser.exit()


class _BeamHelp(argparse.Action):
    """The action of --help_beam: prints Beam's flags and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        write_to_stdout(beam_help(our_parser().by_flag()).encode())
        parser.exit()


def _refuse(words: Words, ours: Parser, beams: Parser) -> NoReturn:
    """Refuses the first unknown flag."""
    flag = words.unknown[0].partition("=")[0]
    refuse_absent(flag)
    remedy = SEE_HELP
    if close := nearest(flag, [*beams.by_flag(), *ours.by_flag()]):
        remedy = f"did you mean {close}?"
    elif any(word.partition("=")[0] == "--runner" for word in words.beams):
        remedy = f"{SEE_HELP}; put flags that only the engine knows after --"
    raise UsageError(f"unknown flag {flag}", remedy)


def _job(
    flags: argparse.Namespace,
    threads: int,
    runner: Runner,
    run: str,
    tell: Callable[[str, str | None, bool], None],
) -> Job:
    anywhere = not runner.in_process
    output = checked_path("--output", flags.output, anywhere) if flags.output is not None else ""
    label, exists = partition(flags), if_exists(flags)
    tell(output, label, exists == "replace")
    check_language_flags(flags)
    flags = with_layout(flags)
    unpooled = unpooled_label(flags)
    rejected = most_rejected(flags)
    needs = needs_of(flags)
    texts = source(flags, anywhere, needs)
    if os.path.isfile(output.rstrip("/")):
        raise UsageError(f"--output {output} is a file", "name a folder")
    if output:
        inputs = list(texts.inputs)
        if flags.spm_model:
            inputs.append(("--spm_model", checked_path("--spm_model", flags.spm_model, anywhere)))
        refuse_overlap(output, inputs)
    job = job_of(flags, texts, needs, unpooled=unpooled, run=run, threads=threads)
    check_labels_are_used(flags, texts.labels, job.slicing, job.evidence.documents)
    return dataclasses.replace(
        job, output=output, manifest=bool(output), most_rejected=rejected, if_exists=exists
    )
