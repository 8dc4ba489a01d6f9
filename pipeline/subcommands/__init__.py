"""The subcommands, such as `beam-bleu compare`, and `run`, which runs any of them."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from beam_bleu.pipeline.command_line.help import Formatter, usage_of
from beam_bleu.pipeline.command_line.parser import (
    LogFlags,
    Parser,
    add_flags,
    logs,
    with_underscores,
)
from beam_bleu.pipeline.errors.reporting import reported
from beam_bleu.pipeline.errors.terminal import write_to_stdout
from beam_bleu.transforms.definition.flags import Flag, flags_of


def run(
    name: str,
    description: str,
    groups: Mapping[str, Iterable[Flag]],
    argv: Sequence[str],
    work: Callable[[argparse.Namespace], bytes],
    *,
    takes_others: bool = False,
) -> int:
    """Runs a subcommand with the arguments after its name; returns the exit code.

    `work` returns what stdout shows. With `takes_others`, `flags.others` has all unknown arguments.
    """
    parser = Parser(
        f"see beam-bleu {name} --help. To score a file that is called {name}, write ./{name}",
        prog=f"beam-bleu {name}",
        usage=usage_of(name),
        description=textwrap.fill(description, 79),
        formatter_class=Formatter,
        add_help=False,
    )
    for title, flags in groups.items():
        add_flags(parser.add_argument_group(title), flags)
    group = parser.add_argument_group("messages and help")
    add_flags(group, flags_of(LogFlags))
    group.add_argument("-h", "--help", action="help", help="show this help")
    words = argv if takes_others else with_underscores(argv)
    shown = logs(words)

    def shows() -> None:
        flags = argparse.Namespace()
        if takes_others:
            flags, flags.others = parser.parse_known_args(words, flags)
        else:
            parser.parse_args(words, flags)
        write_to_stdout(work(flags))

    try:
        return reported(shows, shown.verbose, shown.quiet, log_format=shown.log_format)
    except SystemExit:  # --help
        return 0
