"""argparse, made strict: no abbreviations, and errors that are `UsageError`s.

The command and its subcommands have such a parser. The command has two, for our flags and for
Beam's, and each one knows only its own. If a parser saw the words of the other one, it could take a
value (`--flink_master host:8081`) for a reference. So the words are divided first, by what both
parsers say about the number of values of each flag.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import textwrap
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Any, NoReturn

from beam_bleu.pipeline.command_line.help import Formatter, usage_of
from beam_bleu.pipeline.command_line.suggestions import unknown_value
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.transforms.errors import UsageError

SEE_HELP = "see --help"

_WIDTH = 79

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")
"""What argparse takes for a negative number, and so for a value."""

_MANY = (argparse.ONE_OR_MORE, argparse.ZERO_OR_MORE)


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations whose errors are `UsageError`s.

    Args:
      remedy: what the errors tell a user to do.
      keywords: those of argparse.
    """

    def __init__(self, remedy: str = SEE_HELP, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)
        self._remedy = remedy

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self._remedy)

    def add_value_provider_argument(self, *names: str, **keywords: Any) -> None:
        """Beam's options call this method. It adds the argument like any other one."""
        self.add_argument(*names, **keywords)

    def by_flag(self) -> Mapping[str, argparse.Action]:
        """All flags that it knows, and their descriptions from argparse."""
        return self._option_string_actions

    def actions(self) -> list[argparse.Action]:
        """The description of each flag, from argparse."""
        return list(self._actions)

    def format_groups(self, titles: Collection[str]) -> str:
        """The help for the groups of flags with these titles."""
        formatter = self._get_formatter()
        # As in the help for all groups, which have long flags.
        formatter._action_max_length = formatter._max_help_position
        for title, actions in self.groups():
            if title in titles:
                formatter.start_section(title)
                formatter.add_arguments(actions)
                formatter.end_section()
        return formatter.format_help()

    def groups(self) -> list[tuple[str, list[argparse.Action]]]:
        """The title of each group of flags that has some, and these flags."""
        return [
            (str(group.title), group._group_actions)
            for group in self._action_groups
            if group._group_actions
        ]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.option_strings and action.choices is not None and value not in action.choices:
            raise unknown_value(action.option_strings[-1], str(value), map(str, action.choices))

    def _print_message(self, message: str, file: Any = None) -> None:
        # --help and --version; argparse itself does not notice that a disk is full.
        write_to_stdout(message.encode())


def positive(text: str) -> int:
    """The type of a flag whose value is a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1, got {text}")
    return int(text)


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


def add_text_or_json_flag(group: argparse._ActionsContainer, *others: str) -> None:
    """Adds --format, for subcommands whose report is text, or JSON with the same facts.

    Args:
      group: where to add it.
      others: other formats.
    """
    *names, last = ("text", "json", *others)
    group.add_argument(
        "-f",
        "--format",
        choices=(*names, last),
        default="text",
        metavar="NAME",
        help=f"what stdout shows: {', '.join(names)} or {last}; default text",
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


@dataclasses.dataclass
class Words:
    """The words of a command line, with underscores in the names of flags.

    Attributes:
      ours: our flags and their values.
      beams: Beam's flags and their values.
      references: words that are neither flags nor values.
      after_systems: such words that come after the systems of -i. sacreBLEU refuses them, too.
      after_optional: (flag, word) of those that come directly after a flag whose value may be
        left out.
      unknown: flags that neither parser knows.
      for_engine: the words after `--`.
    """

    ours: list[str] = dataclasses.field(default_factory=list)
    beams: list[str] = dataclasses.field(default_factory=list)
    references: list[str] = dataclasses.field(default_factory=list)
    after_systems: list[str] = dataclasses.field(default_factory=list)
    after_optional: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    unknown: list[str] = dataclasses.field(default_factory=list)
    for_engine: list[str] = dataclasses.field(default_factory=list)


def divided(argv: Sequence[str], ours: Parser, beams: Parser) -> Words:
    """Divides the words of a command line."""
    words = Words()
    end = argv.index("--") if "--" in argv else len(argv)
    words.for_engine = list(argv[end + 1 :])
    flags = {**beams.by_flag(), **ours.by_flag()}
    waiting = collections.deque(argv[:end])
    systems_named = False
    while waiting:
        word = waiting.popleft()
        if not _is_flag(word, flags):
            (words.after_systems if systems_named else words.references).append(word)
            continue
        word = _with_underscores(word, flags)
        action = flags.get(word.partition("=")[0])
        letters = () if action is not None else _letters_of_ours(word, ours)
        if action is None and not letters:
            words.unknown.append(word)
            continue
        of_ours = letters or word.partition("=")[0] in ours.by_flag()
        owner = words.ours if of_ours else words.beams
        owner.append(word)
        if letters:
            action = letters[-1]
            if len(letters) < len(word) - 1:
                continue  # the rest of the word is the value
        elif "=" in word:
            continue
        assert action is not None
        systems_named = systems_named or action.dest == "systems"
        most = _most_values(action)
        while waiting and most and not _is_flag(waiting[0], flags):
            if action.nargs == argparse.OPTIONAL and waiting[0] not in (action.choices or waiting):
                # The value is left out, and the word is something else, such as a file.
                if systems_named or action.dest == "help":
                    words.after_optional.append((word, waiting[0]))
                break
            owner.append(waiting.popleft())
            most -= 1
    return words


def known_flag(word: str, ours: Parser, beams: Parser) -> bool:
    """Whether a word is one of our flags or Beam's, with or without a value."""
    flags = {**beams.by_flag(), **ours.by_flag()}
    return _with_underscores(word, flags).partition("=")[0] in flags


def _with_underscores(word: str, flags: Container[str]) -> str:
    """The word with underscores in the flag's name, if it was typed with hyphens."""
    flag, equals, value = word.partition("=")
    known = "--" + flag.removeprefix("--").replace("-", "_")
    if flag.startswith("--") and flag not in flags and known in flags:
        return known + equals + value
    return word


def _is_flag(word: str, flags: Container[str]) -> bool:
    """Whether argparse takes a word for a flag, known or not."""
    if _with_underscores(word, flags).partition("=")[0] in flags:
        return True
    no_flag = not word.startswith("-") or word == "-" or " " in word
    return not (no_flag or _NUMBER.fullmatch(word))


def _most_values(action: argparse.Action) -> int | float:
    if action.nargs == 0:
        return 0
    return float("inf") if action.nargs in _MANY else 1


def _letters_of_ours(word: str, ours: Parser) -> list[argparse.Action]:
    """The flags of one letter that a word joins, as in -w2, -qv, -bw2 and -bw 2; or none.

    Only the last one can take a value. A long flag with one hyphen (-lowercase) is not such a word.
    """
    flags = ours.by_flag()
    if word.startswith("--") or any(flag.startswith(f"-{word}") for flag in flags):
        return []
    letters = []
    rest = word[1:]
    while rest and (action := flags.get(f"-{rest[0]}")):
        letters.append(action)
        rest = rest[1:]
        if action.nargs != 0:
            break
    if rest and not (letters and _can_be_value(rest, letters[-1])):
        return []
    return letters


def _can_be_value(text: str, action: argparse.Action) -> bool:
    """Whether a text can be the value of a flag that it is joined to."""
    if action.nargs == 0:
        return False
    if action.choices is not None:
        return text in action.choices
    return action.type is not None and text[0] in "0123456789."
