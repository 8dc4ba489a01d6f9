"""What to suggest for a word that nobody knows. No suggestion is better than a wrong one."""

from __future__ import annotations

from collections.abc import Iterable

from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS

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


def suggestion(flag: str, ours: Iterable[str], beams: Iterable[str]) -> str | None:
    """Our flag or Beam's, or the subcommand, that a person probably means; or None.

    Args:
      flag: the unknown flag, without a value.
      ours: our flags.
      beams: Beam's flags.
    """
    word = _word(flag)
    names = sorted({_word(each) for each in ours if each.startswith("--")})
    if word in names:  # -lowercase, --Lowercase
        return f"--{word}"
    if word in SYNONYMS:
        return SYNONYMS[word]
    if word in SUBCOMMANDS:
        return f"the subcommand {word}"
    longer = [name for name in names if name.startswith(word)]
    if len(word) > 2 and longer and all(name.startswith(longer[0]) for name in longer):
        return f"--{longer[0]}"
    found = nearest(word, names, most=3) or nearest(word, map(_word, beams), most=2)
    return f"--{found}" if found else None


def _word(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_").lower()


def nearest(word: str, names: Iterable[str], most: int) -> str | None:
    """The only name that is nearest to a word, if one letter of four differs, or fewer."""
    distances: dict[str, int] = {}
    for name in names:
        limit = min(most, min(len(word), len(name)) // 4)
        if abs(len(word) - len(name)) <= limit and (distance := _distance(word, name)) <= limit:
            distances[name] = distance
    nearest = [name for name, each in distances.items() if each == min(distances.values())]
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
