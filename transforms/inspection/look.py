"""Looks at a sample of segments for everything that shows that the texts are wrong.

Each candidate is compared with the references around its own by their sequences of four bytes, the
rare ones above all, which works for all languages. Similarities are quotients of integers.
"""

from __future__ import annotations

import collections
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from beam_bleu.transforms.definition.choices import ALLOWED, require_choice
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.inspection.sample import Sample, Sampling, Stream
from beam_bleu.transforms.inspection.signs import Finding, signs_in
from beam_bleu.transforms.native.arrays import Bytes, Floats, Integers
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.batch import SegmentBatch

_FEWEST_TEXTS = 20  # fewer texts tell nothing


def look_at(
    sample: Sample, allow: Collection[str] = (), *, of_values: bool = False, in_python: bool = False
) -> tuple[Notice, ...]:
    """The notices about the texts; values of records can be meant to be in another format."""
    streams = sample.streams()
    large = [stream for stream in streams if len(stream) >= _FEWEST_TEXTS]
    findings = list(signs_in(large, of_values=of_values))
    for candidates in (stream for stream in streams if stream.is_of_candidates):
        for references in (stream for stream in streams if not stream.is_of_candidates):
            findings += ids_in_another_order(candidates, references)
            if candidates in large and references in large:
                findings += misplaced(candidates, references)
                findings += repeated_at_end(candidates, references)
    refused = [finding for finding in findings if finding.is_certain and finding.kind not in allow]
    if refused:
        kinds = [*dict.fromkeys(finding.kind for finding in refused)]
        allowing = f"allow={kinds}" if in_python else f"--allow {','.join(kinds)}"
        remedies = "; ".join(dict.fromkeys(finding.remedy for finding in refused))
        raise InputError(
            "; ".join(finding.cause for finding in refused),
            f"{remedies}; if it is meant, {allowing}",
        )
    return tuple(
        Notice("sample", f"{finding.cause}; {finding.remedy}")
        for finding in findings
        if finding.is_certain or finding.kind not in allow
    )


class Inspection:
    """Looks at batches on their way, for a caller in Python. Mutable."""

    def __init__(self, allow: Collection[str]) -> None:
        self._allow = [allow] if isinstance(allow, str) else list(allow)
        for kind in self._allow:
            require_choice("allow", kind, ALLOWED)
        self._sampling = Sampling()

    def seen(self, batches: Iterable[SegmentBatch]) -> Iterator[SegmentBatch]:
        for batch in batches:
            self._sampling.add(batch)
            yield batch

    def warn(self) -> None:
        for notice in look_at(self._sampling.total, self._allow, of_values=True, in_python=True):
            warnings.warn(notice.sentence, stacklevel=4)


_CELLS = 512  # how many kinds of sequences of four bytes are told apart, by a hash
_COMPARED = 96  # how many bytes of a text are compared with others
_FARTHEST = 8  # the largest offset that is looked for
_FEWEST_SHIFTED = 30  # the fewest segments that must fit better at another offset
_TIMES_BETTER = 2  # how many times as similar the texts must be at another offset than at their own
_FEWEST_IN_ORDER = 50
"""With fewer segments, chance decides whether they look like their own references."""

_CHANCE = 3  # how many standard errors from equality a mean is by chance
_ALIKE = 1 / 4  # if texts are this similar to any others, their similarity tells nothing
_UNSURE = 4  # how many segments too late the beginning of a range may be found
_SHORTEST = 12  # shorter texts tell nothing: they are often the same
_FEWEST_REPEATED, _SHORTEST_REPEATED = 10, 20
"""The fewest segments at the end that must be there twice, and their characters on average."""


_FIRST_IDS = re.compile(r"(?m)^(?=\S*\d)(?=\S*[^\W\d]|\d+[-_/:]\d)\S+(?=[^\S\n]+\S)")
_FEWEST_IDS = 3


def ids_in_another_order(candidates: Stream, references: Stream) -> Iterator[Finding]:
    """Whether all texts begin with ids, as in files of Kaldi. Then a few texts are enough."""
    texts = [stream.data for stream in (candidates, references)]
    if not all(map(_FIRST_IDS.match, texts)):
        return  # other texts are not searched
    own, others = map(_FIRST_IDS.findall, texts)
    is_complete = len({*own}) == len(own) == len(candidates) >= _FEWEST_IDS
    if is_complete and own != others and sorted(own) == sorted(others):
        yield Finding(
            "order",
            True,
            f"{candidates.name} and {references.name} begin with the same ids, such as {own[0]}, "
            "in another order",
            "read them as records with ids: --layout kaldi; or sort both, and remove the ids",
        )


def misplaced(candidates: Stream, references: Stream) -> Iterator[Finding]:
    pair = _Pair(candidates, references)
    if len(pair.numbers) < _FEWEST_SHIFTED:
        return
    places = np.arange(len(pair.numbers))
    own, others = pair.similarities(places), pair.similarities(places - _FARTHEST - 1)
    shift = _shift(pair, own, others)
    if shift is not None:
        offset, first, before = shift
        matching = f"{abs(offset)} {'below' if offset > 0 else 'above'}"
        between = f"between segments {before + 1:,} and {first + 1:,}"
        yield Finding(
            "order",
            True,
            f"from segment {first + 1:,} on, {candidates.name} match {references.name} of "
            f"the segments {matching}, not of their own",
            f"look {between if before >= 0 else 'at the first segments'} for a text that one of "
            "them lacks, or that is in two pieces",
        )
    elif _is_shuffled(own, others):
        yield Finding(
            "order",
            False,
            f"{candidates.name} are no more similar to {references.name} of their own segments "
            "than to those of others",
            "check that both have the same segments in the same order",
        )


def repeated_at_end(candidates: Stream, references: Stream) -> Iterator[Finding]:
    """Whether the last segments are the same as segments before, as in a padded batch."""
    texts = dict(zip(references.numbers.tolist(), references.texts, strict=True))
    own = zip(candidates.numbers.tolist(), candidates.texts, strict=True)
    segments = {number: (text, texts[number]) for number, text in own if number in texts}
    last = max(segments, default=-1)
    for distance in (last - number for number in list(segments)[:-1]):
        repeated = 0
        while segments.get(last - repeated, 0) == segments.get(last - repeated - distance, 1):
            repeated += 1
        repeated = repeated if distance == 1 else min(repeated, distance)
        letters = sum(len(segments[last - place][0]) for place in range(repeated))
        if repeated >= _FEWEST_REPEATED and letters >= _SHORTEST_REPEATED * repeated:
            yield Finding(
                "repeats",
                False,
                f"the last {repeated} segments are the same as segments before them, in "
                f"{candidates.name} and in {references.name}",
                "remove them if a batch was filled up with them",
            )
            return


class _Pair:
    """The segments that candidates and references both have, and how similar their texts are."""

    def __init__(self, candidates: Stream, references: Stream) -> None:
        own, references_by_number = _telling(candidates), _telling(references)
        numbers = [number for number in own if number in references_by_number]
        self.numbers = np.array(numbers, np.int64)
        self._candidates = _cells([own[number] for number in numbers])
        there = _cells([references_by_number[number] for number in numbers])
        times = there.sum(axis=0, dtype=np.int32).tolist()
        # The fewer references have a sequence, the more it tells.
        weights = [(len(numbers) // max(number, 1)).bit_length() for number in times]
        self._references = there * np.array(weights, np.uint8)
        self._sizes = _sums(self._candidates * np.array(weights, np.uint8))

    def similarities(self, places: Integers) -> Floats:
        """The similarity of each candidate to the reference at a place; 1 if all is shared."""
        return _sums(self._candidates * self._references[places]) / self._sizes


def _telling(stream: Stream) -> dict[int, str]:
    times = collections.Counter(stream.texts)
    return {
        number: text
        for number, text in zip(stream.numbers.tolist(), stream.texts, strict=True)
        if times[text] == 1 and len(text) >= _SHORTEST
    }


def _cells(texts: Sequence[str]) -> Bytes:
    encoded = [text[:_COMPARED].encode()[:_COMPARED].lower() for text in texts]
    letters = np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint32)
    rows = np.repeat(np.arange(len(encoded)), [len(text) for text in encoded])
    cells = np.zeros((len(encoded), _CELLS), np.uint8)
    if len(letters) > 3:
        four = letters[3:] | letters[2:-1] << 8 | letters[1:-2] << 16 | letters[:-3] << 24
        # Knuth's multiplicative hash: the upper nine bits.
        hashed = (four * np.uint32(2654435761)) >> np.uint32(23)
        inside = rows[3:] == rows[:-3]
        cells[rows[3:][inside], hashed[inside]] = 1
    return cells


def _sums(weights: Bytes) -> Floats:
    sums: Floats = np.maximum(weights.sum(axis=-1, dtype=np.int32), 1).astype(np.float64)
    return sums


def _shift(pair: _Pair, own: Floats, others: Floats) -> tuple[int, int, int] | None:
    """(how many lines below their own references a range of candidates fits best, the first segment
    of the range, a segment before it that still fits its own reference, or -1 if it may be the
    first); None if there is no range.
    """
    if not _range_of(others - own / _TIMES_BETTER):
        return None  # everywhere, the own references are clearly better than any others
    shifts = []
    for offset in (*range(-_FARTHEST, 0), *range(1, _FARTHEST + 1)):
        places = np.searchsorted(pair.numbers, pair.numbers + offset) % len(own)
        rows = np.flatnonzero(pair.numbers[places] == pair.numbers + offset)
        gain = (pair.similarities(places) - _TIMES_BETTER * own)[rows]
        better = _range_of(gain)
        if better is None:
            continue
        gain, row = gain[better], rows[better.start]
        is_clear = gain.mean() * np.sqrt(len(gain)) > 2 * _CHANCE * gain.std()
        if is_clear and np.mean(gain > 0) > 0.6:
            before = int(pair.numbers[row - _UNSURE]) if row >= _UNSURE else -1
            shifts.append((float(gain.sum()), offset, int(pair.numbers[row]), before))
    return max(shifts)[1:] if shifts else None


def _range_of(gain: Floats) -> slice | None:
    sums = np.concatenate([[0], np.cumsum(gain)])
    stop = int(np.argmax(sums - np.minimum.accumulate(sums)))
    start = int(np.argmin(sums[: stop + 1]))
    return slice(start, stop) if stop - start >= _FEWEST_SHIFTED else None


def _is_shuffled(own: Floats, others: Floats) -> bool:
    """Whether the candidates are no closer to their own references than to those of others."""
    gain = own - others
    return bool(
        len(own) >= _FEWEST_IN_ORDER
        and others.mean() <= _ALIKE
        and gain.mean() * np.sqrt(len(own)) <= _CHANCE * gain.std()
    )
