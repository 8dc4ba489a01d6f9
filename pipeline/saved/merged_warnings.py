"""The warnings of a source about several partitions, as those of one run over all of them.

Sources put numbers into sentences, and here the numbers of equal sentences are added up.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Sequence

from beam_bleu.transforms.shown_names import natural_key

_ROLES = ("references", "candidates")
"""The first words of labels, in the order of the streams."""

_SHOWN_IDS = 3
"""So many ids are named in a warning of a join (`SHOWN` of joins/coverage.py)."""


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A row of `SENTENCES`.

    Attributes:
      pattern: a sentence, with the groups `label` and `count`.
      merged: the sentence of several matches with the same label, in a corpus with this number
        of segments.
      block: the number of the group of sentences in which a source writes it.
    """

    pattern: re.Pattern[str]
    merged: Callable[[Sequence[re.Match[str]], int], str]
    block: int


def merged_warnings(
    parts: Iterable[Sequence[str]], systems: Sequence[str], segments: int | None
) -> tuple[str, ...]:
    """The warnings of one run over all partitions.

    Args:
      parts: the warnings of each partition.
      systems: the systems' names, in the order of the result.
      segments: the number of segments that all systems of a join should have, of all partitions;
        None if the input is not a join.
    """
    by_sentence: dict[tuple[int, str], list[re.Match[str]]] = {}
    others: dict[str, None] = {}
    for warning in itertools.chain.from_iterable(parts):
        for number, sentence in enumerate(SENTENCES):
            if match := sentence.pattern.fullmatch(warning):
                by_sentence.setdefault((number, match["label"]), []).append(match)
                break
        else:
            others[warning] = None
    ranks = {f"candidates {system}": rank for rank, system in enumerate(systems)}

    def place(key: tuple[int, str]) -> tuple[object, ...]:
        number, label = key
        role = label.split(" ")[0]
        return (
            SENTENCES[number].block,
            _ROLES.index(role) if role in _ROLES else len(_ROLES),
            ranks.get(label, 0),
            natural_key(label),
            number,
        )

    merged = [
        SENTENCES[key[0]].merged(by_sentence[key], segments or 0)
        for key in sorted(by_sentence, key=place)
    ]
    return (*merged, *others)


def _count(matches: Iterable[re.Match[str]]) -> int:
    return sum(int(match["count"].replace(",", "")) for match in matches)


def _nuls(matches: Sequence[re.Match[str]], segments: int) -> str:
    nuls = _count(matches)
    return (
        f"{matches[0]['label']}: the text has {nuls} NUL "
        f"{'character' if nuls == 1 else 'characters'} (U+0000), scored like any other "
        "character; check how the text was made"
    )


def _missing(matches: Sequence[re.Match[str]], segments: int) -> str:
    count = _count(matches)
    verb = "is" if count == 1 else "are"
    return f"{matches[0]['label']}: {count:,} of {segments:,} segments {verb} missing"


def _left_out(matches: Sequence[re.Match[str]], segments: int) -> str:
    count = _count(matches)
    verb = "is" if count == 1 else "are"
    return (
        f"{matches[0]['label']}: {count:,} of {segments:,} segments {verb} left out for all systems"
    )


def _unknown(matches: Sequence[re.Match[str]], segments: int) -> str:
    count = _count(matches)
    ids = [row_id for match in matches for row_id in match["ids"].split(", ")][:_SHOWN_IDS]
    more = count - len(ids)
    return (
        f"{matches[0]['label']}: {count:,} {'record has' if count == 1 else 'records have'} an id "
        f"that {matches[0]['sides']} do not have, and cannot be scored: {', '.join(ids)}"
        + (f" and {more:,} more" if more else "")
    )


_NUMBER = r"[0-9][0-9,]*"

SENTENCES = (
    Sentence(re.compile(rf"(?P<label>.+): the text has (?P<count>{_NUMBER}) NUL .*"), _nuls, 0),
    Sentence(
        re.compile(rf"(?P<label>.+): (?P<count>{_NUMBER}) of {_NUMBER} segments (is|are) missing"),
        _missing,
        1,
    ),
    Sentence(
        re.compile(
            rf"(?P<label>.+): (?P<count>{_NUMBER}) records? ha(s|ve) an id that (?P<sides>.+) do "
            rf"not have, and cannot be scored: (?P<ids>.+?)( and {_NUMBER} more)?"
        ),
        _unknown,
        1,
    ),
    Sentence(
        re.compile(
            rf"(?P<label>--coverage \w+): (?P<count>{_NUMBER}) of {_NUMBER} segments "
            "(is|are) left out for all systems"
        ),
        _left_out,
        2,
    ),
)
"""The sentences with numbers, in the order in which a source writes those of one label."""
