"""Suggestions for a word that nobody knows: a flag, a value, or a subcommand as the first word."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.text.tokenizers import OTHER_TOKENS

SYNONYMS = {
    "hyp": "-i or --candidates",
    "hypotheses": "-i or --candidates",
    "hypothesis": "-i or --candidates",
    "o": "--output",
    "order": "--max_ngram_order",
    "predictions": "-i or --candidates",
    "sentence_bleu": "--segment_scores",
    "system": "-i or --candidates",
    "workers": "--threads",
}
"""What other programs call our flags, without their hyphens."""

_REMEDIES = {"--tokenize": OTHER_TOKENS}
"""What to do if none of the values of a flag is wanted."""


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that is most like a word; None if none is."""
    by_word = {_word(name): name for name in names}
    near = difflib.get_close_matches(_word(word), by_word, n=1, cutoff=0.75)
    return by_word[near[0]] if near else None


def _word(name: str) -> str:
    return name.strip().lstrip("-").replace("_", "-").lower()


def suggestion(flag: str, ours: Iterable[str], beams: Iterable[str]) -> str | None:
    """Our flag or Beam's that a person probably means, or the subcommand; None if there is none.

    Args:
      flag: the unknown flag, without a value.
      ours: our flags.
      beams: Beam's flags.
    """
    word = flag.lstrip("-").lower()
    if word in SUBCOMMANDS:
        return f"the subcommand {word}"
    names = [name for name in ours if name.startswith("--")]
    longer = sorted(name for name in names if _word(name).startswith(_word(word)))
    if len(word) > 2 and longer and all(name.startswith(longer[0]) for name in longer):
        return longer[0]
    return SYNONYMS.get(word) or nearest(flag, names) or nearest(flag, beams)


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
