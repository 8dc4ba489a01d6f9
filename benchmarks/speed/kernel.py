"""The kernel alone against the reference implementations, and against the fastest others."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import cores, interleaved
from benchmarks.speed.commands import contestant
from benchmarks.speed.results import Measurement, Reach, Results, at_least
from benchmarks.speed.sizes import Sizes

_REFERENCES = 4

_SACREBLEU = ("sacrebleu", "sacreBLEU's API")

_SLOWER = 20
"""sacreBLEU is slower at TER, and so are jiwer and rouge_score: a part of the pairs is enough."""


def kernel(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel alone on one core against sacreBLEU's API, for each tokenizer."""
    western = workspace.head(sizes.kernel_pairs)
    chinese = workspace.chinese_head(sizes.kernel_pairs)
    figures, measurements = [], []
    for name, reach, text, ways in (
        ("13a", _reach(230), western, ("--tokenize 13a", "--tokenize none", "--lowercase")),
        ("intl", _reach(25), western, ("--tokenize intl",)),
        ("zh", _reach(25), chinese, ("--tokenize zh",)),
        ("char", _reach(25), chinese, ("--tokenize char",)),
    ):
        compared = [
            against_sacrebleu(text, flags, sizes.repeats if flags == ways[0] else 1)
            for flags in ways
        ]
        ours, theirs = compared[0][0]
        are_equal = all(is_equal for _, is_equal in compared)
        lines = "pairs that look Chinese" if text is chinese else "pairs"
        shown = " (13a, none, lower-cased)" if name == "13a" else ""
        figures.append(
            reach.figure(
                f"kernel, {name}, one core, against sacreBLEU's API, {text.pairs:,} {lines}",
                ours.rate / theirs.rate,
                equal_integers(are_equal) + shown,
                is_right=are_equal,
            )
        )
        measurements += [each for both, _ in compared for each in both]
    return figures, measurements


def references(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel alone on one core against sacreBLEU's API, with several references."""
    text = workspace.head_with_references(sizes.kernel_pairs, _REFERENCES)
    both, are_equal = against_sacrebleu(text, "--tokenize 13a", sizes.repeats)
    ours, theirs = both
    figure = _reach(230).figure(
        f"kernel, 13a, {_REFERENCES} references, one core, against sacreBLEU's API with "
        f"{_REFERENCES} references, {text.pairs:,} segments",
        ours.rate / theirs.rate,
        equal_integers(are_equal),
        is_right=are_equal,
    )
    return [figure], both


def chrf(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of chrF alone on one core against sacreBLEU's API."""
    return _compared(
        workspace.head(sizes.kernel_pairs),
        sizes.repeats,
        ("chrF2", 120, _SACREBLEU, "--metric chrf", equal_integers),
        ("chrF2++", 90, _SACREBLEU, "--metric chrf --word_order 2", equal_integers),
    )


def ter(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of TER alone on one core against sacreBLEU's API."""
    return _compared(
        workspace.head(sizes.kernel_pairs // _SLOWER),
        sizes.repeats,
        ("TER", 250, _SACREBLEU, "--metric ter", equal_integers),
    )


def error_rates(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernels of WER and CER alone on one core against jiwer's API."""
    jiwer = ("jiwer", "jiwer's API")
    return _compared(
        workspace.head(sizes.kernel_pairs // _SLOWER),
        sizes.repeats,
        ("WER", 20, jiwer, "--metric wer", equal_integers),
        ("CER", 50, jiwer, "--metric cer", equal_integers),
    )


def squad(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of exact match and token F1 alone on one core against SQuAD's evaluation."""
    functions = ("squad", "SQuAD's functions in Python")
    return _compared(
        workspace.head(sizes.kernel_pairs),
        sizes.repeats,
        ("exact match", 50, functions, "--metric exact_match", _equal_scores),
        ("token F1", 50, functions, "--metric token_f1", _equal_scores),
    )


def rouge(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of ROUGE alone on one core against rouge_score's API."""
    rouge_score = ("rouge_score", "rouge_score's API")
    three = "ROUGE-1, ROUGE-2 and ROUGE-L"
    lsum = "ROUGE-Lsum, summaries of 4 lines"
    return _compared(
        workspace.head(sizes.kernel_pairs // _SLOWER),
        sizes.repeats,
        (three, 150, rouge_score, "--metric rouge", _equal_scores),
        (f"{three}, stemmer", 150, rouge_score, "--metric rouge --stemmer", _equal_scores),
        (lsum, 50, rouge_score, "--metric rougeLsum", _equal_scores),
    )


def fastest(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernels of chrF, WER and CER alone on one core against the fastest other programs that
    we know to give the same numbers.
    """
    fastchrf = ("fastchrf", "fastchrf's API")
    edit_distance = ("universal_edit_distance", "universal-edit-distance's API")
    rapidfuzz = ("rapidfuzz", "RapidFuzz's Levenshtein distance")
    return _compared(
        workspace.head(sizes.kernel_pairs),
        sizes.repeats,
        ("chrF2", 1, fastchrf, "--metric chrf --results", _equal_scores),
        ("WER", 1, edit_distance, "--metric wer --results", _equal_edits),
        ("CER", 1, rapidfuzz, "--metric cer --results", _equal_edits),
    )


def _compared(
    text: Text, runs: int, *rows: tuple[str, int, tuple[str, str], str, Callable[[bool], str]]
) -> Results:
    """The kernel against other contestants.

    Args:
      text: the text.
      runs: how often each contestant runs.
      rows: for each figure the name of what is computed, the ratio to reach, the other contestant
        and its name for a reader, the flags of both, and what to say about the numbers.
    """
    figures, measurements = [], []
    for name, reach, (other, shown_other), flags, shown_equal in rows:
        both, are_equal = against(other, shown_other, text, flags, runs)
        ours, theirs = both
        figures.append(
            _reach(reach).figure(
                f"kernel, {name}, one core, against {shown_other}, {text.pairs:,} pairs",
                ours.rate / theirs.rate,
                shown_equal(are_equal),
                is_right=are_equal,
            )
        )
        measurements += both
    return figures, measurements


def _equal_edits(are_equal: bool) -> str:
    return f"{'same edits' if are_equal else '**DIFFERENT EDITS**'} of every segment"


def _equal_scores(are_equal: bool) -> str:
    return f"{'same scores' if are_equal else '**DIFFERENT SCORES**'} of every segment"


def _reach(ratio: int) -> Reach:
    return at_least(ratio, "x", digits=1)


def equal_integers(are_equal: bool) -> str:
    """What a figure says about the integers."""
    return f"{'same integers' if are_equal else '**DIFFERENT INTEGERS**'} on every segment"


def against_sacrebleu(text: Text, flags: str, runs: int) -> tuple[list[Measurement], bool]:
    """(the kernel and sacreBLEU's API in turn, whether they have the same integers)."""
    return against(*_SACREBLEU, text, flags, runs)


def against(
    other: str, shown_other: str, text: Text, flags: str, runs: int
) -> tuple[list[Measurement], bool]:
    """(the kernel and another contestant in turn, whether they have the same numbers).

    Args:
      other: the contestant.
      shown_other: its name for a reader.
      text: the text.
      flags: the flags of both.
      runs: how often each one runs.
    """
    ours, theirs = interleaved(
        [
            functools.partial(contestant, name, text, flags.split(), cores()[-1:])
            for name in ("kernel", other)
        ],
        runs,
    )
    is_equal = len({json.loads(each.stdout)["counts"] for each in (*ours, *theirs)}) == 1
    count = len(text.all_references)
    shown = flags if count == 1 else f"{flags}, {count} references"
    return [
        Measurement(f"kernel, one core, {shown}", text.pairs, ours),
        Measurement(f"{shown_other}, one core, {shown}", text.pairs, theirs),
    ], is_equal
