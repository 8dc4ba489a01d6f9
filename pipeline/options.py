"""The command line: beam-bleu's own flags, checked strictly, and Beam's."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import os
from collections.abc import Iterable, Sequence
from typing import NoReturn

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from beam_bleu.pipeline.beam_flags import beam_parser, check_in_process, parse_beam_flags
from beam_bleu.pipeline.definition_flags import add_definition_flags, definition, segment_scoring
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.names import check_names
from beam_bleu.pipeline.overlap import refuse_overlap
from beam_bleu.pipeline.parser import SEE_HELP, Parser
from beam_bleu.pipeline.paths import checked_path
from beam_bleu.pipeline.printable import utf8
from beam_bleu.pipeline.runners import Runner, find_runner
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.line_parallel.corpus import Expected
from beam_bleu.transforms.pairing.line_parallel.correspondence import CUTS
from beam_bleu.transforms.pairing.line_parallel.counting import MAX_LINE_BYTES
from beam_bleu.transforms.pairing.line_parallel.ranges import SMALLEST_RANGE, USUAL_RANGE
from beam_bleu.transforms.pairing.line_parallel.streams import Stream, compression, is_pattern
from beam_bleu.transforms.version import VERSION
from beam_bleu.transforms.wiring.threads import available_threads

_LARGEST_RANGE = 1 << 40
_LONGEST_LINE = 1 << 30
"""The texts of one segment may have twice as many bytes."""


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A parsed command line.

    Attributes:
      job: the job; its output is "" if --output is not given.
      format: what stdout shows, "text" or "json".
      verbose: whether logs and tracebacks are shown.
      runner: the engine.
      beam: Beam's options.
      noisy: whether Beam's workers print tracebacks to this process's stderr.
    """

    job: Job
    format: str
    verbose: bool
    runner: Runner
    beam: PipelineOptions
    noisy: bool = False


def parse(argv: Sequence[str]) -> Arguments:
    """Parses and checks a command line.

    Raises:
      UsageError: a flag is unknown, or a value or a combination is impossible.
      InputError: the file of --spm_model cannot be read, or is not a model.
      SystemExit: after --help or --version.
    """
    ours, beams = _our_parser(), beam_parser()
    split = argv.index("--") if "--" in argv else len(argv)
    given, for_engine = list(argv[:split]), list(argv[split + 1 :])
    known = ours.flags() | beams.flags()
    given = [_with_underscores(word, known) for word in given]
    for word in for_engine:
        if _with_underscores(word, known).partition("=")[0] in known:
            raise UsageError(
                f"{word} comes after --, where only the engine reads it", "put it before the --"
            )
    flags, for_beam = ours.parse_known_args(given)
    of_beam, unknown = parse_beam_flags(beams, for_beam)
    if unknown:
        _refuse(unknown[0], known)
    runner = find_runner(of_beam.runner)
    if runner.in_process:
        if for_engine:
            raise UsageError(
                f"{for_engine[0]} comes after --, the place for flags of an engine, "
                "but this job runs in-process",
                "leave it out, put it before the --, or name the engine with --runner",
            )
        check_in_process(beams, of_beam)
    options = PipelineOptions([*for_beam, *for_engine])
    FileSystems.set_options(options)  # some filesystems do not work without their options
    if not runner.in_process and flags.output is None:
        raise UsageError(
            f"--runner {of_beam.runner} needs --output",
            "name a folder that the workers and this machine can read and write",
        )
    in_memory = options.view_as(DirectOptions).direct_running_mode == "in_memory"
    threads = flags.threads or (available_threads() if runner.in_process and in_memory else 1)
    return Arguments(
        _job(flags, threads, runner),
        flags.format,
        flags.verbose,
        runner,
        options,
        noisy=runner.in_process and not in_memory,
    )


def our_flags() -> list[argparse.Action]:
    """beam-bleu's own flags, as argparse knows them, for code that describes or translates them."""
    return _our_parser().actions()


def beam_flags() -> list[argparse.Action]:
    """Beam's flags, as argparse knows them."""
    return beam_parser().actions()


def _our_parser() -> Parser:
    parser = Parser(
        prog="beam-bleu",
        description="Computes BLEU of line-parallel text, with sacreBLEU's exact numbers, "
        "as an Apache Beam job.",
        epilog="All other flags are Apache Beam's. Put flags that only an engine knows after --.",
    )
    add = parser.add_argument
    add(
        "--candidates",
        action="append",
        default=[],
        metavar="[NAME=]PATTERN",
        help="the output of a system, one segment per line; repeat the flag for more systems",
    )
    add(
        "--references",
        action="append",
        default=[],
        metavar="PATTERN",
        help="a reference for each segment, one per line; repeat the flag for more references",
    )
    add_definition_flags(parser)
    add(
        "--format",
        choices=("text", "json"),
        default="text",
        help="what stdout shows: a table (text, default) or the bytes of scores.json (json)",
    )
    add("--output", metavar="DIR", help="the folder in which scores.json is written")
    add(
        "--threads",
        type=_positive,
        metavar="N",
        help="how many threads a worker has; default: all cores in-process, 1 on an engine",
    )
    add(
        "--range_bytes",
        type=_positive,
        metavar="N",
        help=f"how many bytes are read at a time; default {USUAL_RANGE}, more above 4 TB",
    )
    add(
        "--cuts",
        choices=CUTS,
        default="same",
        help="same (default): streams of several shards must have the same shards, with the same "
        "numbers of lines; any: only the total numbers of lines are compared",
    )
    add(
        "--expect_segments",
        type=_positive,
        metavar="N",
        help="fail unless the corpus has exactly N segments",
    )
    add(
        "--max_line_bytes",
        type=_positive,
        default=MAX_LINE_BYTES,
        metavar="N",
        help=f"fail if a line has more than N bytes; default {MAX_LINE_BYTES}",
    )
    add("--verbose", action="store_true", help="show logs and tracebacks on stderr")
    add("--version", action="version", version=f"beam-bleu {VERSION}")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1, got {text}")
    return int(text)


def _with_underscores(word: str, flags: set[str]) -> str:
    """The flag with underscores, if it was typed with hyphens."""
    flag, equals, value = word.partition("=")
    known = "--" + flag.removeprefix("--").replace("-", "_")
    if flag.startswith("--") and flag not in flags and known in flags:
        return known + equals + value
    return word


def _refuse(word: str, flags: Iterable[str]) -> NoReturn:
    flag = word.partition("=")[0]
    if not flag.startswith("-"):
        raise UsageError(
            f"unexpected argument {word!r}",
            "name files with --candidates and --references, and put patterns in quotes",
        )
    close = difflib.get_close_matches(flag.replace("-", "_"), flags, n=1)
    close = close or difflib.get_close_matches(flag, flags, n=1)
    raise UsageError(
        f"unknown flag {flag}",
        f"did you mean {close[0]}?"
        if close
        else "see --help; if you use --runner, put flags that only the engine knows after --",
    )


def _job(flags: argparse.Namespace, threads: int, runner: Runner) -> Job:
    for name in ("candidates", "references"):
        if not getattr(flags, name):
            raise UsageError(f"--{name} is missing", "give the flag one or more times")
    range_bytes: int | None = flags.range_bytes
    if range_bytes is not None and not SMALLEST_RANGE <= range_bytes <= _LARGEST_RANGE:
        raise UsageError(
            f"--range_bytes must be {SMALLEST_RANGE} to {_LARGEST_RANGE}, got {range_bytes}",
            SEE_HELP,
        )

    if flags.max_line_bytes > _LONGEST_LINE:
        raise UsageError(
            f"--max_line_bytes must be 1 to {_LONGEST_LINE}, got {flags.max_line_bytes}", SEE_HELP
        )

    def path(flag: str, given: str) -> str:
        return checked_path(flag, given, anywhere=not runner.in_process)

    output = path("--output", flags.output) if flags.output is not None else ""
    if os.path.isfile(output.rstrip("/")):
        raise UsageError(f"--output {output} is a file", "name a folder")
    named = [_named(text) for text in flags.candidates]
    systems = tuple(name for name, _ in named)
    check_names(systems)
    references = [
        Stream(
            f"references {number}" if len(flags.references) > 1 else "references",
            path("--references", pattern),
        )
        for number, pattern in enumerate(flags.references, 1)
    ]
    candidates = [
        Stream(f"candidates {name}", path("--candidates", pattern)) for name, pattern in named
    ]
    if output:
        inputs = [(stream.label, stream.pattern) for stream in (*candidates, *references)]
        if flags.spm_model:
            inputs.append(("--spm_model", path("--spm_model", flags.spm_model)))
        refuse_overlap(output, flags.segment_scores, inputs)
    config = definition(flags)
    return Job(
        systems=systems,
        candidates=tuple(candidates),
        references=tuple(references),
        config=config,
        compare_presets=flags.compare_presets,
        segment_scoring=segment_scoring(flags, config.scoring),
        output=output,
        threads=threads,
        range_bytes=range_bytes,
        expected=Expected(flags.cuts, flags.expect_segments, flags.max_line_bytes),
    )


def _named(text: str) -> tuple[str, str]:
    """(name, pattern) of [NAME=]PATTERN; a NAME has no slash."""
    name, equals, pattern = text.partition("=")
    if equals and "/" not in name:
        return utf8(name), pattern
    if is_pattern(text):
        raise UsageError(
            f"--candidates {text}: the system has no name, because this is a pattern",
            "give the system a name: --candidates NAME=PATTERN",
        )
    stem = FileSystems.split(text)[1]
    stem = stem[: len(stem) - len(compression(stem) or "")]
    return utf8(os.path.splitext(stem)[0]), text
