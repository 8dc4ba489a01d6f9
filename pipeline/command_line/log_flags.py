"""The flags for stderr: how much it shows while a run lasts."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import Parser, with_underscores
from beam_bleu.pipeline.display.json_lines import LOG_FORMATS, LogFormatName
from beam_bleu.pipeline.display.shown_progress import PROGRESS_MODES
from beam_bleu.transforms.errors import UsageError


@dataclasses.dataclass(frozen=True)
class Logs:
    """What stderr shows.

    Attributes:
      verbose: how often --verbose is given: once for what beam-bleu does, twice for libraries.
      quiet: whether stderr shows only errors.
      log_format: the format of its lines.
    """

    verbose: int = 0
    quiet: bool = False
    log_format: LogFormatName = "text"


def add_progress_flag(parser: argparse._ActionsContainer) -> None:
    """Adds --progress."""
    parser.add_argument(
        "--progress",
        choices=tuple(PROGRESS_MODES),
        default="auto",
        metavar="WHEN",
        help="what stderr shows while the job runs. "
        + "; ".join(f"{mode}: {shows}" for mode, shows in PROGRESS_MODES.items()),
    )


def add_log_flags(
    parser: argparse._ActionsContainer, quiet: str = "show only errors on stderr"
) -> None:
    """Adds the flags for stderr that the command and its subcommands have.

    Args:
      parser: where to add them.
      quiet: the help of --quiet.
    """
    add = parser.add_argument
    add(
        "--log_format",
        choices=tuple(LOG_FORMATS),
        default=Logs.log_format,
        metavar="NAME",
        help="the format of stderr. "
        + "; ".join(f"{name}: {shows}" for name, shows in LOG_FORMATS.items())
        + f"; default {Logs.log_format}",
    )
    add("-q", "--quiet", action="store_true", help=quiet)
    add(
        "-v",
        "--verbose",
        action="count",
        help="show on stderr what the job does, and tracebacks; twice (-vv): also libraries' logs",
    )


def logs(argv: Sequence[str]) -> Logs:
    """What a command line lets stderr show, also if other words on it are wrong.

    It is needed before the command line is checked, to report the errors of this check. Nothing
    is an error here.
    """
    words = with_underscores(argv[: argv.index("--")] if "--" in argv else argv)
    parser = Parser(add_help=False)
    add_log_flags(parser)
    try:
        flags, unknown = parser.parse_known_args(words)
    except UsageError:
        return Logs()
    # Newer versions of Python take the mistake -vx as -v and -x, older ones refuse it.
    is_known = {*unknown} <= {*words}
    return Logs(flags.verbose or 0, flags.quiet, flags.log_format) if is_known else Logs()
