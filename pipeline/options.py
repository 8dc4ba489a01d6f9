"""The command line: flags of ours, checked strictly, and Beam's own."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from pipeline.job import Job
from pipeline.presets_table import presets_table
from pipeline.runners import Runner, find_runner
from transforms.config import (
    CORPUS_SMOOTH_METHODS,
    DEFAULT_SMOOTH_VALUES,
    LARGEST_NGRAM_ORDER,
    NORMALIZATIONS,
    REFERENCE_LENGTHS,
    SEGMENT_SMOOTH_METHODS,
    SMOOTH_METHODS,
    TOKENIZERS,
    BleuConfig,
    SentencePieceModel,
)
from transforms.errors import InputError, UsageError
from transforms.pairing.listing import is_pattern
from transforms.pairing.ranges import SMALLEST_RANGE, USUAL_RANGE
from transforms.pairing.streams import Stream, compression
from transforms.presets import DEFAULT_PRESET, PRESETS, comparable, preset
from transforms.statistics.library_tokenizers import require_tokenizer
from transforms.threads import available_threads
from transforms.version import VERSION

_HELP = "see --help"
_LARGEST_RANGE = 1 << 40


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A parsed command line.

    Attributes:
      job: the job; its output is "" where none was given.
      format: what stdout shows, "text" or "json".
      verbose: whether logs and tracebacks are shown.
      runner: the engine.
      beam: Beam's options.
    """

    job: Job
    format: str
    verbose: bool
    runner: Runner
    beam: PipelineOptions


class _Parser(argparse.ArgumentParser):
    """A parser without abbreviations whose errors are `UsageError`s."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, _HELP)

    def add_value_provider_argument(self, *names: str, **keywords: Any) -> None:
        """Beam's options call this; for checking, a value is like any other."""
        self.add_argument(*names, **keywords)

    def flags(self) -> set[str]:
        """All flags that it knows."""
        return set(self._option_string_actions)

    def actions(self) -> list[argparse.Action]:
        """What argparse knows of each flag."""
        return list(self._actions)


def parse(argv: Sequence[str]) -> Arguments:
    """Parses and checks a command line.

    Raises:
      UsageError: a flag is unknown, or a value or a combination is impossible.
      InputError: the file of --spm_model cannot be read, or is no model.
      SystemExit: after --help or --version.
    """
    ours, beams = _our_parser(), _beam_parser()
    split = argv.index("--") if "--" in argv else len(argv)
    given, for_engine = list(argv[:split]), list(argv[split + 1 :])
    known = ours.flags() | beams.flags()
    given = [_with_underscores(word, known) for word in given]
    for word in for_engine:
        if _with_underscores(word, known).partition("=")[0] in known:
            raise UsageError(
                f"{word} stands behind --, where only the engine sees it", "give it before the --"
            )
    flags, for_beam = ours.parse_known_args(given)
    beam_flags, unknown = beams.parse_known_args(for_beam)
    if unknown:
        _refuse(unknown[0], known)
    runner = find_runner(beam_flags.runner)
    options = PipelineOptions([*for_beam, *for_engine])
    FileSystems.set_options(options)  # some filesystems cannot be asked for without
    if not runner.in_process and flags.output is None:
        raise UsageError(
            f"--runner {beam_flags.runner} needs --output",
            "name a folder that the workers and this machine can see",
        )
    in_memory = options.view_as(DirectOptions).direct_running_mode == "in_memory"
    threads = flags.threads or (available_threads() if runner.in_process and in_memory else 1)
    return Arguments(_job(flags, threads, runner), flags.format, flags.verbose, runner, options)


def our_flags() -> list[argparse.Action]:
    """The flags of ours, as argparse knows them, for those who describe or translate them."""
    return _our_parser().actions()


def beam_flags() -> list[argparse.Action]:
    """The flags of Beam's, likewise."""
    return _beam_parser().actions()


def _our_parser() -> _Parser:
    parser = _Parser(
        prog="beam-bleu",
        description="BLEU of line-parallel text, with sacreBLEU's exact numbers, as a Beam job.",
        epilog="All other flags are Apache Beam's; what only an engine knows goes after --.",
    )
    add = parser.add_argument
    add(
        "--candidates",
        action="append",
        default=[],
        metavar="[NAME=]PATTERN",
        help="a system's output, line by line; repeat it for more systems",
    )
    add(
        "--references",
        action="append",
        default=[],
        metavar="PATTERN",
        help="references, line by line; repeat it for more",
    )
    _add_definition(parser)
    add(
        "--compare_presets",
        action="store_true",
        help="score the run under every preset that has its tokens and case, too",
    )
    _add_segment_scores(parser)
    add("--format", choices=("text", "json"), default="text", help="what stdout shows")
    add("--output", metavar="DIR", help="the folder that gets scores.json")
    add(
        "--threads",
        type=_positive,
        metavar="N",
        help="threads of a worker; default: this machine's cores in-process, 1 on an engine",
    )
    add(
        "--range_bytes",
        type=_positive,
        metavar="N",
        help=f"bytes that are read at a time, default {USUAL_RANGE}, larger above 4 TB",
    )
    add("--verbose", action="store_true", help="show logs and tracebacks")
    add("--version", action="version", version=f"beam-bleu {VERSION}")
    return parser


def _add_definition(parser: _Parser) -> None:
    """The flags that say which BLEU; those that are not given are the preset's."""
    add = parser.add_argument
    add(
        "--preset",
        type=_preset_name,
        choices=tuple(PRESETS),
        help=f"a definition by name, default {DEFAULT_PRESET}; other flags change it; "
        "`--preset list` shows what each one sets",
    )
    add("--normalize", choices=NORMALIZATIONS, help="Unicode normalization, before all else")
    add("--tokenize", choices=TOKENIZERS, help="default 13a")
    add("--spm_model", metavar="FILE", help="the SentencePiece model of --tokenize spm")
    add("--lowercase", action="store_true", help="score lower-cased text")
    add("--lowercase_ascii", action="store_true", help="score text with A-Z lower-cased")
    add("--no_lowercase", action="store_true", help="score text as it is, whatever the preset")
    add(
        "--smooth_method",
        type=_corpus_method,
        choices=CORPUS_SMOOTH_METHODS,
        help="what becomes of orders without matches; default exp",
    )
    defaults = ", ".join(f"{name} {value}" for name, value in DEFAULT_SMOOTH_VALUES.items())
    add("--smooth_value", type=float, metavar="VALUE", help=f"default: {defaults}")
    add(
        "--max_ngram_order",
        type=int,
        metavar="N",
        help=f"1 to {LARGEST_NGRAM_ORDER}, default 4, or as many as there are weights",
    )
    add(
        "--weights",
        type=_weights,
        metavar="W,W,...",
        help="the weight of each order, 0 for none; default 1/N each",
    )
    add("--effective_order", action="store_true", help="leave out orders no candidate is long for")
    add("--no_effective_order", action="store_true", help="count them, whatever the preset")
    add(
        "--reference_length",
        choices=REFERENCE_LENGTHS,
        help="which length of several references counts; default closest",
    )


def _add_segment_scores(parser: _Parser) -> None:
    add = parser.add_argument
    add(
        "--segment_scores",
        action="store_true",
        help="write the score of each segment, too, as Parquet files: DIR/segment_scores/",
    )
    add(
        "--segment_smooth_method",
        choices=SMOOTH_METHODS,
        help="smoothing of the segment scores, default as of the corpus's",
    )
    add(
        "--segment_smooth_value",
        type=float,
        metavar="VALUE",
        help="its value, default as of the corpus's, or the default of another method",
    )


def _config(flags: argparse.Namespace) -> BleuConfig:
    """The definition of BLEU that a command line asks for.

    Raises:
      UsageError: it is none.
    """
    fields = [field.name for field in dataclasses.fields(BleuConfig)]
    changes = {name: getattr(flags, name, None) for name in fields}
    changes["lowercase"] = _switched(
        flags, {"lowercase": True, "lowercase_ascii": "ascii", "no_lowercase": False}
    )
    changes["effective_order"] = _switched(
        flags, {"effective_order": True, "no_effective_order": False}
    )
    if flags.spm_model is not None:
        changes["spm_model"] = _model(flags.spm_model)
    given = {name: value for name, value in changes.items() if value is not None}
    try:
        config = preset(flags.preset or DEFAULT_PRESET, **given)
    except ValueError as error:
        raise UsageError(str(error), _HELP) from None
    try:
        require_tokenizer(config)
    except InputError as error:
        raise InputError(f"--spm_model {flags.spm_model}: {error.cause}", error.remedy) from error
    return config


def _segment_config(flags: argparse.Namespace, config: BleuConfig) -> BleuConfig | None:
    """The definition of the segments' scores, if they are asked for.

    Raises:
      UsageError: it is none, or half of the flags are given.
    """
    if not flags.segment_scores:
        for name in ("segment_smooth_method", "segment_smooth_value"):
            if getattr(flags, name) is not None:
                raise UsageError(f"--{name} goes with --segment_scores", "give both, or none")
        return None
    if flags.output is None:
        raise UsageError("--segment_scores needs --output", "name the folder that gets them")
    try:
        return config.for_segments(flags.segment_smooth_method, flags.segment_smooth_value)
    except ValueError as error:
        raise UsageError(f"the segment scores: {error}", _HELP) from None


def _switched(flags: argparse.Namespace, meanings: Mapping[str, Any]) -> Any:
    """What the one of some switches that is given means; None without any."""
    given = [name for name in meanings if getattr(flags, name)]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} contradict each other", "leave one out")
    return meanings[given[0]] if given else None


def _preset_name(text: str) -> str:
    """A preset's name, or the end: `list` shows them all, as --help shows the flags."""
    if text == "list":
        print(presets_table(), end="")
        raise SystemExit(0)
    return text


def _corpus_method(text: str) -> str:
    if text in SEGMENT_SMOOTH_METHODS:
        try:
            BleuConfig(smooth_method=text).require_corpus()
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"{error}; for the segment scores it is --segment_smooth_method {text}"
            ) from None
    return text


def _weights(text: str) -> tuple[float, ...]:
    return tuple(float(number) for number in text.split(","))


def _beam_parser() -> _Parser:
    parser = _Parser(add_help=False)
    for options in PipelineOptions.__subclasses__():
        options._add_argparse_args(parser)  # type: ignore[arg-type]  # as Beam itself does
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1, got {text}")
    return int(text)


def _with_underscores(word: str, flags: set[str]) -> str:
    """The flag as it is known, where hyphens were typed for underscores."""
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
            "files are given with --candidates and --references; quote patterns",
        )
    close = difflib.get_close_matches(flag.replace("-", "_"), flags, n=1)
    close = close or difflib.get_close_matches(flag, flags, n=1)
    raise UsageError(
        f"unknown flag {flag}",
        f"did you mean {close[0]}?" if close else "flags that only an engine knows go after --",
    )


def _job(flags: argparse.Namespace, threads: int, runner: Runner) -> Job:
    for name in ("candidates", "references"):
        if not getattr(flags, name):
            raise UsageError(f"--{name} is missing", "give it once or more")
    range_bytes: int | None = flags.range_bytes
    if range_bytes is not None and not SMALLEST_RANGE <= range_bytes <= _LARGEST_RANGE:
        raise UsageError(
            f"--range_bytes must be {SMALLEST_RANGE} to {_LARGEST_RANGE}, got {range_bytes}",
            _HELP,
        )

    def path(flag: str, given: str) -> str:
        return _path(flag, given, anywhere=not runner.in_process)

    output = path("--output", flags.output) if flags.output is not None else ""
    if os.path.isfile(output.rstrip("/")):
        raise UsageError(f"--output {output} is a file", "name a folder")
    config = _config(flags)
    if flags.compare_presets and not comparable(config):
        raise UsageError(
            "--compare_presets: no preset has this --tokenize and this case",
            "choose those of one: --preset list shows them",
        )
    named = [_named(text) for text in flags.candidates]
    systems = tuple(name for name, _ in named)
    for name in systems:
        if not name or not name.isprintable():
            raise UsageError(
                f"the system name {name!r} cannot be shown",
                "give it a name of printable characters: --candidates NAME=PATTERN",
            )
        if systems.count(name) > 1:
            raise UsageError(
                f"two systems are called {name}", "give each a name: --candidates NAME=PATTERN"
            )
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
    return Job(
        systems=systems,
        candidates=tuple(candidates),
        references=tuple(references),
        config=config,
        compare_presets=flags.compare_presets,
        segment_config=_segment_config(flags, config),
        output=output,
        threads=threads,
        range_bytes=range_bytes,
    )


def _model(given: str) -> SentencePieceModel:
    """The model in a file of any filesystem."""
    path = _path("--spm_model", given, anywhere=False)
    try:
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return SentencePieceModel.of(file.read())
    except Exception as error:  # each filesystem has exceptions of its own
        raise InputError(
            f"--spm_model {given}: cannot be read: {error}", "check the path"
        ) from error


def _named(text: str) -> tuple[str, str]:
    """(name, pattern) of [NAME=]PATTERN; a NAME has no slash."""
    name, equals, pattern = text.partition("=")
    if equals and "/" not in name:
        return name, pattern
    if is_pattern(text):
        raise UsageError(
            f"--candidates {text}: a pattern has no name of its own",
            "give the system a name: --candidates NAME=PATTERN",
        )
    stem = FileSystems.split(text)[1]
    stem = stem[: len(stem) - len(compression(stem) or "")]
    return os.path.splitext(stem)[0], text


def _path(flag: str, path: str, anywhere: bool) -> str:
    """A path as Beam takes it, of a filesystem that there is; `anywhere`, or from here."""
    path = path.removeprefix("file://")
    if not path:
        raise UsageError(f"{flag} is empty", "name a path")
    try:
        filesystem = FileSystems.get_filesystem(path)
    except (ValueError, BeamIOError) as error:
        raise UsageError(
            f"{flag} {path}: there is no such filesystem here: {error}",
            "install what it needs: beam-bleu[gcp], beam-bleu[aws] or beam-bleu[azure]",
        ) from error
    if anywhere and isinstance(filesystem, LocalFileSystem):
        return os.path.abspath(path)  # an engine's workers run in folders of their own
    return path
