"""Finds and reads the results of several nights, and puts them in the order of their dates."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.folder.file_names import RUN_RECORD, SCORES, SUCCESS, TOTALS
from beam_bleu.pipeline.folder.storage import visible_files
from beam_bleu.pipeline.result.rows import Key, ScoreRow, series_of
from beam_bleu.pipeline.saved.saved_result import (
    SavedResult,
    exists,
    is_folder,
    named,
    named_if_damaged,
    of_input,
    read,
    result_at,
)
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.wiring.filesystems import is_local

OrderName = Literal["path", "run"]

_OF_RESULTS = (SCORES, TOTALS, RUN_RECORD)  # a folder with one of these files is that of a run

_NAME_NIGHTS = "name the folders of results, a folder that contains them, or their files"

_ONE_DATE = "name paths with one date each, use --order_by run, or name the earlier result itself"

ORDERS: Mapping[OrderName, str] = {
    "path": "the date in the path of each result, such as 2026-11-19, or the month 2026-11",
    "run": "the start of each run, as its run.json has it",
}
"""What nights are ordered by. The default is the first of these that all of them have."""


_DATE = re.compile(r"(?<!\d)((?:19|20|21)\d\d)(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))(?!\d)")
_WEEK = 7
_MOST_DATES = 5  # the most missing dates that a warning names


@dataclasses.dataclass(frozen=True)
class Night:
    """The result of a night, or why its run has none. Names, sorted as texts, are in time order.

    `missed` says which thresholds the result misses, by the last gate that judged it.
    """

    path: str
    name: str
    saved: SavedResult | None = None
    failure: str = ""
    missed: str = ""

    @functools.cached_property
    def scores(self) -> Mapping[Key, ScoreRow]:
        return {} if self.saved is None else series_of(self.saved.result)


def read_nights(words: Sequence[str], order: OrderName | None = None) -> list[Night]:
    """The nights at these paths, ordered by the dates in the paths, or by when their runs began."""
    paths = result_paths(words)
    if order is None:
        order = "path" if any(map(dates_in, paths)) else "run"
    nights = [_dated(path) if order == "path" else _started(path) for path in paths]
    return [with_result(night) for night in _in_order(nights)]


def are_nights_around(folder: str, result: str) -> bool:
    """Whether a folder contains this result among others, and is not itself a result."""
    below, folder = inside(folder, result), folder.removeprefix("file://")
    return bool(below) and is_folder(folder) and not _is_result(folder)


def inside(folder: str, path: str) -> str | None:
    """A path relative to a folder above it; "" for the folder itself, None outside of it."""
    folder, path = (
        os.path.realpath(name) if is_local(name) else name.rstrip("/")
        for name in (folder.removeprefix("file://"), path.removeprefix("file://"))
    )
    above = f"{folder.rstrip('/')}/"
    return path.removeprefix(above) if path.startswith(above) else "" if path == folder else None


def last_passed(folder: str, result: str) -> str | None:
    """The last night before a result that passed its gates, by dates in paths below the folder."""
    new = _dated(result, folder)
    nights = [_dated(path, folder) for path in _below(folder.removeprefix("file://"))]
    # By the length of names: a merged month is not compared with nights.
    before = [own for own in nights if own.name < new.name and len(own.name) == len(new.name)]
    for night in reversed(_in_order(before)):
        is_last = exists(_in_folder(night.path, SUCCESS))
        if is_last and (_record(night.path) or {}).get("verdict") != "failed":
            return night.path
    return None


def are_several(words: Sequence[str]) -> bool:
    """Whether arguments name several results, perhaps as one folder of nights."""
    if len(words) > 1:
        return True
    path = words[0].removeprefix("file://")
    return is_folder(path) and not _is_result(path) and next(_below(path), None) is not None


def result_paths(words: Sequence[str]) -> list[str]:
    found = (each for word in words for path in named(word) for each in results_at(path))
    return [*dict.fromkeys(found)]


def results_at(path: str) -> list[str]:
    if not is_folder(path):
        if not exists(path):
            raise InputError(f"there is no {path}", _NAME_NIGHTS)
        return [path]
    results = [path] if _is_result(path) else [*_below(path)]
    if not results:
        raise InputError(f"{path} has no results of beam-bleu", _NAME_NIGHTS)
    return results


def _below(folder: str) -> Iterator[str]:
    """The folders of results below a folder. Links and hidden folders are skipped."""
    with of_input():
        files = visible_files(folder)
    in_folders = (name.rpartition("/") for name in files)
    results = {where for where, _, name in in_folders if where and name in _OF_RESULTS}
    for where in sorted(results):
        parts = where.split("/")
        if not any("/".join(parts[:end]) in results for end in range(1, len(parts))):
            yield f"{folder.rstrip('/')}/{where}"


def _is_result(folder: str) -> bool:
    return any(exists(f"{folder.rstrip('/')}/{name}") for name in _OF_RESULTS)


def _in_order(nights: Sequence[Night]) -> list[Night]:
    """The nights in order. Merged months among them are left out, with a warning."""
    ordered = sorted(nights, key=lambda night: night.name)
    longest = max((len(night.name) for night in nights), default=0)
    for night in ordered:
        if len(night.name) < longest:
            warn(f"{night.path} is a whole month, and not a night: left out")
    ordered = [night for night in ordered if len(night.name) == longest]
    for former, night in itertools.pairwise(ordered):
        if former.name == night.name:
            raise InputError(f"{former.path} and {night.path} are both of {night.name}", _ONE_DATE)
    return ordered


def _dated(path: str, folder: str = "") -> Night:
    """The night by the date in a path; with a folder, in the part of the path below it."""
    dates = dates_in((folder and inside(folder, path)) or path)
    if len(dates) != 1:
        which = f"several dates in its path: {joined(dates)}" if dates else "no date in its path"
        raise InputError(f"{path} has {which}", _ONE_DATE)
    return Night(path, dates[0])


def _started(path: str) -> Night:
    record = _record(path)
    if record is None:
        raise InputError(
            f"{path} has neither a date in its path nor a {RUN_RECORD}",
            "rename its folder to its date, such as 2026-11-19",
        )
    return Night(path, record["start"])


def _record(path: str) -> Mapping[str, Any] | None:
    file = _in_folder(path, RUN_RECORD)
    if not exists(file):
        return None
    with named_if_damaged(file):
        record: Mapping[str, Any] = json.loads(read(file))
        if not dates_in(record["start"]):
            raise ValueError(file)
        return record


def _in_folder(path: str, name: str) -> str:
    return os.path.join(path if is_folder(path) else os.path.dirname(path), name)


def with_result(night: Night) -> Night:
    # A file that is named may be a copy, to which no record belongs.
    record = (_record(night.path) if is_folder(night.path) else None) or {}
    if not is_folder(night.path) or exists(_in_folder(night.path, SUCCESS)):
        missed = record.get("verdict_message") or ""
        return dataclasses.replace(night, saved=result_at(night.path), missed=missed)
    failure = f"there is no {SUCCESS}: the last run failed, or is under way"
    if record.get("state") == "failed":
        failure = f"the run failed: {record['message'] or 'without a message'}"
    return dataclasses.replace(night, failure=failure)


def dates_in(text: str) -> list[str]:
    """The days in a text, such as 2026-11-21, in order; if it has none, the months."""
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
    """The days missing from a series of dates, if two of its days are less than a week apart."""
    days = sorted({datetime.date.fromisoformat(date) for date in dates if date.count("-") == 2})
    apart = [(later - former).days for former, later in itertools.pairwise(days)]
    if min(apart, default=_WEEK) >= _WEEK:
        return []
    between = map(datetime.date.fromordinal, range(days[0].toordinal(), days[-1].toordinal()))
    return [day for day in between if day not in days]


def missing_dates(labels: Iterable[str]) -> Iterator[str]:
    """Warnings about days missing from labels that differ only in a date, such as dt=2026-11-21."""
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
