"""Dates in labels and paths: which day or month they name, and which days a series lacks."""

from __future__ import annotations

import collections
import datetime
import itertools
import re
from collections.abc import Iterable, Iterator

from beam_bleu.transforms.errors import joined

_DATE = re.compile(r"(?<!\d)((?:19|20|21)\d\d)(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))(?!\d)")
_WEEK = 7
_MOST_DATES = 5  # so many missing dates are named


def dates_in(text: str) -> list[str]:
    """The days that a text names, such as 2026-11-21, in order; without days, the months."""
    days: set[str] = set()
    months: set[str] = set()
    for year, month, day, month_without_hyphen, day_without_hyphen in _DATE.findall(text):
        number = day or day_without_hyphen
        date = f"{year}-{month or month_without_hyphen}-{number or '01'}"
        try:
            datetime.date.fromisoformat(date)
        except ValueError:
            continue
        (days if number else months).add(date if number else date[: len("2026-11")])
    return sorted(days or months)


def missing_days(dates: Iterable[str]) -> list[datetime.date]:
    """The days that a series of days lacks, if two of its days are less than a week apart."""
    days = sorted({datetime.date.fromisoformat(date) for date in dates if date.count("-") == 2})
    apart = [(later - former).days for former, later in itertools.pairwise(days)]
    if min(apart, default=_WEEK) >= _WEEK:
        return []
    between = map(datetime.date.fromordinal, range(days[0].toordinal(), days[-1].toordinal()))
    return [day for day in between if day not in days]


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about missing days in labels that differ only in a date, such as dt=2026-11-21."""
    series: dict[str, list[str]] = collections.defaultdict(list)
    for label in labels:
        dates = dates_in(label)
        if len(dates) == 1:
            series[_DATE.sub("", label)] += dates
    for dates in series.values():
        if missing := missing_days(dates):
            yield (
                f"the partitions from {min(dates)} to {max(dates)} lack "
                f"{joined([day.isoformat() for day in missing], _MOST_DATES)}: is a part of the "
                "corpus missing?"
            )
