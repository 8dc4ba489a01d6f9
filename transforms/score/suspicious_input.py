"""Warnings about suspicious input, computed from sums.

docs/inputs.md has the rules and their reasons. A warning changes no number.
"""

from __future__ import annotations

from collections.abc import Iterator

from beam_bleu.transforms.metrics.metric import Lengths
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.text.tokenizers import SCRIPTS
from beam_bleu.transforms.totals.group_totals import CorpusSums

_TOKENIZED_LINES = 100
"""From this number of candidates that end in " .", sacreBLEU warns, whatever the corpus size."""

_MOST = 1 / 2  # 'Most' means more than this share
_STRAY = 1 / 10  # up to this share of a stream's lines may end in a carriage return by accident
_OF_A_SCRIPT = 1 / 100
"""From this share of segments on, text that the tokenizer does not split is no accident."""

_OF_A_SCRIPT_IF_TOKENIZED = 1 / 4
"""The same with a tokenizer for tokenized text: some words of such text are long, too."""

_BY_CHANCE = 1 / 10
"""Up to this many Chinese texts for each Japanese text are taken for Japanese without kana."""

_SHORTEST_RATIO, _LONGEST_RATIO = 0.5, 2

_FEWEST_TOKENS = 100
"""Fewer tokens or characters of references are a few sentences, whose lengths often differ more."""

_FEWEST_SEGMENTS = 10
"""With fewer segments, one or two empty candidates would already be most of them."""


def suspicions(
    sums: CorpusSums, text: TextName, lengths: Lengths, *, why_zero: str = ""
) -> tuple[str, ...]:
    """Sentences about suspicious input, but nothing that `why_zero` already says."""
    return (
        *_tokenized(sums, text),
        *_scripts(sums, text),
        *_identical(sums, lengths),
        *_line_ends(sums),
        *_empty_candidates(sums, lengths, why_zero),
        *_length_ratio(lengths),
    )


def _tokenized(sums: CorpusSums, text: TextName) -> Iterator[str]:
    lines = sums.tokenized
    if lines >= _TOKENIZED_LINES and not text.tokenizer.takes_tokenized_text:
        yield (
            f"the candidates look tokenized: {lines:,} of {sums.segments:,} end in ' .'; "
            "score detokenized text, or, if the references are tokenized in the same way, "
            "use the tokenizer none"
        )


def _scripts(sums: CorpusSums, text: TextName) -> Iterator[str]:
    tokenizer = text.tokenizer
    fewest = _OF_A_SCRIPT_IF_TOKENIZED if tokenizer.takes_tokenized_text else _OF_A_SCRIPT
    counts = dict(zip(SCRIPTS, sums.scripts, strict=True))
    if counts["chinese"] <= _BY_CHANCE * counts["japanese"]:
        counts["chinese"] = 0
    for name, segments in counts.items():
        if name not in tokenizer.splits and segments and segments >= fewest * sums.segments:
            script = SCRIPTS[name]
            yield (
                f"{segments:,} of {sums.segments:,} segments {'is' if segments == 1 else 'are'} "
                f"{script.shown} text, which {script.reason}, and the tokenizer {text.tokenize} "
                f"finds words by spaces; for such text, use {tokenizer.remedy or script.remedy}"
            )


def _identical(sums: CorpusSums, lengths: Lengths) -> Iterator[str]:
    if not lengths.candidates:  # all texts are empty, so that they are equal means nothing
        return
    for position, identical in enumerate(sums.identical, 1):
        if identical == sums.segments:
            yield (
                f"the candidates are the same as references {position}, byte for byte, in all "
                f"{sums.segments:,} segments; check that they are the system's own output"
            )


def _line_ends(sums: CorpusSums) -> Iterator[str]:
    streams = [("the candidates", sums.candidate_returns, sums.segments)]
    for position, of_position in enumerate(zip(sums.reference_returns, sums.given, strict=True), 1):
        streams.append((f"references {position}", *of_position))
    crlf = [_shown(*stream) for stream in streams if stream[1] > _MOST * stream[2]]
    # If every reference of a position is missing, it has no lines and does not count as a stream.
    others = [
        _shown(*stream) for stream in streams if stream[2] and stream[1] <= _STRAY * stream[2]
    ]
    if crlf and others:
        yield (
            f"there are Windows line ends (CRLF) in {' and '.join(crlf)}, but not in "
            f"{' and '.join(others)}; check that they belong together, and give all of them the "
            "same line ends"
        )


def _shown(stream: str, returns: int, lines: int) -> str:
    return f"{stream} ({returns:,} of {lines:,} lines)"


def _empty_candidates(sums: CorpusSums, lengths: Lengths, why_zero: str) -> Iterator[str]:
    empty = lengths.empty_candidates
    # If all are empty, the sentence about a score of 0 gives this reason.
    is_told = bool(why_zero) and not lengths.candidates
    if sums.segments >= _FEWEST_SEGMENTS and empty > _MOST * sums.segments and not is_told:
        yield (
            f"{'most' if lengths.candidates else 'all'} candidates are empty: {empty:,} of "
            f"{sums.segments:,} have no {lengths.counted}; check that the system's output is "
            "complete"
        )


def _length_ratio(lengths: Lengths) -> Iterator[str]:
    if not lengths.candidates or lengths.references < _FEWEST_TOKENS:
        return
    ratio = lengths.candidates / lengths.references
    if ratio < _SHORTEST_RATIO or ratio > _LONGEST_RATIO:
        yield (
            f"the candidates have {float(ratio):.2f} times as many {lengths.counted}s as the "
            f"references ({lengths.candidates:,} and {float(lengths.references):,.0f}); check that "
            "both are complete and of the same segments"
        )
