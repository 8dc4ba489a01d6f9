"""Dates in labels and paths: which day or month they name, and which ones a series lacks."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.transforms.errors import joined

_DATE = re.compile(r"(?<!\d)((?:19|20|21)\d\d)(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))(?!\d)")
_WEEK = 7
_MOST_DATES = 5
"""So many missing dates are named."""


@dataclasses.dataclass(frozen=True, order=True)
class Period:
    """A day or a month.

    Attributes:
      place: its number: days and months are counted from the year 1 on.
      is_month: whether it is a month.
    """

    place: int
    is_month: bool = False

    def text(self) -> str:
        """Its date: 2026-11-21, or 2026-11."""
        if self.is_month:
            return f"{self.place // 12:04}-{self.place % 12 + 1:02}"
        return datetime.date.fromordinal(self.place).isoformat()


def periods_in(text: str) -> list[Period]:
    """The days that a label or a path names, in their order; without days, the months."""
    periods: set[Period] = set()
    for year, month, day, month_without_hyphen, day_without_hyphen in _DATE.findall(text):
        number = day or day_without_hyphen
        try:
            date = datetime.date(
                int(year), int(month or month_without_hyphen), int(number) if number else 1
            )
        except ValueError:
            continue
        periods.add(
            Period(date.toordinal()) if number else Period(12 * date.year + date.month - 1, True)
        )
    days = {period for period in periods if not period.is_month}
    return sorted(days or periods)


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about missing dates in labels that differ only in a date, such as dt=2026-11-21.

    Args:
      labels: those of the partitions that are counted together.
    """
    series: dict[tuple[str, bool], set[Period]] = collections.defaultdict(set)
    for label in labels:
        periods = periods_in(label)
        if len(periods) == 1:
            series[_DATE.sub("", label), periods[0].is_month].update(periods)
    for dates in series.values():
        if missing := missing_between(sorted(dates)):
            yield (
                f"the partitions from {min(dates).text()} to {max(dates).text()} lack "
                f"{joined([period.text() for period in missing], _MOST_DATES)}: is a part of the "
                "corpus missing?"
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
    distances = [later - former for former, later in itertools.pairwise(places)]
    if not distances:
        return []
    step = min(distances) if periods[0].is_month or min(distances) >= _WEEK else 1
    if any(distance % step for distance in distances):
        return []
    present = {*places}
    return [
        Period(place, periods[0].is_month)
        for place in range(places[0], places[-1], step)
        if place not in present
    ]
