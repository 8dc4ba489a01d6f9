"""What the command lines of all subcommands share: the parser and the spelling of flags."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.help import Formatter, usage_of
from beam_bleu.pipeline.command_line.parser import Parser

_WIDTH = 79


def parser_of(name: str, description: str, *, usage: str | None = None) -> Parser:
    """The parser of a subcommand, without flags.

    Args:
      name: the subcommand.
      description: what it does.
      usage: its usage line; by default the words that the help of the command shows.
    """
    return Parser(
        f"see beam-bleu {name} --help. To score a file that is called {name}, write ./{name}",
        prog=f"beam-bleu {name}",
        usage=usage_of(name) if usage is None else usage,
        description=textwrap.fill(description, _WIDTH),
        formatter_class=Formatter,
        add_help=False,
    )


def with_underscores(argv: Sequence[str]) -> list[str]:
    """The words with underscores in flags, as the command reads them."""
    words = []
    for word in argv:
        if word.startswith("--") and len(word) > 2:
            flag, equals, value = word.partition("=")
            word = "--" + flag[2:].replace("-", "_") + equals + value
        words.append(word)
    return words
