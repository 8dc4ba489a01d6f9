"""The first word of a command line: it may be meant as a subcommand that does not exist."""

from __future__ import annotations

import os

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from beam_bleu.pipeline.command_line.suggestions import nearest
from beam_bleu.transforms.errors import UsageError

_MERGE = "write beam-bleu merge FILE..."
_LEAVE_OUT = "leave it out: beam-bleu REF... -i FILE..."

REMEDIES = {
    "add": _MERGE,
    "bleu": _LEAVE_OUT,
    "check": "write beam-bleu gate RESULT... for thresholds, or beam-bleu doctor",
    "cluster": "write ./run.sh cluster",
    "combine": _MERGE,
    "diff": "write beam-bleu compare OLD NEW",
    "evaluate": _LEAVE_OUT,
    "help": "see beam-bleu --help",
    "install": "write ./run.sh install",
    "lint": "write ./run.sh lint",
    "presets": "write beam-bleu --preset list",
    "report": "choose what a run shows with --format, such as markdown or latex; to show saved "
    "totals again, write beam-bleu rescore FILE",
    "run": _LEAVE_OUT,
    "sacrebleu": _LEAVE_OUT,
    "score": _LEAVE_OUT,
    "show": "to show saved totals again, write beam-bleu rescore FILE",
    "sum": _MERGE,
    "test": "write ./run.sh test",
    "version": "write beam-bleu --version",
}
"""What to write for words that are subcommands of other programs, or of run.sh."""


def refuse_mistyped_subcommand(word: str) -> None:
    """Refuses a word that is probably meant as a subcommand, and is no file.

    Args:
      word: the first word of a command line. It is no subcommand.

    Raises:
      UsageError: it is such a word.
    """
    if word.startswith("-") or any(letter in word for letter in "/*?[") or os.path.lexists(word):
        return
    if word.lower() in REMEDIES:
        remedy = REMEDIES[word.lower()]
    elif near := nearest(word.lower(), SUBCOMMANDS, most=2):
        remedy = f"did you mean the subcommand {near}?"
    elif near := nearest(word.lower(), REMEDIES, most=2):
        remedy = f"did you mean {near}? {REMEDIES[near]}"
    else:
        return
    raise UsageError(f"there is no file {word}, and no subcommand of this name", remedy)
