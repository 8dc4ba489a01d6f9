"""argparse, made strict: no abbreviations, and errors that are `UsageError`s."""

from __future__ import annotations

import argparse
import difflib
import textwrap
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

from beam_bleu.pipeline.command_line.help import Formatter, usage_of
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.transforms.errors import UsageError

SEE_HELP = "see --help"

_WIDTH = 79


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

    def format_groups(self, topic: str) -> str:
        """The help for the groups of flags with a word in their title."""
        formatter = self._get_formatter()
        # As in the help for all groups, which have long flags.
        formatter._action_max_length = formatter._max_help_position
        for title, actions in self.groups():
            if topic in title:
                formatter.start_section(title)
                formatter.add_arguments(actions)
                formatter.end_section()
        return formatter.format_help()

    def filled(self, values: Mapping[str, Any]) -> argparse.Namespace:
        """The values of flags for values of Python, by the names of flags.

        Each value is converted and checked as its text on a command line is. None and False are
        those of a flag that is not given.

        Raises:
          UsageError: a value is impossible.
        """
        flags = self.parse_args([])
        actions = {action.dest: action for action in self._actions}
        for name, value in values.items():
            action = actions[name]
            try:
                for texts in _texts(action, value):
                    for text in texts:
                        self._check_value(action, text)  # some types end the program
                    action(self, flags, self._get_values(action, texts))
            except argparse.ArgumentError as error:
                self.error(f"--{name} {error.message}")
        return flags

    def groups(self) -> list[tuple[str, list[argparse.Action]]]:
        """The title of each group of flags that has some, and these flags."""
        return [
            (str(group.title), group._group_actions)
            for group in self._action_groups
            if group._group_actions
        ]

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        # argparse takes -to for -tok even without abbreviations; -bw2 is -b and -w2. And -input is
        # a mistake for --input, and not -i nput; -lcv can be meant as -lc -v, and is not -l cv.
        found: list[Any] = super()._get_option_tuples(option_string)
        is_long = f"-{option_string}".partition("=")[0] in self._option_string_actions
        longer = [flag for flag in self._option_string_actions if flag[1:2] != "-" and flag[2:]]
        if is_long or option_string.startswith(tuple(longer)):
            return []
        return [row for row in found if option_string.startswith(row[1])]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.option_strings and action.choices is not None and value not in action.choices:
            raise unknown_value(action.option_strings[-1], str(value), map(str, action.choices))

    def _print_message(self, message: str, file: Any = None) -> None:
        # --help and --version; argparse itself does not notice that a disk is full.
        write_to_stdout(message.encode())


def _texts(action: argparse.Action, value: Any) -> list[list[str]]:
    """The texts of each use of a flag for a value of Python.

    Raises:
      UsageError: the flag cannot have such a value.
    """
    if value is None or value is False:
        return []
    if value is True and action.nargs in (0, argparse.OPTIONAL):
        return [[] if action.nargs == 0 else [action.const]]
    if action.nargs == 0:
        raise UsageError(f"--{action.dest} must be True or False, got {value!r}", SEE_HELP)
    is_many = isinstance(value, Sequence) and not isinstance(value, str)
    texts = []
    for each in value if is_many else [value]:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise UsageError(f"--{action.dest} must be a text or a number, got {each!r}", SEE_HELP)
        # Without an exponent, as in 1e-05, which a fraction of records cannot have.
        texts.append(f"{Decimal(repr(each)):f}" if isinstance(each, float) else str(each))
    if isinstance(action, argparse._AppendAction):
        return [[text] for text in texts]
    if is_many and not str(action.metavar).endswith(",..."):
        raise UsageError(f"--{action.dest} must be one value, got {value!r}", SEE_HELP)
    return [[",".join(texts)]]


def shown_only(
    group: argparse._ArgumentGroup, name: str, words: Sequence[str] = (), **keywords: Any
) -> None:
    """Adds what only the help shows: something else reads it."""
    group._group_actions.append(argparse.Action(words, name, **keywords))


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that is most like a word; None if none is."""
    by_word = {_word(name): name for name in names}
    near = difflib.get_close_matches(_word(word), by_word, n=1, cutoff=0.75)
    return by_word[near[0]] if near else None


def _word(name: str) -> str:
    return name.strip().lstrip("-").replace("_", "-").lower()


def unknown_value(flag: str, value: str, choices: Iterable[str]) -> UsageError:
    """The error for a value of a flag that is not one of its choices, with the one that is near."""
    names = tuple(choices)
    near = nearest(value, names)
    meant = "" if near is None else f"did you mean {near}? "
    return UsageError(
        f"{flag} {value}: there is no such value", f"{meant}choose one of {', '.join(names)}"
    )


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """The type of a flag whose value is a whole number in a range."""

    def number(text: str) -> int:
        value = int(text) if text.isdecimal() and len(text) < 30 else least - 1
        if value < least or (most is not None and value > most):
            limits = f"at least {least}" if most is None else f"{least} to {most}"
            raise argparse.ArgumentTypeError(f"must be a whole number, {limits}, got {text}")
        return value

    return number


positive = whole_number(1)


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


def with_underscores(argv: Sequence[str], known: Container[str] = ()) -> list[str]:
    """The words with underscores in flags, as the command reads them; `known` flags stay."""
    words = []
    for word in argv:
        flag, equals, value = word.partition("=")
        if word.startswith("--") and len(word) > 2 and flag not in known:
            word = "--" + flag[2:].replace("-", "_") + equals + value
        words.append(word)
    return words
