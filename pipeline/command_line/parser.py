"""argparse, made strict: no abbreviations, and errors that are `UsageError`s."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.transforms.definition.flags import SEE_HELP, Flag, unknown_value
from beam_bleu.transforms.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations whose errors are `UsageError`s."""

    def __init__(self, remedy: str = SEE_HELP, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)
        self._remedy = remedy

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self._remedy)

    def by_flag(self) -> Mapping[str, argparse.Action]:
        """All flags that it knows, and their descriptions from argparse."""
        return self._option_string_actions

    def actions(self) -> list[argparse.Action]:
        """The description of each flag, from argparse."""
        return list(self._actions)

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


def add_flags(group: argparse._ActionsContainer, flags: Iterable[Flag]) -> None:
    """Adds flags to a parser. A flag without spellings is a word of the command line."""
    for flag in flags:
        # argparse fills in values after a single %.
        shown: dict[str, Any] = {"help": flag.described.replace("%", "%%")}
        if flag.metavar or flag.action is not None:
            shown["metavar"] = flag.metavar
        if flag.is_shown_only:
            action = argparse.Action(flag.words, flag.name, nargs=flag.nargs, **shown)
            group._group_actions.append(action)  # type: ignore[attr-defined]
            continue
        if not flag.words:
            group.add_argument(flag.name, nargs=flag.nargs, **shown)
            continue
        kind: dict[str, Any]
        if flag.action is not None:
            kind = {"action": flag.action, "nargs": flag.nargs if flag.metavar else 0}
        elif not flag.metavar:
            kind = {"action": "store_true" if isinstance(flag.default, bool) else "count"}
            kind |= {"default": flag.default}
        else:
            many = "extend" if flag.split or flag.nargs else "append"
            kind = {"action": many if flag.is_many else "store", "type": flag.read}
            kind |= {"default": [] if flag.is_many else flag.default}
            kind |= {"nargs": flag.nargs, "const": flag.const} if flag.nargs else {}
        group.add_argument(*flag.words, dest=flag.name, **kind, **shown)


def format_flag(*choices: str) -> Flag:
    """--format of a subcommand; the first choice is the default."""
    *names, last = choices
    shown = f"what stdout shows: {', '.join(names)} or {last}"
    return Flag("format", shown, "NAME", ("-f", "--format"), choices[0], choices=choices)


def with_underscores(argv: Sequence[str], known: Container[str] = ()) -> list[str]:
    """The words with underscores in flags, as the command reads them; `known` flags stay."""
    words = []
    for word in argv:
        flag, equals, value = word.partition("=")
        if word.startswith("--") and len(word) > 2 and flag not in known:
            word = "--" + flag[2:].replace("-", "_") + equals + value
        words.append(word)
    return words
