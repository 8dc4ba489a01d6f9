"""Segments that are in the corpus twice, and candidates that were copied from the references."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from beam_bleu.transforms.inspection.streams import Finding, Stream

# The fewest segments at the end that must be there twice.
_FEWEST_REPEATED = 10

# Shorter texts, on average, often occur again.
_SHORTEST = 20

# At most this share of all segments may be there twice: otherwise this corpus is made so.
_ELSEWHERE = 1 / 20

# Good candidates of fewer words are often equal to their references.
_FEWEST_WORDS = 12

# The fewest copies, and their smallest share of the long texts.
_FEWEST_COPIES, _COPIES = 10, 1 / 10

# There are this many times as many copies as candidates that share so much with a reference.
_CLOSE, _COPIES_OF_CLOSE = 0.9, 2

# The others share less with their references, on average: otherwise the system is just good.
_FAR = 0.85


def repeated_at_end(candidates: Stream, references: Stream) -> Iterator[Finding]:
    """Whether the last segments are the same as segments before, as in a padded batch."""
    segments = _segments(candidates, references)
    numbers = sorted(segments)
    if not numbers:
        return
    places: dict[tuple[str, str], list[int]] = {}
    for number in numbers:
        places.setdefault(segments[number], []).append(number)
    last = numbers[-1]
    for earlier in places[segments[last]][:-1]:
        distance, repeated = last - earlier, 0
        while (number := last - repeated) in segments and (
            segments.get(number - distance) == segments[number]
        ):
            repeated += 1
        if distance > 1:
            repeated = min(repeated, distance)
        again = [number for number in numbers[:-repeated] if len(places[segments[number]]) > 1]
        allowed = _ELSEWHERE * len(numbers) + 2 * repeated
        letters = np.mean([len(segments[number][0]) for number in numbers[-repeated:]])
        if repeated >= _FEWEST_REPEATED and letters >= _SHORTEST and len(again) <= allowed:
            yield Finding(
                "repeats",
                False,
                f"the last {repeated} segments are the same as segments before them, in "
                f"{candidates.name} and in {references.name}",
                "remove them if a batch was filled up with them",
            )
            return


def copied(candidates: Stream, references: Stream) -> Iterator[Finding]:
    """Whether many candidates are the reference itself, while the others are far from it."""
    pairs = [pair for pair in _segments(candidates, references).values() if _is_long(pair[1])]
    copies = sum(candidate == reference for candidate, reference in pairs)
    if not max(_FEWEST_COPIES, _COPIES * len(pairs)) <= copies <= len(pairs) - _FEWEST_COPIES:
        return
    others = [_shared(*pair) for pair in pairs if pair[0] != pair[1]]
    is_far = np.mean(others) < _FAR
    if is_far and copies > _COPIES_OF_CLOSE * sum(share >= _CLOSE for share in others):
        yield Finding(
            "copies",
            False,
            f"{copies:,} of {len(pairs):,} long texts in {candidates.name} are copies of "
            f"{references.name}, and the others share only {np.mean(others):.0%} of their words "
            "with them, as far as a sample tells",
            "check that the system did not have the references, or that these segments are easy",
        )


def _segments(candidates: Stream, references: Stream) -> dict[int, tuple[str, str]]:
    """The candidate and the reference of each segment that has both, by its number."""
    texts = dict(zip(references.numbers.tolist(), references.texts, strict=True))
    own = zip(candidates.numbers.tolist(), candidates.texts, strict=True)
    return {number: (text, texts[number]) for number, text in own if number in texts}


def _is_long(text: str) -> bool:
    return len(text.split()) >= _FEWEST_WORDS


def _shared(candidate: str, reference: str) -> float:
    """The share of the words of the longer text that both have."""
    words, others = {*candidate.split()}, {*reference.split()}
    return len(words & others) / max(len(words), len(others))
