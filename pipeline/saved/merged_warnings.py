"""The warnings about several partitions.

Those of a source are the warnings of one run over all partitions: sources put numbers into
sentences, and here the numbers of equal sentences are added up. Others name dates that are missing
in the labels of the partitions.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.shown_names import natural_key

_ROLES = ("references", "candidates")
"""The first words of labels, in the order of the streams."""

_SHOWN_IDS = 3
"""So many ids are named in a warning of a join (`SHOWN` of joins/coverage.py)."""

_DATE = re.compile(r"(?<!\d)(\d{4})(-?)(\d{2})(?:\2(\d{2}))?(?!\d)")
_WEEK = 7
_MOST_DATES = 5
"""So many missing dates are named."""

_Series = tuple[str, str, str, bool]
"""What labels have in common: the text before the date, the text after it, the hyphen in it, and
whether it is a month."""


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


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about series of labels in which dates are missing.

    A series has labels that differ only in a date, such as dt=2026-11-21, or in a month, such as
    2026-11. It is one of days if two of its dates are less than a week apart. Otherwise all of its
    dates or months must be as far apart as the two closest ones, or a multiple of that. Labels
    without such a rule are not a series.

    Args:
      labels: those of the partitions that are counted together.
    """
    series: dict[_Series, set[int]] = {}
    for label in labels:
        if (match := _DATE.search(label)) and (place := _place(match)) is not None:
            name = label[: match.start()], label[match.end() :], match[2], match[4] is None
            series.setdefault(name, set()).add(place)
    for name, places in sorted(series.items()):
        shortest = 1 if name[3] else _WEEK
        if missing := _places_between(sorted(places), shortest):
            labels_of = [_label_at(name, number) for number in missing]
            first, last = _label_at(name, min(places)), _label_at(name, max(places))
            yield (
                f"the partitions from {first} to {last} lack {joined(labels_of, _MOST_DATES)}: "
                "is a part of the corpus missing?"
            )


def _place(match: re.Match[str]) -> int | None:
    """The number of a day, or of a month; None if there is no such date."""
    year, _, month, day = match.groups()
    try:
        date = datetime.date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    return date.toordinal() if day else 12 * date.year + date.month - 1


def _label_at(name: _Series, place: int) -> str:
    before, after, hyphen, is_month = name
    if is_month:
        return f"{before}{place // 12:04}{hyphen}{place % 12 + 1:02}{after}"
    date = datetime.date.fromordinal(place).isoformat().replace("-", hyphen)
    return f"{before}{date}{after}"


def _places_between(places: list[int], shortest: int) -> list[int]:
    """The numbers that are missing in a series, which is sorted.

    If two of them are less than `shortest` apart, it is a series of all days.
    """
    apart = [later - former for former, later in itertools.pairwise(places)]
    if not apart:
        return []
    step = 1 if min(apart) < shortest else min(apart)
    if any(distance % step for distance in apart):
        return []
    return sorted({*range(places[0], places[-1], step)} - {*places})
