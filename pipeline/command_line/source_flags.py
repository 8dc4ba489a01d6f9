"""The flags for the input: the texts, and what must be true of them."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from beam_bleu.transforms.definition.allowed import ALLOWED, AllowedName
from beam_bleu.transforms.definition.flags import flag, positive, whole_number
from beam_bleu.transforms.pairing.bad_records import ON_BAD_RECORD, OnBadRecord
from beam_bleu.transforms.pairing.lines.correspondence import CUTS, Cuts
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES
from beam_bleu.transforms.totals.rejected import (
    DEFAULT_MOST_REJECTED,
    MostRejected,
    most_rejected_of,
)

_LONGEST_LINE = 1 << 30
"""The texts of one segment may have twice as many bytes in all."""


@dataclasses.dataclass(frozen=True)
class TextFlags:
    """The flags that name the texts."""

    ARE_KEYWORDS: ClassVar[bool] = False

    refs: tuple[str, ...] = flag(
        (),
        "a file with a reference for each segment, one per line, or a pattern of such files in "
        "quotes; more words are more references",
        "REF",
        words=(),
        nargs="*",
        is_shown_only=True,  # they are what is left of the words
    )
    systems: tuple[str, ...] = flag(
        (),
        "the output of a system, one segment per line; more words are more systems. A pattern in "
        "quotes makes each of its files a system; with NAME= all its files are one system. Without "
        "-i, the system is stdin",
        "[NAME=]FILE",
        words=("-i",),
        nargs="+",
    )
    candidates: tuple[str, ...] = flag(
        (),
        "the output of a system, one segment per line; repeat the flag for more systems",
        "[NAME=]PATTERN",
    )
    references: tuple[str, ...] = flag(
        (),
        "a reference for each segment, one per line; repeat the flag for more references",
        "PATTERN",
    )
    num_refs: int = flag(
        1,
        "each line of references has N references, with tabs between them",
        "N",
        "-nr",
        convert=positive,
        shown_default="default 1: tabs are text",
    )
    encoding: str | None = flag(
        None,
        "only utf-8: convert texts in another encoding first: iconv -f NAME -t utf-8",
        "NAME",
        "-e",
        choices=("utf-8", "UTF-8", "utf8", "UTF8", "utf-8-sig"),
    )


@dataclasses.dataclass(frozen=True)
class CheckingFlags:
    """The flags that say what must be true of the texts."""

    ARE_KEYWORDS: ClassVar[bool] = False

    cuts: Cuts = flag(
        CUTS[0],
        "same: streams of several shards must have the same shards, with the same numbers of "
        "lines; any: only the total numbers of lines are compared",
        "RULE",
        choices=CUTS,
    )
    expect_segments: int | None = flag(
        None,
        "fail unless the corpus has exactly N segments",
        "N",
        convert=positive,
    )
    max_line_bytes: int = flag(
        MAX_LINE_BYTES,
        "fail if a line has more than N bytes",
        "N",
        convert=whole_number(1, _LONGEST_LINE),
    )
    allow: tuple[AllowedName, ...] = flag(
        (),
        "what is meant, although it is probably a mistake: what would end the run is a warning. "
        + "; ".join(f"{name}: {description}" for name, description in ALLOWED.items()),
        "KIND,...",
        choices=tuple(ALLOWED),
        split=lambda text: text.split(","),
        is_keyword=True,
    )
    on_bad_record: OnBadRecord = flag(
        "fail",
        "fail: a record that cannot be scored, or a line that is not UTF-8, ends the run "
        "with an error; reject: its segment is left out, and the record is written to "
        "DIR/rejected-*.jsonl",
        "ACTION",
        choices=ON_BAD_RECORD,
    )
    max_rejected: MostRejected = flag(
        DEFAULT_MOST_REJECTED,
        "with --on_bad_record reject: fail if more than N segments are rejected (such as 100), or "
        "more than a fraction of all segments (such as 0.05)",
        "N|FRACTION",
        convert=most_rejected_of,
        shown_default=f"default {DEFAULT_MOST_REJECTED}",
        is_keyword=True,
    )

    @property
    def most_rejected(self) -> MostRejected | None:
        """How many segments may be rejected; None if a bad record ends the run."""
        return self.max_rejected if self.on_bad_record == "reject" else None
