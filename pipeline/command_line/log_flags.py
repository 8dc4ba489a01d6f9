"""The flags for stderr: how much it shows while a run lasts."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import Parser, with_underscores
from beam_bleu.pipeline.display.json_lines import LOG_FORMATS, LogFormatName
from beam_bleu.pipeline.display.shown_progress import PROGRESS_MODES
from beam_bleu.transforms.errors import UsageError

_LOG_FORMAT = "--log_format"


@dataclasses.dataclass(frozen=True)
class Loudness:
    """How much stderr shows.

    Attributes:
      verbose: how often --verbose is given: once for what beam-bleu does, twice for libraries.
      quiet: whether stderr shows only errors.
    """

    verbose: int = 0
    quiet: bool = False


def add_log_flags(parser: argparse._ActionsContainer) -> None:
    """The flags for stderr."""
    parser.add_argument(
        "--progress",
        choices=tuple(PROGRESS_MODES),
        default="auto",
        metavar="WHEN",
        help="what stderr shows while the job runs. "
        + "; ".join(f"{mode}: {shows}" for mode, shows in PROGRESS_MODES.items()),
    )
    add_log_format_flag(parser)
    _add_loudness(parser)


def add_log_format_flag(parser: argparse._ActionsContainer) -> None:
    """Adds --log_format."""
    parser.add_argument(
        _LOG_FORMAT,
        choices=tuple(LOG_FORMATS),
        default="text",
        metavar="NAME",
        help="the format of stderr. "
        + "; ".join(f"{name}: {shows}" for name, shows in LOG_FORMATS.items())
        + "; default text",
    )


def log_format(argv: Sequence[str]) -> LogFormatName:
    """The format of stderr that a command line asks for, also if other words on it are wrong."""
    words = with_underscores(argv[: argv.index("--")] if "--" in argv else argv)
    found: LogFormatName = "text"
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        flag, equals, value = word.partition("=")
        if flag == _LOG_FORMAT:
            value = value if equals else following
            found = next((name for name in LOG_FORMATS if name == value), "text")
    return found


def _add_loudness(parser: argparse._ActionsContainer) -> None:
    add = parser.add_argument
    add("-q", "--quiet", action="store_true", help="show only errors on stderr")
    add(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="show on stderr what the job does, and tracebacks; twice (-vv): also libraries' logs",
    )


def loudness(argv: Sequence[str]) -> Loudness:
    """How much a command line lets stderr show.

    It is needed before the command line is checked, to report the errors of this check. Nothing
    is an error here.
    """
    before_engine = argv[: argv.index("--")] if "--" in argv else argv
    parser = Parser(add_help=False)
    _add_loudness(parser)
    try:
        flags, unknown = parser.parse_known_args(before_engine)
    except UsageError:
        return Loudness()
    # Newer versions of Python take the mistake -vx as -v and -x, older ones refuse it.
    if not {*unknown} <= {*before_engine}:
        return Loudness()
    return Loudness(flags.verbose, flags.quiet)


def check_log_flags(flags: argparse.Namespace) -> None:
    """Checks that the flags do not contradict each other.

    Raises:
      UsageError: one flag asks for what another one removes.
    """
    if not flags.quiet:
        return
    for is_set, name in ((flags.verbose, "--verbose"), (flags.progress == "on", "--progress on")):
        if is_set:
            raise UsageError(f"{name} and --quiet contradict each other", "leave one of them out")
