"""Finds the results of several nights, and puts them in order.

A night is one result: a folder, a scores.json or a totals.json. Its date comes from its path, or
from the start of its run.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, cast

from beam_bleu.pipeline.gates.read_result import named_if_damaged, read_result
from beam_bleu.pipeline.gates.results import GatedResults, GatedScore
from beam_bleu.pipeline.output.file_names import MANIFEST, RUN_RECORD, SCORES, SUCCESS, TOTALS
from beam_bleu.pipeline.output.manifest import digests_of
from beam_bleu.pipeline.output.result_files import (
    beside,
    exists,
    is_folder,
    is_local,
    named,
    names_below,
    read,
)
from beam_bleu.pipeline.output.run_record import has_passed
from beam_bleu.pipeline.saved.dates import Period, periods_in
from beam_bleu.transforms.definition.choices import require_choice, table
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord

OrderName = Literal["path", "run"]

_OF_RESULTS = (SCORES, TOTALS, RUN_RECORD)
"""A folder with one of these files is that of a run."""

_MOST_DAMAGED = 20
"""So many damaged results are named in one error."""

_NAME_NIGHTS = "name the folders of results, a folder that contains them, or their files"

_BY_NAME = "or name the earlier result: --against DIR"
_BY_RUN = "or order the results by their runs: beam-bleu history --order_by run"


@dataclasses.dataclass(frozen=True)
class Order:
    """A row of `ORDERS`: what puts the nights in order.

    Attributes:
      name: its name.
      description: what it is, for --help.
    """

    name: OrderName
    description: str


ORDERS: Mapping[OrderName, Order] = table(
    Order("path", "the date in the path of each result, such as 2026-11-19, or the month 2026-11"),
    Order("run", "the start of each run, as its run.json has it"),
)
"""What puts the nights in order. Without a choice, it is the first one that all of them have."""


@dataclasses.dataclass(frozen=True)
class Moment:
    """When a night was; a night with a smaller one was earlier.

    Attributes:
      place: its number: that of a day or a month, or seconds since 1970.
      text: how a reader sees it.
      period: the day or the month; None if it is the start of a run.
    """

    place: float
    text: str
    period: Period | None = None

    @property
    def is_month(self) -> bool:
        """Whether it is a month."""
        return self.period is not None and self.period.is_month


class Key(NamedTuple):
    """What a series is of.

    Attributes:
      metric: the metric, as commands write it.
      of_slice: the text of the slice, such as domain=news; "" for the whole corpus.
      system: the system.
    """

    metric: MetricWord
    of_slice: str
    system: str


@dataclasses.dataclass(frozen=True)
class Texts:
    """What is known of the texts that were scored.

    Attributes:
      labels: the labels of the partitions; None for one without a label.
      references: the digests of the references; () if they are not known.
      records: the digests of records, which have references and candidates; () if there are none.
      segments: the number of segments.
      is_resampled: whether the result has replicates (--resample).
    """

    labels: tuple[str | None, ...]
    references: tuple[str, ...]
    records: tuple[str, ...]
    segments: int
    is_resampled: bool


@dataclasses.dataclass(frozen=True)
class Night:
    """The result of a night, or a run that has none.

    Attributes:
      moment: when it was.
      path: where it is.
      failure: why there is no result; "" if there is one.
      metrics: what gates see of its metrics; empty if there is no result.
      texts: what is known of its texts; None if there is no result.
      totals: the path of its totals.json; "" if there is none.
    """

    moment: Moment
    path: str
    failure: str = ""
    metrics: GatedResults = dataclasses.field(default_factory=dict)
    texts: Texts | None = None
    totals: str = ""

    @property
    def scores(self) -> Iterator[tuple[Key, GatedScore]]:
        """All scores, metric by metric."""
        for metric, result in self.metrics.items():
            for (of_slice, system), score in result.scores.items():
                yield Key(metric, of_slice, system), score


def read_nights(
    words: Sequence[str], order: OrderName | None = None
) -> tuple[list[Night], list[str]]:
    """The nights in some folders and files, in their order.

    Args:
      words: folders of results, folders that contain such folders, scores.json and totals.json
        files, and patterns of them.
      order: what puts them in order; None for the dates in their paths, or if no path has one,
        the start of their runs.

    Returns:
      The nights; and the paths of merged months that a folder contains beside its nights, which
      are left out.

    Raises:
      InputError: there are no results, some are damaged or missing, or their
        order is not known.
    """
    if order is not None:
        require_choice("order_by", order, ORDERS)
    is_named = {
        found: found == path for word in words for path in named(word) for found in results_at(path)
    }
    if order is None:
        order = "path" if any(map(periods_in, is_named)) else "run"
    of_path = _dated if order == "path" else _started
    moments = {path: of_path(path) for path in is_named}
    months = {path for path, moment in moments.items() if moment.is_month}
    left_out = [path for path in months if not is_named[path]] if len(months) < len(moments) else []
    for path in left_out:
        del moments[path]
    nights: list[Night] = []
    damaged: list[InputError] = []
    for path, moment in _in_order(moments, _BY_RUN if order == "path" else ""):
        try:
            nights.append(_night(path, moment))
        except InputError as error:
            damaged.append(error)
    if len(damaged) == 1:
        raise damaged[0]
    if damaged:
        raise InputError(
            f"{len(damaged)} of {len(moments)} results cannot be read: "
            + joined([error.cause for error in damaged], _MOST_DAMAGED, "; "),
            damaged[0].remedy,
        )
    return nights, sorted(left_out)


def are_nights_around(folder: str, result: str) -> bool:
    """Whether a folder contains a result among others, and has none of its own."""
    is_inside = _inside(folder, result) is not None
    folder = folder.removeprefix("file://")
    return is_inside and is_folder(folder) and not _is_result(folder)


def _inside(folder: str, path: str) -> str | None:
    """The part of a path that is below a folder; None if it is not below it."""
    folder, path = (
        os.path.realpath(name) if is_local(name) else name.rstrip("/")
        for name in (folder.removeprefix("file://"), path.removeprefix("file://"))
    )
    above = f"{folder.rstrip('/')}/"
    return path.removeprefix(above) if path.startswith(above) else None


def last_passed(folder: str, result: str) -> str | None:
    """The last night in a folder before a result that misses no threshold; None if there is none.

    A night that no gate has judged misses none. Dates in the path of the folder do not count.

    Args:
      folder: it contains the folders of nights.
      result: the result; it need not be there yet.

    Raises:
      InputError: the date of the result or of a night is not known, or a run.json is damaged.
    """
    moment = _dated(result, _BY_NAME, folder)
    below = _below(folder.removeprefix("file://"))
    nights = {path: _dated(path, _BY_NAME, folder) for path in below}
    before = {
        path: night
        for path, night in nights.items()
        if night.is_month == moment.is_month and night.place < moment.place
    }
    for path, _ in reversed(_in_order(before, _BY_NAME)):
        if exists(_in_folder(path, SUCCESS)):
            file = _in_folder(path, RUN_RECORD)
            if not exists(file) or has_passed(_record(file)):
                return path
    return None


def are_several(words: Sequence[str]) -> bool:
    """Whether words of the command line name several results, perhaps as one folder of nights."""
    if len(words) > 1:
        return True
    path = words[0].removeprefix("file://")
    return is_folder(path) and not _is_result(path) and next(_below(path), None) is not None


def results_at(path: str) -> list[str]:
    """The results that a path names: its own, or those of the folders below it.

    Raises:
      InputError: there are none, or it is not clear which ones are meant.
    """
    if not is_folder(path):
        if not exists(path):
            raise InputError(f"there is no {path}", _NAME_NIGHTS)
        return [path]
    below = sorted(_below(path))
    if not _is_result(path):
        if not below:
            raise InputError(f"{path} has no results of beam-bleu", _NAME_NIGHTS)
        return below
    if below:
        raise InputError(
            f"{path} has a result of its own, and contains others: {joined(below)}",
            "name those that belong to the history",
        )
    return [path]


def _below(folder: str) -> Iterator[str]:
    """The folders of results below a folder. Links and hidden folders are not looked at."""
    if not is_local(folder):
        yield from _below_on_object_store(folder.rstrip("/"))
        return
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        if where != folder and not {*_OF_RESULTS}.isdisjoint(files):
            folders.clear()
            yield where


def _below_on_object_store(folder: str) -> Iterator[str]:
    """Does the same where there are no folders, only names with slashes."""
    in_folders = (name.rpartition("/") for name in names_below(folder))
    results = {where for where, _, name in in_folders if where and name in _OF_RESULTS}
    for where in results:
        parts = where.split("/")
        if not any("/".join(parts[:end]) in results for end in range(1, len(parts))):
            yield f"{folder}/{where}"


def _is_result(folder: str) -> bool:
    return any(exists(f"{folder.rstrip('/')}/{name}") for name in _OF_RESULTS)


def _in_order(moments: Mapping[str, Moment], otherwise: str) -> list[tuple[str, Moment]]:
    """The results in their order, with their moments.

    Args:
      moments: the moment of each result.
      otherwise: what else to do if two have the same moment; "" for nothing.

    Raises:
      InputError: days and months are mixed, or two results have the same moment.
    """
    kinds = {moment.is_month: path for path, moment in moments.items()}
    if len(kinds) > 1:
        raise InputError(
            f"{kinds[True]} is of a month, and {kinds[False]} of a day",
            "name only days, or only months",
        )
    ordered = sorted(moments.items(), key=lambda item: item[1].place)
    for (former, moment), (path, other) in itertools.pairwise(ordered):
        if moment.place == other.place:
            raise InputError(
                f"{former} and {path} are both of {moment.text}",
                "; ".join(filter(None, ("name only one of them", otherwise))),
            )
    return ordered


def _dated(path: str, otherwise: str = _BY_RUN, folder: str = "") -> Moment:
    """The date in a path; only in its part below a folder, if one is given.

    Raises:
      InputError: there is none, or there are several. The message ends with what else to do.
    """
    periods = periods_in((folder and _inside(folder, path)) or path)
    if len(periods) != 1:
        dates = joined([period.text() for period in periods])
        raise InputError(
            f"{path} has several dates in its path: {dates}"
            if periods
            else f"{path} has no date in its path, such as 2026-11-19 or dt=2026-11-19",
            f"name paths with one date each, perhaps relative to another folder; {otherwise}",
        )
    return Moment(periods[0].place, periods[0].text(), periods[0])


def _started(path: str) -> Moment:
    """The start of the run of a result.

    Raises:
      InputError: it has no run.json, or a damaged one.
    """
    file = _in_folder(path, RUN_RECORD)
    if not exists(file):
        raise InputError(
            f"{path} has neither a date in its path nor a {RUN_RECORD}, so its place in the "
            "history is not known",
            "rename its folder to its date, such as 2026-11-19",
        )
    start = _record(file)["start"]
    return Moment(datetime.fromisoformat(start.replace("Z", "+00:00")).timestamp(), start)


def _record(file: str) -> Mapping[str, Any]:
    """The content of a run.json.

    Raises:
      InputError: it is damaged.
    """
    try:
        record = json.loads(read(file))
        datetime.fromisoformat(record["start"].replace("Z", "+00:00"))
        if not isinstance(record["state"], str) or not isinstance(record["message"], str | None):
            raise TypeError(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(file, RUN_RECORD) from error
    return cast("Mapping[str, Any]", record)


def _in_folder(path: str, name: str) -> str:
    """The path of a file in the folder of a result, or beside a result that is a file."""
    return f"{path.rstrip('/')}/{name}" if is_folder(path) else beside(path, name)


def _night(path: str, moment: Moment) -> Night:
    """What a night's folder or file holds.

    Raises:
      InputError: it is damaged.
    """
    if is_folder(path) and not exists(_in_folder(path, SUCCESS)):
        return Night(moment, path, _failure(_in_folder(path, RUN_RECORD)))
    result = read_result(path)
    document = result.document
    with named_if_damaged(path):
        texts = Texts(
            tuple(document.get("partitions", [document.get("partition")])),
            *_digests(path),
            int(document["segments"]),
            document.get("resampling") is not None,
        )
    return Night(moment, path, "", result.metrics, texts, _totals(path))


def _totals(path: str) -> str:
    """The path of the totals.json of a result; "" if it has none.

    A scores.json that is named can be a copy, with files of other results beside it.
    """
    if not is_folder(path):
        return path if path.rpartition("/")[2] == TOTALS else ""
    totals = _in_folder(path, TOTALS)
    return totals if exists(totals) else ""


def _failure(file: str) -> str:
    """Why a folder has no result of its last run, by its run.json."""
    if not exists(file):
        return f"there is no {SUCCESS}: the last run failed, or is under way"
    record = _record(file)
    if record["state"] == "running":
        return "the run has not ended: it is under way, or was killed"
    if record["state"] == "failed":
        return f"the run failed: {record['message'] or 'without a message'}"
    return f"there is no {SUCCESS}, and its {RUN_RECORD} says {record['state']}"


def _digests(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The digests of the references, and those of records.

    Both are empty without a manifest.json. One that is beside a scores.json can be that of another
    result if the user has named the file and not its folder.

    Raises:
      InputError: the manifest.json is damaged.
    """
    file = _in_folder(path, MANIFEST)
    if not is_folder(path) or not exists(file):
        return (), ()
    try:
        streams = json.loads(read(file))["streams"]
        return digests_of(streams, "references"), digests_of(streams, "records")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(file, MANIFEST) from error


def _damaged(file: str, name: str) -> InputError:
    return InputError(
        f"{file} is not a {name} of beam-bleu, or it is damaged", "repeat the run of this night"
    )
