"""The kernel alone against the reference implementations, and against the fastest others."""

from __future__ import annotations

import functools
import json

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import cores, interleaved
from benchmarks.speed.commands import contestant
from benchmarks.speed.results import Measurement, Reach, Results, at_least
from benchmarks.speed.sizes import Sizes

_REFERENCES = 4

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
    text = workspace.head(sizes.kernel_pairs)
    figures, measurements = [], []
    for name, reach, flags in (
        ("chrF2", 120, "--metric chrf"),
        ("chrF2++", 90, "--metric chrf --word_order 2"),
    ):
        both, are_equal = against_sacrebleu(text, flags, sizes.repeats)
        ours, theirs = both
        figures.append(
            _reach(reach).figure(
                f"kernel, {name}, one core, against sacreBLEU's API, {text.pairs:,} pairs",
                ours.rate / theirs.rate,
                equal_integers(are_equal),
                is_right=are_equal,
            )
        )
        measurements += both
    return figures, measurements


def ter(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of TER alone on one core against sacreBLEU's API."""
    text = workspace.head(sizes.kernel_pairs // _SLOWER)
    both, are_equal = against_sacrebleu(text, "--metric ter", sizes.repeats)
    ours, theirs = both
    figure = _reach(250).figure(
        f"kernel, TER, one core, against sacreBLEU's API, {text.pairs:,} pairs",
        ours.rate / theirs.rate,
        equal_integers(are_equal),
        is_right=are_equal,
    )
    return [figure], both


def error_rates(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernels of WER and CER alone on one core against jiwer's API."""
    text = workspace.head(sizes.kernel_pairs // _SLOWER)
    figures, measurements = [], []
    for metric, reach in (("wer", 20), ("cer", 50)):
        both, are_equal = against("jiwer", "jiwer's API", text, f"--metric {metric}", sizes.repeats)
        ours, theirs = both
        figures.append(
            _reach(reach).figure(
                f"kernel, {metric.upper()}, one core, against jiwer's API, {text.pairs:,} pairs",
                ours.rate / theirs.rate,
                equal_integers(are_equal),
                is_right=are_equal,
            )
        )
        measurements += both
    return figures, measurements


def squad(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of exact match and token F1 alone on one core against SQuAD's evaluation."""
    text = workspace.head(sizes.kernel_pairs)
    figures, measurements = [], []
    for name, flags in (("exact match", "exact_match"), ("token F1", "token_f1")):
        both, are_equal = against(
            "squad", "SQuAD's functions in Python", text, f"--metric {flags}", sizes.repeats
        )
        ours, theirs = both
        figures.append(
            _reach(50).figure(
                f"kernel, {name}, one core, against SQuAD's functions in Python, "
                f"{text.pairs:,} pairs",
                ours.rate / theirs.rate,
                _equal_scores(are_equal),
                is_right=are_equal,
            )
        )
        measurements += both
    return figures, measurements


def rouge(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernel of ROUGE alone on one core against rouge_score's API."""
    text = workspace.head(sizes.kernel_pairs // _SLOWER)
    figures, measurements = [], []
    for name, reach, flags in (
        ("ROUGE-1, ROUGE-2 and ROUGE-L", 150, "--metric rouge"),
        ("ROUGE-1, ROUGE-2 and ROUGE-L, stemmer", 150, "--metric rouge --stemmer"),
        ("ROUGE-Lsum, summaries of 4 lines", 50, "--metric rougeLsum"),
    ):
        both, are_equal = against("rouge_score", "rouge_score's API", text, flags, sizes.repeats)
        ours, theirs = both
        figures.append(
            _reach(reach).figure(
                f"kernel, {name}, one core, against rouge_score's API, {text.pairs:,} pairs",
                ours.rate / theirs.rate,
                _equal_scores(are_equal),
                is_right=are_equal,
            )
        )
        measurements += both
    return figures, measurements


def fastest(workspace: Workspace, sizes: Sizes) -> Results:
    """The kernels of chrF, WER and CER alone on one core against the fastest other programs that
    we know to give the same numbers.
    """
    text = workspace.head(sizes.kernel_pairs)
    figures, measurements = [], []
    for name, other, shown_other, metric, shown_equal in (
        ("chrF2", "fastchrf", "fastchrf's API", "chrf", _equal_scores),
        ("WER", "universal_edit_distance", "universal-edit-distance's API", "wer", _equal_edits),
        ("CER", "rapidfuzz", "RapidFuzz's Levenshtein distance", "cer", _equal_edits),
    ):
        flags = f"--metric {metric} --results"
        both, are_equal = against(other, shown_other, text, flags, sizes.repeats)
        ours, theirs = both
        figures.append(
            _reach(1).figure(
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
    return against("sacrebleu", "sacreBLEU's API", text, flags, runs)


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
