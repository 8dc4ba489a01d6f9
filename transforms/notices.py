"""Notices about the texts for readers of the scores: values that add up, worded at the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

NoticeCode = Literal["nul", "missing", "unknown", "left-out", "documents", "sample"]

SHOWN_IDS = 3  # how many ids a message names


@dataclasses.dataclass(frozen=True)
class Notice:
    """Something that was found in the texts of a corpus, or of a part of it.

    Attributes:
      about: what its sentence begins with; the whole sentence for "sample", because what one part
        of a corpus shows cannot be added to that of others.
      count: how many characters, records or segments. If it is 0, only `segments` are added up.
      detail: the streams that lack the ids, or the columns that differ.
    """

    code: NoticeCode
    about: str
    count: int = 1
    segments: int = 0
    ids: tuple[str, ...] = ()
    detail: str = ""

    def __add__(self, other: Notice) -> Notice:
        return dataclasses.replace(
            self,
            count=self.count + other.count,
            segments=self.segments + other.segments,
            ids=(*self.ids, *other.ids)[:SHOWN_IDS],
        )

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.code](self)


def _share(notice: Notice) -> str:
    verb = "is" if notice.count == 1 else "are"
    return f"{notice.about}: {notice.count:,} of {notice.segments:,} segments {verb}"


def named_ids(first: Sequence[str], count: int) -> str:
    return ", ".join(first) + (f" and {count - len(first):,} more" if count > len(first) else "")


_SENTENCES: dict[NoticeCode, Callable[[Notice], str]] = {
    "nul": lambda notice: (
        f"{notice.about}: the text has {notice.count} NUL "
        f"{'character' if notice.count == 1 else 'characters'} (U+0000), scored like any other "
        "character; check how the text was made"
    ),
    "missing": lambda notice: f"{_share(notice)} missing",
    "unknown": lambda notice: (
        f"{notice.about}: {notice.count:,} {'record has' if notice.count == 1 else 'records have'} "
        f"an id that {notice.detail} do not have, and cannot be scored: "
        f"{named_ids(notice.ids, notice.count)}"
    ),
    "left-out": lambda notice: f"{_share(notice)} left out for all systems",
    "documents": lambda notice: (
        f"{notice.about}: {notice.count:,} of {notice.segments:,} segments with the same id have a "
        f"different {notice.detail}: {named_ids(notice.ids, notice.count)}"
    ),
    "sample": lambda notice: notice.about,
}


def added_notices(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    sums: dict[tuple[str, str, str], Notice] = {}
    for notice in notices:
        key = notice.code, notice.about, notice.detail
        sums[key] = sums[key] + notice if key in sums else notice
    return tuple(sums.values())


def sentences(notices: Iterable[Notice]) -> tuple[str, ...]:
    return tuple(notice.sentence for notice in notices if notice.count)
