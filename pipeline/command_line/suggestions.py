"""What to suggest for a word that nobody knows: a flag, or a subcommand as the first word.

No suggestion is better than a wrong one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS
from beam_bleu.transforms.errors import UsageError

_SYSTEMS = "-i or --candidates"
_SMOOTHING = "--smooth_method"

SYNONYMS = {
    "bootstrap": "--resample bootstrap",
    "c": "--candidates",
    "cand": "--candidates",
    "cands": "--candidates",
    "case_insensitive": "--lowercase",
    "csv": "--format tsv",
    "debug": "--verbose",
    "engine": "--runner",
    "expected_segments": "--expect_segments",
    "filter": "--where",
    "hyp": _SYSTEMS,
    "hyp_column": "--candidate_columns",
    "hypotheses": _SYSTEMS,
    "hypothesis": _SYSTEMS,
    "hypothesis_column": "--candidate_columns",
    "hyps": _SYSTEMS,
    "id": "--id_column",
    "j": "--threads",
    "jobs": "--threads",
    "json": "--format json",
    "jsonl": "--format jsonl",
    "latex": "--format latex",
    "list_presets": "--preset list",
    "lower": "--lowercase",
    "lower_case": "--lowercase",
    "lowercase_all": "--lowercase",
    "markdown": "--format markdown",
    "max_order": "--max_ngram_order",
    "model": "--spm_model",
    "n": "--max_ngram_order",
    "n_gram": "--max_ngram_order",
    "n_grams": "--max_ngram_order",
    "n_jobs": "--threads",
    "n_threads": "--threads",
    "ngram": "--max_ngram_order",
    "ngram_order": "--max_ngram_order",
    "ngrams": "--max_ngram_order",
    "no_smoothing": "--smooth_method none",
    "normalise": "--normalize",
    "num_threads": "--threads",
    "o": "--output",
    "on": "--join_on",
    "order": "--max_ngram_order",
    "out": "--output",
    "out_dir": "--output",
    "output_dir": "--output",
    "output_format": "--format",
    "prediction_column": "--candidate_columns",
    "predictions": _SYSTEMS,
    "presets": "--preset list",
    "processes": "--threads",
    "r": "--references",
    "records": "--input",
    "ref": "--references",
    "ref_column": "--reference_columns",
    "refer": "--references",
    "reference": "--references",
    "refs": "--references",
    "sample": "--examples",
    "segments": "--segment_scores",
    "sentence_bleu": "--segment_scores",
    "sentence_scores": "--segment_scores",
    "smooth": _SMOOTHING,
    "smoothing": _SMOOTHING,
    "smoothing_function": _SMOOTHING,
    "smoothing_method": _SMOOTHING,
    "sys": _SYSTEMS,
    "system": _SYSTEMS,
    "systems": _SYSTEMS,
    "target": "--references",
    "tok": "--tokenize",
    "tokenisation": "--tokenize",
    "tokenization": "--tokenize",
    "tokenizer": "--tokenize",
    "translation": _SYSTEMS,
    "translations": _SYSTEMS,
    "tsv": "--format tsv",
    "uncased": "--lowercase",
    "workers": "--threads",
}
"""Other words for our flags, without their hyphens."""

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
    "run": _LEAVE_OUT,
    "sacrebleu": _LEAVE_OUT,
    "score": _LEAVE_OUT,
    "show": "to show saved totals again, write beam-bleu rescore FILE",
    "sum": _MERGE,
    "test": "write ./run.sh test",
    "version": "write beam-bleu --version",
}
"""What to write for words that are subcommands of other programs, or of run.sh."""


def suggestion(flag: str, ours: Iterable[str], beams: Iterable[str]) -> str | None:
    """Our flag or Beam's, or the subcommand, that a person probably means; or None.

    Args:
      flag: the unknown flag, without a value.
      ours: our flags.
      beams: Beam's flags.
    """
    word = _word(flag)
    names = sorted({_word(known) for known in ours if known.startswith("--")})
    if word in names:  # -lowercase, --Lowercase
        return f"--{word}"
    if word in SYNONYMS:
        return SYNONYMS[word]
    if word in SUBCOMMANDS:
        return f"the subcommand {word}"
    longer = [name for name in names if name.startswith(word)]
    if len(word) > 2 and longer and all(name.startswith(longer[0]) for name in longer):
        return f"--{longer[0]}"
    near = nearest(word, names, most=3) or nearest(word, map(_word, beams), most=2)
    return f"--{near}" if near else None


def _word(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_").lower()


def nearest(word: str, names: Iterable[str], most: int) -> str | None:
    """The only name that is nearest to a word, if one letter of four differs, or fewer."""
    distances: dict[str, int] = {}
    for name in names:
        limit = min(most, min(len(word), len(name)) // 4)
        if abs(len(word) - len(name)) <= limit and (distance := _distance(word, name)) <= limit:
            distances[name] = distance
    nearest = [name for name, distance in distances.items() if distance == min(distances.values())]
    return nearest[0] if len(nearest) == 1 else None


def _distance(one: str, other: str) -> int:
    """How many letters must be added, removed, replaced or swapped with the next one.

    It is the restricted Damerau-Levenshtein distance.
    """
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, expected in enumerate(other):
            cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter != expected))
            if i and j and letter == other[j - 1] and one[i - 1] == expected:
                cost = min(cost, before_last[j - 1] + 1)
            row.append(cost)
        before_last, last = last, row
    return last[-1]


def refuse_mistyped_subcommand(word: str) -> None:
    """Refuses a word that is probably meant as a subcommand, and is not a file.

    Args:
      word: the first word of a command line. It is not a subcommand.

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
