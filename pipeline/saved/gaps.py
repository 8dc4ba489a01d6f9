"""Dates that are missing in a series of partitions, such as a day of a month."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Iterable, Iterator

from beam_bleu.transforms.errors import joined

_DATE = re.compile(r"(?<!\d)(\d{4})(-?)(\d{2})\2(\d{2})(?!\d)")
_WEEK = 7
_MOST = 5
"""So many missing dates are named."""

_Series = tuple[str, str, str]
"""What labels have in common: the text before the date, the text after it, and the hyphen in it."""


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about series of labels in which dates are missing.

    A series has labels that differ only in a date, such as dt=2026-11-21. It is one of days if two
    of its dates are less than a week apart. Otherwise all of its dates must be as far apart as the
    two closest ones, or a multiple of that. Labels without such a rule are no series.

    Args:
      labels: those of the partitions that are counted together.
    """
    series: dict[_Series, set[datetime.date]] = {}
    for label in labels:
        if (found := _DATE.search(label)) and (date := _date(found)):
            name = label[: found.start()], label[found.end() :], found[2]
            series.setdefault(name, set()).add(date)
    for name, dates in sorted(series.items()):
        if missing := _missing(sorted(dates)):
            labels_of = [_label(name, each) for each in missing]
            first, last = _label(name, min(dates)), _label(name, max(dates))
            yield (
                f"the partitions from {first} to {last} lack {joined(labels_of, _MOST)}: is a part "
                "of the corpus missing?"
            )


def _date(found: re.Match[str]) -> datetime.date | None:
    year, _, month, day = found.groups()
    try:
        return datetime.date(int(year), int(month), int(day))
    except ValueError:
        return None


def _label(name: _Series, date: datetime.date) -> str:
    before, after, hyphen = name
    return f"{before}{date.isoformat().replace('-', hyphen)}{after}"


def _missing(dates: list[datetime.date]) -> list[datetime.date]:
    """The dates that are missing in a series, which is sorted."""
    days = [(later - former).days for former, later in itertools.pairwise(dates)]
    if not days:
        return []
    step = 1 if min(days) < _WEEK else min(days)
    if any(each % step for each in days):
        return []
    every = range(0, sum(days), step)
    there = {*dates}
    all_dates = (dates[0] + datetime.timedelta(days=each) for each in every)
    return [each for each in all_dates if each not in there]
