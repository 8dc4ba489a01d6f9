"""Dates in labels and paths: which day or month they name, and which ones a series lacks."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.transforms.errors import joined

_DATE = re.compile(r"(?<!\d)(\d{4})(-?)(\d{2})(?:\2(\d{2}))?(?!\d)")
_WEEK = 7
_MOST_DATES = 5
"""So many missing dates are named."""

_YEARS = range(1970, 2200)
"""In a path, a number with four digits in front can also be that of a process or of a part."""

_Series = tuple[str, str, str, bool]
"""What labels have in common: the text before the date, the text after it, the hyphen in it, and
whether it is a month."""


@dataclasses.dataclass(frozen=True, order=True)
class Period:
    """A day or a month.

    Attributes:
      place: its number: days and months are counted from the year 1 on.
      is_month: whether it is a month.
    """

    place: int
    is_month: bool = False

    def text(self, hyphen: str = "-") -> str:
        """Its date: 2026-11-21, or 2026-11."""
        if self.is_month:
            return f"{self.place // 12:04}{hyphen}{self.place % 12 + 1:02}"
        return datetime.date.fromordinal(self.place).isoformat().replace("-", hyphen)

    def later(self, number: int) -> Period:
        """The day or the month that is this number of days or months later."""
        return Period(self.place + number, self.is_month)


def periods_in(path: str) -> list[Period]:
    """The days and months that a path names, in their order; a month only with its hyphen.

    A month that contains a day of the path says nothing more, so it is left out.
    """
    dates = {
        period
        for match in _DATE.finditer(path)
        if int(match[1]) in _YEARS and (match[2] or match[4])
        if (period := _period(match)) is not None
    }
    months_of_days = {period.text()[:7] for period in dates if not period.is_month}
    return sorted(
        (period for period in dates if not (period.is_month and period.text() in months_of_days)),
        key=lambda period: (period.is_month, period.place),
    )


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about series of labels in which dates are missing.

    A series has labels that differ only in a date, such as dt=2026-11-21, or in a month, such as
    2026-11. Labels without a rule (`missing_between`) are not a series.

    Args:
      labels: those of the partitions that are counted together.
    """
    series: dict[_Series, set[Period]] = {}
    for label in labels:
        if (match := _DATE.search(label)) and (period := _period(match)) is not None:
            name = label[: match.start()], label[match.end() :], match[2], period.is_month
            series.setdefault(name, set()).add(period)
    for (before, after, hyphen, _), periods in sorted(series.items(), key=lambda item: item[0]):
        if missing := missing_between(sorted(periods)):
            first, last, *labels_of = (
                f"{before}{period.text(hyphen)}{after}"
                for period in (min(periods), max(periods), *missing)
            )
            yield (
                f"the partitions from {first} to {last} lack {joined(labels_of, _MOST_DATES)}: "
                "is a part of the corpus missing?"
            )


def missing_between(periods: Sequence[Period]) -> list[Period]:
    """The days or months that a series lacks.

    A series is one of all days if two of its days are less than a week apart. Otherwise all of its
    dates or months must be as far apart as the two closest ones, or a multiple of that: without
    such a rule nothing is known to be missing.

    Args:
      periods: the days, or the months, of the series, in their order.
    """
    places = [period.place for period in periods]
    apart = [later - former for former, later in itertools.pairwise(places)]
    if not apart:
        return []
    is_month = periods[0].is_month
    step = 1 if min(apart) < (1 if is_month else _WEEK) else min(apart)
    if any(distance % step for distance in apart):
        return []
    missing = {*range(places[0], places[-1], step)} - {*places}
    return [Period(place, is_month) for place in sorted(missing)]


def _period(match: re.Match[str]) -> Period | None:
    """The day or the month; None if there is no such date."""
    year, _, month, day = match.groups()
    try:
        date = datetime.date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    return Period(date.toordinal()) if day else Period(12 * date.year + date.month - 1, True)
