"""Whether the candidates of a system in several files are of one model, by the names of its files.

Totals do not know which program made the candidates. But the parts of a corpus usually have the
same paths, in which only dates and the numbers of parts differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from beam_bleu.pipeline.saved.partitions import Named
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.errors import UsageError

_DATE = r"(?:19|20)\d\d(?:[-_.]?[01]\d(?:[-_.]?[0-3]\d)?)?"
_TIME = r"[T_-]?[0-2]\d[-_:.]?[0-5]\d(?:[-_:.]?[0-5]\d(?:\.\d+)?)?Z?"
_PART_WORDS = (
    "part|shard|chunk|split|batch|file|text|data|segment|sample|out|output|hyp|hypothes[ie]s|pred|"
    "prediction|candidate|translation|year|month|week|day|date|dt|hour|minute"
)
_PART = re.compile(
    # The name of a run; a date, perhaps with a time; the number of a part, after such a word or by
    # itself. All other numbers tell models apart: gpt-3, llama-7b, checkpoint_1000.
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    rf"|(?<!\d){_DATE}(?:{_TIME})?(?![a-z\d])"
    rf"|(?<![a-z])(?:{_PART_WORDS})s?[-_.=]?(?:{_DATE}(?:{_TIME})?|\d+)(?![a-z\d])"
    r"|(?<!\d)\d+-of-\d+(?!\d)"
    r"|(?<![^/])\d+(?=\.|/|$)",
    re.IGNORECASE,
)

_Stream = tuple[str, str | None]
"""The role of a stream, and its system."""


def require_same_candidates(files: Sequence[Named]) -> None:
    """Checks that the candidates of a system are of one model in all parts without a label.

    Labels say that the parts belong together. References may have any names.

    Raises:
      UsageError: two files have candidates of one system, or records, whose paths differ in more
        than dates and the numbers of parts.
    """
    first: dict[_Stream, tuple[str, bool, list[str]]] = {}
    for path, saved in files:
        has_labels = all(each.label is not None for each in saved.partitions)
        for stream, patterns in _patterns(saved).items():
            other, labelled, others = first.setdefault(stream, (path, has_labels, patterns))
            is_same = any(_are_alike(one, two) for one in patterns for two in others)
            if is_same or (labelled and has_labels):
                continue
            what = "records" if stream[1] is None else f"candidates of system {stream[1]}"
            raise UsageError(
                f"the {what} come from {others[0]} in {other}, and from {patterns[0]} in {path}: "
                "are these two models?",
                "if they are parts of one corpus, run each with --partition LABEL, or give "
                "--force; give two models different names: --candidates NAME=PATTERN",
            )


def _patterns(saved: SavedTotals) -> dict[_Stream, list[str]]:
    """The paths or patterns of the candidates of each system, and of records."""
    found: dict[_Stream, list[str]] = {}
    for partition in saved.partitions:
        for each in partition.inputs:
            if each["role"] in ("candidates", "records"):
                found.setdefault((each["role"], each["system"]), []).append(each["pattern"])
    return found


def _are_alike(one: str, other: str) -> bool:
    """Whether two paths differ only in dates and parts, and in the folder where they begin."""
    ends = zip(reversed(_parts(one)), reversed(_parts(other)), strict=False)
    return all(a == b for a, b in ends)


def _parts(pattern: str) -> list[str]:
    """The folders and the name of a path, with 0 in the place of dates and parts."""
    path = re.sub(r"^(\./)+|(?<=/)(\./|/)+", "", pattern)
    return _PART.sub("0", path).split("/")
