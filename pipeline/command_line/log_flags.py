"""The flags for stderr: how much it shows while a run lasts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import Parser, add_flags, with_underscores
from beam_bleu.pipeline.display.shown_progress import PROGRESS_MODES, ProgressMode
from beam_bleu.pipeline.display.terminal import LOG_FORMATS, LogFormatName
from beam_bleu.transforms.definition.flags import filled, flag, flags_of
from beam_bleu.transforms.errors import UsageError


@dataclasses.dataclass(frozen=True)
class LogFlags:
    """The flags for stderr that the command and its subcommands have."""

    log_format: LogFormatName = flag("text", "the format of stderr", "NAME", choices=LOG_FORMATS)
    quiet: bool = flag(False, "show only errors on stderr", "", "-q")
    verbose: int = flag(
        0,
        "show on stderr what the job does, and tracebacks; twice (-vv): also libraries' logs",
        "",
        "-v",
    )


@dataclasses.dataclass(frozen=True)
class ProgressFlag:
    """--progress."""

    progress: ProgressMode = flag(
        "auto", "what stderr shows while the job runs", "WHEN", choices=PROGRESS_MODES
    )


def logs(argv: Sequence[str]) -> LogFlags:
    """What a command line lets stderr show, also if other words on it are wrong.

    It is needed before the command line is checked, to report the errors of this check. Nothing
    is an error here.
    """
    words = with_underscores(argv[: argv.index("--")] if "--" in argv else argv)
    parser = Parser(add_help=False)
    add_flags(parser, flags_of(LogFlags))
    try:
        return filled(LogFlags, vars(parser.parse_known_args(words)[0]))
    except UsageError:
        return LogFlags()
