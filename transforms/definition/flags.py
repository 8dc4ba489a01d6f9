"""Flags: each is declared by a field of a dataclass, for argparse, `Evaluate` and the pages."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from beam_bleu.transforms.errors import UsageError

SEE_HELP = "see --help"

_Flags = TypeVar("_Flags")


@dataclasses.dataclass(frozen=True)
class Flag:
    """A choice of a user.

    Attributes:
      words: its spellings on a command line; the last one is that of messages.
      default: its value if it is not given; a tuple if the flag can be repeated.
      convert: makes the value of its text. A `ValueError` says what the text must be.
      shown_default: what the help says about the default; "" for its value, if it has one.
      is_shown_only: whether something else reads it, and argparse only shows it.
      changes_sums: of a metric: whether other columns are counted with another value, even if each
        segment has one reference.
    """

    name: str
    help: str
    metavar: str = ""
    words: tuple[str, ...] = ()
    default: Any = None
    convert: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    split: Callable[[str], Iterable[str]] | None = None
    shown_default: str = ""
    nargs: str | None = None
    const: str | None = None
    action: Any = None
    is_shown_only: bool = False
    field: str = ""
    value: Any = True
    changes_sums: bool = True

    @property
    def spelling(self) -> str:
        return self.words[-1] if self.words else self.name

    @property
    def is_many(self) -> bool:
        return isinstance(self.default, tuple)

    @property
    def described(self) -> str:
        default = self.shown_default
        if not default and isinstance(self.default, str | int) and self.metavar:
            default = f"default {self.default}"
        return f"{self.help}; {default}" if default else self.help

    def read(self, text: str) -> Any:
        """The value of a text, or a list if the flag splits it; a `UsageError` if impossible."""
        try:
            if self.split is not None:
                return [self._chosen(part) for part in self.split(text)]
            return self._chosen(text)
        except ValueError as error:
            why = f"must be a number, got {text}" if self.convert in (int, float) else str(error)
            raise UsageError(f"{self.spelling} {why}", SEE_HELP) from None

    def _chosen(self, text: str) -> Any:
        if self.choices and text not in self.choices:
            raise unknown_value(self.spelling, text, self.choices)
        return self.convert(text)

    def value_of(self, argument: Any) -> Any:
        """The value for a keyword's argument, which is checked like the text of a command line."""
        if not self.metavar:
            if not isinstance(argument, bool):
                must_be = f"{self.spelling} must be True or False, got {argument!r}"
                raise UsageError(must_be, SEE_HELP)
            return argument
        if argument is True and self.const is not None:
            return self.const
        texts = [self._text(each) for each in (argument if _is_list(argument) else [argument])]
        if self.is_many:
            values = [self.read(text) for text in texts]
            return tuple(each for value in values for each in (value if self.split else [value]))
        if _is_list(argument) and not self.metavar.endswith(",..."):
            raise UsageError(f"{self.spelling} must be one value, got {argument!r}", SEE_HELP)
        return self.read(",".join(texts))

    def _text(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"{self.spelling} must be a text or a number, got {value!r}", SEE_HELP)
        # Without an exponent, as in 1e-05, which a fraction of records cannot have.
        return f"{Decimal(repr(value)):f}" if isinstance(value, float) else str(value)


def flag(default: Any, help: str, metavar: str = "", *short: str, **more: Any) -> Any:
    """A field with a flag; a table of `choices` adds the description of each row to the help."""
    rows = more.get("choices")
    if isinstance(rows, Mapping):
        described = (f"{name}: {getattr(row, 'description', row)}" for name, row in rows.items())
        help, more["choices"] = f"{help}. {'; '.join(described)}", tuple(rows)
    about = {"help": help, "metavar": metavar, "short": short, **more}
    return dataclasses.field(default=default, metadata={"flags": [{"default": default, **about}]})


def choice(
    default: Any,
    help: str = "",
    metavar: str = "",
    *short: str,
    switches: Sequence[Mapping[str, Any]] = (),
    of_text: bool = False,
    **more: Any,
) -> Any:
    """A field of a metric's definition, which a flag of the command sets; see `flag`.

    Args:
      switches: if several switches set it, the attributes of each one in place of `help`.
      of_text: whether it says how texts become tokens, as a part of `Config.text`.
    """
    about = {"help": help, "metavar": metavar, "short": short, **more}
    about |= {"default": None if metavar else False}  # what a command line gives without the flag
    if metavar and default is not None:
        about.setdefault("shown_default", f"default {default}")
    rows = [{**about, **each} for each in switches or [{}]]
    return dataclasses.field(default=default, metadata={"flags": rows, "of_text": of_text})


def flags_of(kind: Any) -> tuple[Flag, ...]:
    flags = []
    for field in dataclasses.fields(kind):
        for about in field.metadata.get("flags", ()):
            row = {"name": field.name, "field": field.name, **about}
            spellings = (*row.pop("short"), f"--{row['name']}")
            flags.append(Flag(**{"words": spellings, **row}))
    return tuple(flags)


def filled(kind: type[_Flags], values: Mapping[str, Any]) -> _Flags:
    own = {each.name for each in flags_of(kind)} & values.keys()
    return kind(**{name: tuple(v) if isinstance(v := values[name], list) else v for name in own})


def unknown_value(flag: str, value: str, choices: Iterable[str]) -> UsageError:
    """The error for a value of a flag that is none of its choices, with a similar one."""
    names = tuple(choices)
    near = nearest(value, names)
    meant = "" if near is None else f"did you mean {near}? "
    return UsageError(
        f"{flag} {value}: there is no such value", f"{meant}choose one of {', '.join(names)}"
    )


def nearest(word: str, names: Iterable[str]) -> str | None:
    by_word = {_word(name): name for name in names}
    near = difflib.get_close_matches(_word(word), by_word, n=1, cutoff=0.75)
    return by_word[near[0]] if near else None


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text) if text.isdecimal() and len(text) < 30 else least - 1
        if value < least or (most is not None and value > most):
            limits = f"at least {least}" if most is None else f"{least} to {most}"
            raise ValueError(f"must be a whole number, {limits}, got {text}")
        return value

    return number


positive = whole_number(1)


def _word(name: str) -> str:
    return name.strip().lstrip("-").replace("_", "-").lower()


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
