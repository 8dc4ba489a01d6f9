"""Suggestions for a word that nobody knows: a flag, a value, or a subcommand."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.text.tokenizers import OTHER_TOKENS

_REMEDIES = {"--tokenize": OTHER_TOKENS}
"""What to do if none of the values of a flag is wanted."""


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
    remedies = [f"choose one of {', '.join(names)}", _REMEDIES.get(flag, "")]
    if near is not None:
        remedies = [f"did you mean {near}? {remedies[0]}"]
    return UsageError(f"{flag} {value}: there is no such value", "; ".join(filter(None, remedies)))


def refuse_mistyped_subcommand(word: str) -> None:
    """Refuses a word that is probably meant as a subcommand, and is not a file.

    Args:
      word: the first word of a command line. It is not a subcommand.

    Raises:
      UsageError: it is such a word.
    """
    if word.startswith("-") or any(letter in word for letter in "/*?[") or os.path.lexists(word):
        return
    if word == "help" or (near := nearest(word, SUBCOMMANDS)) is not None:
        remedy = "see beam-bleu --help" if word == "help" else f"did you mean {near}?"
        raise UsageError(f"there is no file {word}, and no subcommand of this name", remedy)
