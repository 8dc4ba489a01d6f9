"""Whether the candidates of a system in several files are of one model, by the names of its files.

Totals do not know which program made the candidates. But the parts of a corpus usually have the
same paths, in which only dates and numbers differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from beam_bleu.pipeline.saved.partitions import Named
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.errors import UsageError

_MODEL_WORDS = "checkpoint|ckpt|epoch|iter|model|seed|step|system|update|v|version"
_PART = re.compile(
    # A number after such a word tells models apart: model-2, v3, checkpoint_1000.
    rf"(?P<model>(?<![a-z])(?:{_MODEL_WORDS})[-_.=]?\d+)"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+",
    re.IGNORECASE,
)

_Stream = tuple[str, str | None]
"""The role of a stream, and its system."""


def require_same_candidates(files: Sequence[Named]) -> None:
    """Checks that the candidates of a system are of one model in all parts without a label.

    Labels say that the parts belong together. References may have any names.

    Raises:
      UsageError: two files have candidates of one system, or records, whose paths differ in more
        than dates and numbers.
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
    """Whether two paths differ only in dates and numbers, and in the folder where they begin."""
    ends = zip(reversed(_parts(one)), reversed(_parts(other)), strict=False)
    return all(a == b for a, b in ends)


def _parts(pattern: str) -> list[str]:
    """The folders and the name of a path, with one number in the place of all."""
    path = re.sub(r"^(\./)+|(?<=/)(\./|/)+", "", pattern)
    return _PART.sub(lambda found: found["model"] or "0", path).split("/")
