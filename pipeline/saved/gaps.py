"""Dates that are missing in a series of partitions, such as a day of a month."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Iterable, Iterator

from beam_bleu.transforms.errors import joined

_DATE = re.compile(r"(?<!\d)(\d{4})(-?)(\d{2})(?:\2(\d{2}))?(?!\d)")
_WEEK = 7
_MOST = 5
"""So many missing dates are named."""

_Series = tuple[str, str, str, bool]
"""What labels have in common: the text before the date, the text after it, the hyphen in it, and
whether it is a month."""


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about series of labels in which dates are missing.

    A series has labels that differ only in a date, such as dt=2026-11-21, or in a month, such as
    2026-11. It is one of days if two of its dates are less than a week apart. Otherwise all of its
    dates or months must be as far apart as the two closest ones, or a multiple of that. Labels
    without such a rule are no series.

    Args:
      labels: those of the partitions that are counted together.
    """
    series: dict[_Series, set[int]] = {}
    for label in labels:
        if (found := _DATE.search(label)) and (place := _place(found)) is not None:
            name = label[: found.start()], label[found.end() :], found[2], found[4] is None
            series.setdefault(name, set()).add(place)
    for name, places in sorted(series.items()):
        shortest = 1 if name[3] else _WEEK
        if missing := _missing(sorted(places), shortest):
            labels_of = [_label(name, each) for each in missing]
            first, last = _label(name, min(places)), _label(name, max(places))
            yield (
                f"the partitions from {first} to {last} lack {joined(labels_of, _MOST)}: is a part "
                "of the corpus missing?"
            )


def _place(found: re.Match[str]) -> int | None:
    """The number of a day, or of a month; None if there is no such date."""
    year, _, month, day = found.groups()
    try:
        date = datetime.date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    return date.toordinal() if day else 12 * date.year + date.month - 1


def _label(name: _Series, place: int) -> str:
    before, after, hyphen, is_month = name
    if is_month:
        return f"{before}{place // 12:04}{hyphen}{place % 12 + 1:02}{after}"
    date = datetime.date.fromordinal(place).isoformat().replace("-", hyphen)
    return f"{before}{date}{after}"


def _missing(places: list[int], shortest: int) -> list[int]:
    """The numbers that are missing in a series, which is sorted.

    If two of them are less than `shortest` apart, it is a series of all days.
    """
    apart = [later - former for former, later in itertools.pairwise(places)]
    if not apart:
        return []
    step = 1 if min(apart) < shortest else min(apart)
    if any(each % step for each in apart):
        return []
    return sorted({*range(places[0], places[-1], step)} - {*places})
